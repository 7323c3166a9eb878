import { ADA, ADA_SIGNS_IN } from '@sallyport/testing/server/people';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import { digestAccount } from '../session/account-digest.ts';
import type { CheckRequest } from '../verdict/check-request.ts';
import { prepareIdentity } from '../verdict/identity.ts';
import type { Admitted, Verdict } from '../verdict/verdict.ts';
import { createSessionStatus } from './session-status.ts';

const REQUEST: CheckRequest = { method: 'GET', headers: {}, rawHeaders: [], transport: 'http' };

function admit(more: Partial<Admitted> = {}): Admitted {
  const { principal, claims } = ADA_SIGNS_IN;
  const identity = prepareIdentity({ principal, user: ADA, claims }, []);
  if (identity === 'claims_overflow') throw new Error(identity);
  const session = {
    id: 1,
    generation: 1,
    createdAt: NOON - 90_500,
    endsAt: NOON + 60_999,
    absoluteEnd: NOON + 999_999,
  };
  return {
    outcome: 'admitted',
    identity,
    session,
    setCookie: undefined,
    renewal: undefined,
    ...more,
  };
}

async function ask(verdict: Verdict) {
  const asked: CheckRequest[] = [];
  const status = createSessionStatus({
    check: (request) => {
      asked.push(request);
      return verdict;
    },
    publicOrigin: 'https://flow.example',
    now: new Clock().now,
  });
  const response = await status(REQUEST);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-accel-expires')).toBe('0');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  const body = await response.text();
  return { status: response.status, headers: response.headers, body, asked };
}

describe('GET /auth/session', () => {
  it('reports age and remaining time of a session in whole seconds, and nothing of who it is', async () => {
    const { status, headers, body } = await ask(admit());
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      authenticated: true,
      age: 90,
      expires_in: 60,
      account: digestAccount(ADA_SIGNS_IN.principal),
      login_url: 'https://flow.example/login',
    });
    for (const known of [ADA.subject, ADA.email, ADA.name, ADA_SIGNS_IN.principal.issuer])
      expect(body).not.toContain(known);
    expect([...headers.keys()].filter((name) => name.startsWith('x-user-'))).toEqual([]);
  });

  it('gives two people different values of "account", and one person always the same', async () => {
    const accountOf = async (more: Partial<Admitted>) =>
      (JSON.parse((await ask(admit(more))).body) as { account?: string }).account;
    const { identity } = admit();
    const grace = { ...identity, principal: { ...identity.principal, subject: 'grace' } };
    expect(await accountOf({})).toBe(await accountOf({}));
    expect(await accountOf({ identity: grace })).not.toBe(await accountOf({}));
  });

  it('asks without using the session, and slides no cookie', async () => {
    const { asked, headers } = await ask(admit({ setCookie: 'name=value' }));
    expect(asked).toEqual([{ ...REQUEST, isPassive: true }]);
    expect(headers.get('set-cookie')).toBeNull();
  });

  it.each([
    ['refused', { outcome: 'refused', reason: 'no_credential' }],
    ['refused by the rules', { outcome: 'refused', reason: 'not_allowed', user: ADA }],
    ['admitted by a bearer, which is no session', admit({ session: undefined })],
  ] as readonly (readonly [string, Verdict])[])(
    'says where to sign in to a caller that is %s',
    async (_, verdict) => {
      const { status, body } = await ask(verdict);
      expect(status).toBe(200);
      expect(JSON.parse(body)).toEqual({
        authenticated: false,
        login_url: 'https://flow.example/login',
      });
    },
  );

  it('says 503 and not "signed out" when the verdict is undecided', async () => {
    const { status, headers, body } = await ask({
      outcome: 'undecided',
      reason: 'store_unavailable',
      retryAfterSeconds: 3,
    });
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('3');
    expect(JSON.parse(body)).toEqual({ reason: 'store_unavailable' });
  });
});
