import { Readable } from 'node:stream';
import { COOKIE, createCheckUnderTest, PUBLIC } from '@sallyport/testing/server/check';
import { ADA_SIGNS_IN } from '@sallyport/testing/server/people';
import { DOWN } from '@sallyport/testing/server/watched-store';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../audit/audit.ts';
import { PrincipalSessions } from '../session/principal-sessions.ts';
import { formatSessionId } from '../session/session-id.ts';
import { type AccountDependencies, createAccount } from './account.ts';

const GRACE = { ...ADA_SIGNS_IN.principal, subject: 'grace-subject' };

/** The endpoint over a real store, its audit events, and the tokens that the IdP got to revoke. */
function setup() {
  const bench = createCheckUnderTest();
  const audit: AuditEvent[] = [];
  const revoked: string[] = [];
  const { ring, cookies } = bench.sessionDependencies;
  const dependencies: AccountDependencies = {
    redirects: { publicOrigin: PUBLIC, redirectOrigins: new Set(), landing: `${PUBLIC}/` },
    check: bench.check,
    sessions: bench.sessions,
    principalSessions: new PrincipalSessions({ store: bench.store, ring, now: bench.clock.now }),
    ring,
    cookies,
    isProtectedPath: () => true,
    relyingParty: {
      endSessionOrigin: () => 'https://idp.example',
      endSessionUrl: async ({ idToken }) => new URL(`https://idp.example/end?hint=${idToken}`),
      revoke: async (token) => revoked.push(token) > 0,
    },
    now: bench.clock.now,
    audit: (event) => audit.push(event),
  };
  const account = createAccount(dependencies);
  const send = (cookie: string, body?: string) => {
    const headers = {
      cookie: `${COOKIE}=${cookie}`,
      ...(body === undefined
        ? {}
        : { origin: PUBLIC, 'content-type': 'application/x-www-form-urlencoded' }),
    };
    return account({
      method: body === undefined ? 'GET' : 'POST',
      query: new URLSearchParams(),
      headers,
      rawHeaders: Object.entries(headers).flat(),
      body: Readable.from(body === undefined ? [] : [Buffer.from(body)]),
      address: '192.0.2.1',
      requestId: 'request-0001',
    });
  };
  return { ...bench, audit, revoked, send };
}

