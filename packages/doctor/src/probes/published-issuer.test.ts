import { loadConfig } from '@sallyport/config';
import { describe, expect, it } from 'vitest';
import { compareIssuers } from './published-issuer.ts';

const ISSUER = 'https://idp.example/realms/a';

function configure(bearerIssuer: string) {
  const openId = { baseUrl: ISSUER, clientId: 'web-app', clientSecretFile: '/nowhere/secret' };
  const thirdPartyConfig = { flyteClient: { clientId: 'cli-app' } };
  const isOne = bearerIssuer === '';
  const file = {
    publicUrl: 'https://platform.example',
    auth: {
      userAuth: { openId, ...(isOne ? {} : { subjectPrefix: 'people:' }) },
      appAuth: {
        thirdPartyConfig,
        ...(isOne ? {} : { externalAuthServer: { baseUrl: bearerIssuer } }),
      },
    },
    ...(isOne ? {} : { bearer: { subjectPrefix: 'programs:' } }),
  };
  const loaded = loadConfig(
    { file: { path: 'f', text: JSON.stringify(file) }, env: {}, flags: {} },
    'serve',
  );
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value.config;
}

/** What is found of a platform that publishes that issuer. */
const compare = (issuer: string, bearerIssuer = '') =>
  compareIssuers(issuer, configure(bearerIssuer));

describe('A published issuer that differs from the configured one', () => {
  it('is put right at the issuer of people, where no other one was given', () => {
    const [finding, ...others] = compare('https://idp.example/realms/b');
    expect([finding?.code, others]).toEqual(['metadata_issuer_differs', []]);
    expect(finding?.fix).toContain('Set auth.userAuth.openId.baseUrl (OIDC_BASE_URL) to the same');
  });

  it('is put right at the issuer of bearer tokens, where that is another one', () => {
    const [finding] = compare(ISSUER, 'https://idp.example/realms/c');
    expect(finding?.fix).toContain('Set auth.appAuth.externalAuthServer.baseUrl to the same');
  });

  it('is none where both are the same', () => {
    expect(compare(ISSUER)).toEqual([]);
  });
});
