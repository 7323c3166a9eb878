import { answerWith } from '@sallyport/testing/idp/fake-idp';
import { WEB_CLIENT } from '@sallyport/testing/idp/forge';
import { startTokenIdp } from '@sallyport/testing/idp/token-idp';
import { NOON } from '@sallyport/testing/time/clock';
import { Timers } from '@sallyport/testing/time/timers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { describeFailure } from '../../log/log.ts';
import { createPatientFetch } from '../patient-fetch.ts';
import { createRelyingParty } from './openid-client-relying-party.ts';

/** The relying party against an IdP over the wire; by which fetch each path was asked, and the times it set. */
async function setup() {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  onTestFinished(() => void vi.useRealTimers());
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  const idp = await startTokenIdp();
  const asked: [path: string, by: string, ms: number | undefined][] = [];
  const timers = new Timers();
  const watch =
    (by: string, plain: typeof fetch): typeof fetch =>
    async (url, init) => {
      const path = new URL(String(url instanceof Request ? url.url : url)).pathname;
      asked.push([path, by, timeout.mock.calls.at(-1)?.[0]]);
      return plain(url, init);
    };
  const relyingParty = createRelyingParty({
    issuer: idp.issuer,
    clientId: WEB_CLIENT,
    credential: { method: 'client_secret', secret: () => 's3cret' },
    pushedAuthorization: 'never',
    scopes: ['openid', 'offline_access'],
    publicOrigin: 'https://flow.example',
    fetch: watch('usual', fetch),
    patientFetch: watch('patient', createPatientFetch(timers.schedule)),
    schedule: timers.schedule,
    now: Date.now,
    onFailure: () => {},
    onReady: () => {},
  });
  onTestFinished(() => relyingParty.close());
  const refresh = () =>
    relyingParty.refresh(
      { idToken: idp.issueIdToken(), accessToken: 'a', refreshToken: 'r' },
      { issuer: idp.issuer, subject: 'ada-subject', kind: 'user' },
    );
  return { idp, relyingParty, asked, refresh };
}

it('a refresh is listened to for ten minutes, since it may be carried out so late; metadata and keys have five seconds, all else ten', async () => {
  const { asked, refresh } = await setup();
  expect((await refresh()).ok).toBe(true);
  expect(new Set(asked.map((each) => each.join(' ')))).toEqual(
    new Set([
      '/.well-known/openid-configuration usual 5000',
      '/token patient 600000',
      '/jwks usual 5000',
      '/userinfo usual 10000',
    ]),
  );
});

it('a sign-in at the same endpoint is waited for ten seconds: a person stands behind it', async () => {
  const { idp, relyingParty, asked } = await setup();
  const checks = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
  await relyingParty.exchange(
    new URLSearchParams({ code: 'c', state: 's', iss: idp.issuer }),
    checks,
  );
  expect(asked.filter(([path]) => path === '/token')).toEqual([['/token', 'usual', 10_000]]);
});

it('a refresh that is listened to ends with the relying party, and its token may be spent', async () => {
  const { idp, relyingParty, refresh } = await setup();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  idp.answers.set('/token', () => arrive());
  const refreshed = refresh();
  await arrived;
  relyingParty.close();
  expect(await refreshed).toMatchObject({ ok: false, error: { reason: 'unavailable' } });
});

it('a refresh to which no server listens was not sent: its token is as good as it was', async () => {
  const { idp, refresh } = await setup();
  await refresh();
  await idp.goDown();
  expect(await refresh()).toMatchObject({ ok: false, error: { reason: 'unreachable' } });
});

it.each([
  ['502', 502],
  ['504', 504],
])(
  'a refresh that something in between answers with %s may have been carried out',
  async (_, status) => {
    const { idp, refresh } = await setup();
    idp.answers.set('/token', answerWith(status, 'bad gateway', { 'content-type': 'text/html' }));
    expect(await refresh()).toMatchObject({ ok: false, error: { reason: 'unavailable' } });
  },
);

it('a refresh at an IdP whose metadata was never had is not sent, and the next try fetches them', async () => {
  const { idp, refresh } = await setup();
  idp.answers.set('/.well-known/openid-configuration', answerWith(503, 'busy'));
  const refreshed = await refresh();
  expect(refreshed).toMatchObject({ ok: false, error: { reason: 'unreachable' } });
  const failure =
    !refreshed.ok && refreshed.error.reason === 'unreachable' && refreshed.error.cause;
  expect(describeFailure(failure)).toContain('SP_IDP_UNREACHABLE');
  expect(idp.requests.map(({ path }) => path)).not.toContain('/token');
  idp.answers.clear();
  vi.setSystemTime(NOON + 1_000);
  expect((await refresh()).ok).toBe(true);
});
