import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { askAccount } from './account.ts';
import type { DiscoveredPlatform, Platform } from './platform.ts';

const LOGIN = 'sallyport login --profile staging';
const never = new AbortController().signal;

/** As much of a platform as is asked. */
function ask(send: typeof fetch, isPersonal = true, signal = never) {
  const platform = { endpoint: 'https://p.example', isPersonal, loginCommand: LOGIN } as Platform;
  const discovered = {
    client: { fetch: send },
    key: { issuer: 'https://idp.example' },
  } as DiscoveredPlatform;
  return askAccount(platform, discovered, signal);
}

const answer = (status: number, body: object) => async () => Response.json(body, { status });
const fail = (error: Error) => async (): Promise<never> => {
  throw error;
};
const refused = Object.assign(new Error('login_required'), {
  name: 'TokenRefusedError',
  refusal: {
    error: 'login_required',
    description: 'There is no sign-in.',
    hint: 'Sign in again.',
  },
});

describe('Asking the platform who is signed in', () => {
  it('gives the account of its answer', async () => {
    expect(await ask(answer(200, { subject: 'ada', name: 'Ada' }))).toMatchObject({
      ok: true,
      value: { subject: 'ada', name: 'Ada', kind: 'user', issuer: 'https://idp.example' },
    });
  });

  it('names the command that signs in to this very profile, with no token and with one that is refused', async () => {
    for (const send of [fail(refused), answer(401, { reason: 'token_invalid' })])
      expect(await ask(send)).toMatchObject({
        ok: false,
        error: { exitCode: 4, hint: expect.stringContaining(LOGIN) },
      });
  });

  it('suggests no sign-in to an application', async () => {
    expect(await ask(answer(401, {}), false)).toMatchObject({ ok: false, error: { hint: '' } });
    await expect(ask(fail(refused), false)).rejects.toBe(refused);
  });

  it('a platform that is not there is an outage, and no fault of the command', async () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const gone = new TypeError('fetch failed', { cause });
    const limit = new DOMException('timeout', 'TimeoutError');
    for (const error of [gone, limit])
      await expect(ask(fail(error))).rejects.toMatchObject({
        code: 'SP_PLATFORM_UNREACHABLE',
        cause: error,
      });
  });

  it('what was ended by the person, or is known already, is not called an outage of the platform', async () => {
    const ended = new Error('interrupted');
    await expect(ask(fail(ended), true, AbortSignal.abort(ended))).rejects.toBe(ended);
    const outage = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });
    await expect(ask(fail(outage))).rejects.toBe(outage);
    const mistake = new TypeError('x is not a function');
    await expect(ask(fail(mistake))).rejects.toBe(mistake);
  });
});
