import {
  createSigningKey,
  forgeToken,
  type SigningKey,
  WEB_CLIENT,
} from '@sallyport/testing/idp/forge';
import { IDP_KEY } from '@sallyport/testing/idp/idp-key';
import { startTokenIdp } from '@sallyport/testing/idp/token-idp';
import { NOON } from '@sallyport/testing/time/clock';
import { Timers } from '@sallyport/testing/time/timers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createRelyingParty } from './openid-client-relying-party.ts';

/** What a renewal learns from userinfo that comes as a JWT (OIDC Core section 5.3.2). */
async function renewWith(key: SigningKey, change: (token: string) => string = (token) => token) {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
  onTestFinished(() => void vi.useRealTimers());
  const idp = await startTokenIdp();
  idp.metadata = { userinfo_signing_alg_values_supported: ['RS256'] };
  idp.answers.set('/userinfo', (res) => {
    const claims = { iss: idp.issuer, aud: WEB_CLIENT, sub: 'ada-subject', groups: ['engineers'] };
    res.writeHead(200, { 'content-type': 'application/jwt; charset=utf-8' });
    res.end(change(forgeToken(key, claims, { typ: 'JWT' })));
  });
  const failures: unknown[] = [];
  const relyingParty = createRelyingParty({
    issuer: idp.issuer,
    clientId: WEB_CLIENT,
    credential: { method: 'client_secret', secret: () => 's3cret' },
    pushedAuthorization: 'never',
    scopes: ['openid'],
    publicOrigin: 'https://flow.example',
    fetch,
    patientFetch: fetch,
    schedule: new Timers().schedule,
    now: () => NOON,
    onFailure: (cause) => failures.push(cause),
    onReady: () => {},
  });
  onTestFinished(() => relyingParty.close());
  const renewed = await relyingParty.refresh(
    { idToken: idp.issueIdToken(), accessToken: 'a', refreshToken: 'r' },
    { issuer: idp.issuer, subject: 'ada-subject', kind: 'user' },
  );
  if (!renewed.ok) throw new Error(renewed.error.reason);
  return { ...renewed.value, failures };
}

it('takes userinfo that the IdP signed with a key it publishes', async () => {
  const { isPartial, failures } = await renewWith(IDP_KEY);
  expect([isPartial, failures]).toEqual([false, []]);
});

it.each<readonly [string, SigningKey, ((token: string) => string) | undefined]>([
  ['another key under the same id', createSigningKey('RS256', IDP_KEY.kid), undefined],
  ['a key that is not published', createSigningKey('RS256', 'other'), undefined],
  ['an algorithm that the IdP does not offer', createSigningKey('ES256', 'ec'), undefined],
  ['no signature', IDP_KEY, (token) => token.replace(/[^.]+$/, '')],
  ['a signature of other claims', IDP_KEY, (token) => token.replace(/\.[^.]+\./, '.e30.')],
])('takes nothing of userinfo with %s', async (_, key, change) => {
  const { isPartial, failures, claims } = await renewWith(key, change);
  expect(isPartial).toBe(true);
  expect(failures).toHaveLength(1);
  expect(JSON.stringify(claims)).not.toContain('engineers');
});
