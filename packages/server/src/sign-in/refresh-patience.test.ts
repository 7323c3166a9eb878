import { expect, it, onTestFinished, vi } from 'vitest';
import { NOON } from '../testing/clock.ts';
import { WEB_CLIENT } from '../testing/forge.ts';
import { Timers } from '../testing/timers.ts';
import { startTokenIdp } from '../testing/token-idp.ts';
import { createRelyingParty } from './openid-client-relying-party.ts';

/** The relying party against an IdP over the wire, and how many milliseconds each path was given. */
async function setup() {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  onTestFinished(() => void vi.useRealTimers());
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  const idp = await startTokenIdp();
  const patience: [path: string, ms: number | undefined][] = [];
  const relyingParty = createRelyingParty({
    issuer: idp.issuer,
    clientId: WEB_CLIENT,
    credential: { method: 'client_secret', secret: () => 's3cret' },
    pushedAuthorization: 'never',
    scopes: ['openid', 'offline_access'],
    publicOrigin: 'https://flow.example',
    fetch: async (url, init) => {
      const made = timeout.mock.results.findIndex(({ value }) => value === init?.signal);
      patience.push([
        new URL(String(url instanceof Request ? url.url : url)).pathname,
        timeout.mock.calls[made]?.[0],
      ]);
      return fetch(url, init);
    },
    schedule: new Timers().schedule,
    now: () => NOON,
    onFailure: () => {},
    onReady: () => {},
  });
  onTestFinished(() => relyingParty.close());
  return { idp, relyingParty, patience };
}

it('a refresh is waited for a minute, since its answer may hold the only token that works; metadata and keys five seconds, all else ten', async () => {
  const { idp, relyingParty, patience } = await setup();
  const refreshed = await relyingParty.refresh(
    { idToken: idp.issueIdToken(), accessToken: 'a', refreshToken: 'r' },
    { issuer: idp.issuer, subject: 'ada-subject', kind: 'user' },
  );
  expect(refreshed.ok).toBe(true);
  expect(new Map(patience)).toEqual(
    new Map([
      ['/.well-known/openid-configuration', 5_000],
      ['/token', 60_000],
      ['/jwks', 5_000],
      ['/userinfo', 10_000],
    ]),
  );
});

it('a sign-in at the same endpoint is waited for ten seconds: somebody stands behind it', async () => {
  const { relyingParty, patience } = await setup();
  const checks = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
  await relyingParty.exchange(new URLSearchParams({ code: 'c', state: 's' }), checks);
  expect(patience.filter(([path]) => path === '/token')).toEqual([['/token', 10_000]]);
});