describe('POST /auth/account', () => {
  it('ends a session of the same person, and the audit log says who ended whose from where', async () => {
    const { signIn, ask, send, audit, revoked } = setup();
    const [here, there] = [await signIn(), await signIn()];
    const answer = await send(here.cookie, `end=${formatSessionId(there.id)}`);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/auth/account?notice=ended',
    ]);
    expect(await ask(there.cookie)).toMatchObject({ reason: 'session_revoked' });
    expect(await ask(here.cookie)).toMatchObject({ outcome: 'admitted' });
    expect(audit).toEqual([
      {
        event: 'session_ended',
        reason: 'session_revoked',
        by: 'account',
        issuer: ADA_SIGNS_IN.principal.issuer,
        subject: ADA_SIGNS_IN.principal.subject,
        session: there.id,
        by_session: here.id,
        address: '192.0.2.1',
        browser: undefined,
        request_id: 'request-0001',
      },
    ]);
    // Its tokens can be opened with its own cookie alone.
    expect(revoked).toEqual([]);
  });

  it('leaves the session of another person alone, answers as for an unknown one, and logs no end', async () => {
    const { signIn, ask, send, audit } = setup();
    const here = await signIn();
    const hers = await signIn({ principal: GRACE });
    const answers = [
      await send(here.cookie, `end=${formatSessionId(hers.id)}`),
      await send(here.cookie, `end=${formatSessionId((hers.id + 1) % 2 ** 48)}`),
    ].map(({ status, headers }) => [status, [...headers]]);
    expect(answers[0]).toEqual(answers[1]);
    expect(await ask(hers.cookie)).toMatchObject({ outcome: 'admitted' });
    expect(audit).toEqual([]);
  });

  it('ends every session of the person with "all", has the IdP end this one, and ends no session of another person', async () => {
    const { signIn, ask, send, audit, revoked } = setup();
    const [here, there] = [await signIn(), await signIn()];
    const hers = await signIn({ principal: GRACE });
    const answer = await send(here.cookie, 'end=all');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      'https://idp.example/end?hint=id-token-of-ada',
    ]);
    expect(answer.headers.get('set-cookie')).toContain(`${COOKIE}=; `);
    for (const { cookie } of [here, there])
      expect(await ask(cookie)).toMatchObject({ reason: 'session_revoked' });
    expect(await ask(hers.cookie)).toMatchObject({ outcome: 'admitted' });
    expect(revoked).toEqual(['refresh-token-of-ada']);
    expect(new Set(audit.map(({ session }) => session))).toEqual(new Set([here.id, there.id]));
    expect(audit).toHaveLength(2);
  });

  it.each(['end=all', 'end=CURRENT'])(
    '%s ends nothing, clears no cookie and reports nothing while the store is down in the middle of it',
    async (body) => {
      const { signIn, ask, send, store, audit, revoked } = setup();
      const here = await signIn();
      const current = body.replace('CURRENT', formatSessionId(here.id));
      // Remembered, so that it is the ending that meets the outage.
      await ask(here.cookie);
      const { revoke, revokeAll } = store;
      Object.assign(store, {
        revoke: () => Promise.reject(DOWN),
        revokeAll: () => Promise.reject(DOWN),
      });
      await expect(send(here.cookie, current)).rejects.toBe(DOWN);
      Object.assign(store, { revoke, revokeAll });
      expect(await ask(here.cookie)).toMatchObject({ outcome: 'admitted' });
      expect([audit, revoked]).toEqual([[], []]);
    },
  );

  it.each(['', 'end=', 'end=AAAAAAA', 'end=AAAAAAAAA', 'end=ALL', 'end=all&end=all', 'stop=all'])(
    '%j is refused and ends nothing',
    async (body) => {
      const { signIn, ask, send, audit } = setup();
      const here = await signIn();
      expect((await send(here.cookie, body)).status).toBe(400);
      expect(await ask(here.cookie)).toMatchObject({ outcome: 'admitted' });
      expect(audit).toEqual([]);
    },
  );

  it('reads no form that is longer than an id', async () => {
    const { signIn, ask, send } = setup();
    const here = await signIn();
    const there = await signIn();
    const end = `end=${formatSessionId(there.id)}`;
    expect((await send(here.cookie, `${end}&x=${'x'.repeat(1_024)}`)).status).toBe(400);
    expect(await ask(there.cookie)).toMatchObject({ outcome: 'admitted' });
    expect((await send(here.cookie, `${end}&x=${'x'.repeat(900)}`)).status).toBe(303);
  });
});

describe('GET /auth/account', () => {
  it('shows the session that asks also when the person has as many as there may be', async () => {
    const { signIn, send, clock } = setup();
    const here = await signIn({ browser: 'curl/8.14.1' });
    for (let count = 0; count < 99; count += 1) {
      clock.advance(1);
      await signIn();
    }
    const page = await (await send(here.cookie)).text();
    expect(page).toContain(`value="${formatSessionId(here.id)}"`);
    expect(page).toContain('curl/8.14.1');
  });

  it('counts as a use: its cookie is slid', async () => {
    const { signIn, send, clock } = setup();
    const { cookie } = await signIn();
    clock.advance(60_000);
    expect((await send(cookie)).headers.get('set-cookie')).toContain(`${COOKIE}=${cookie};`);
  });

  it('goes round in no circle while a session that ended elsewhere is still remembered here', async () => {
    const { signIn, ask, send, elsewhere, store } = setup();
    const { id, cookie } = await signIn();
    await ask(cookie);
    await elsewhere.revoke(id);
    Object.assign(store, { revocations: () => ({ sessions: [], all: false }) });
    const answer = await send(cookie);
    expect([answer.status, answer.headers.get('location')]).toEqual([503, null]);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it('shows nothing and rejects when the sessions cannot be listed', async () => {
    const { signIn, ask, send, store } = setup();
    const { cookie } = await signIn();
    await ask(cookie);
    Object.assign(store, { listByPrincipal: () => Promise.reject(DOWN) });
    await expect(send(cookie)).rejects.toBe(DOWN);
  });
});
