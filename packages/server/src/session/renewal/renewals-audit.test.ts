import { refuse } from '@sallyport/protocol';
import { passUntil } from '@sallyport/testing/server/renewal';
import { lineOf, seen, setupRenewals as setup } from '@sallyport/testing/server/renewals';
import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../log/log.ts';

function requestsOf(lines: readonly (readonly [string, string, LogFields | undefined])[]) {
  return lines.map(([, event, fields]) => [event, fields?.request_id]);
}

describe('the audit lines of a renewal', () => {
  it('carry the id of the request that had it started, not of those that joined it or found it done', async () => {
    const { renewals, signIn, lines, takeTime, timers } = setup();
    const ada = await signIn();
    takeTime(2_000);
    renewals.start([ada.cookie], seen(ada), { headers: {}, requestId: 'first-0001' });
    renewals.start([ada.cookie], seen(ada), { headers: {}, requestId: 'second-0002' });
    const third = { headers: {}, requestId: 'third-0003' };
    await passUntil(timers, renewals.finish([ada.cookie], seen(ada), third));
    expect(requestsOf(lines)).toEqual([
      ['session_renewing', 'first-0001'],
      ['session_renewed', 'first-0001'],
    ]);
  });

  it('carry that of a request that waits, where it is the one that has it started', async () => {
    const { renewals, signIn, lines, idp, timers } = setup();
    const ada = await signIn();
    idp.revokeAll();
    const request = { headers: {}, requestId: 'waits-0001' };
    await passUntil(timers, renewals.finish([ada.cookie], seen(ada), request));
    expect(requestsOf(lines)).toEqual([
      ['session_renewing', 'waits-0001'],
      ['session_ended', 'waits-0001'],
    ]);
  });

  it('reports no error of a session that was ended for naming another user: the IdP gave none', async () => {
    const { renewals, signIn, idp, lines } = setup();
    const ada = await signIn();
    idp.deliver = () => refuse({ reason: 'other_subject' });
    await renewals.finish([ada.cookie], seen(ada));
    expect(lines.at(-1)).toEqual([
      'audit',
      'session_ended',
      { ...lineOf(ada, 'renewal_refused'), error: undefined },
    ]);
  });
});
