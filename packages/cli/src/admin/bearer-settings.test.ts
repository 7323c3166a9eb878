import { type Config, listAudienceSpellings, loadConfig } from '@sallyport/config';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { selectBearerSettings } from './bearer-settings.ts';

function load(file: unknown): Config {
  const env = {
    PUBLIC_URL: 'https://platform.example.com',
    OIDC_BASE_URL: 'https://idp.example.com',
    OIDC_CLIENT_ID: 'web',
    CLI_CLIENT_ID: 'native',
  };
  const text = stringify(file);
  const loaded = loadConfig({ file: { path: 'c', text }, env, flags: {} }, 'serve');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value.config;
}

describe('what is accepted as a bearer', () => {
  it('is, of the deployment variables alone, the issuer’s tokens for the public URL', () => {
    expect(selectBearerSettings(load({}), undefined)).toEqual({
      issuers: [
        expect.objectContaining({
          issuer: 'https://idp.example.com',
          audiences: ['https://platform.example.com'],
          subjectPrefix: '',
        }),
      ],
      requiredScopes: ['all'],
      sessionClientIds: ['web'],
      interactiveClientIds: ['web', 'native'],
    });
  });

  it('requirement "authorizedUris": is also for the in-cluster addresses, port 80 written or not', () => {
    const authorizedUris = [
      'http://core-admin:80',
      'http://core-admin.cloud-cp.svc.cluster.local:80',
    ];
    const externalAuthServer = { allowedAudience: ['api'] };
    const config = load({ auth: { authorizedUris, appAuth: { externalAuthServer } } });
    const audiences = selectBearerSettings(config, undefined).issuers[0]?.audiences ?? [];
    expect(audiences).toEqual(['https://platform.example.com', ...authorizedUris, 'api']);
    expect(audiences.flatMap(listAudienceSpellings)).toEqual(
      expect.arrayContaining(['http://core-admin', 'http://core-admin.cloud-cp.svc.cluster.local']),
    );
  });

  it('is also what further issuers say, each for its own audiences or the public URL alone', () => {
    const issuers = [
      { issuer: 'https://two.example.com', subjectPrefix: 'two:', audiences: ['http://two:80'] },
      { issuer: 'https://three.example.com', subjectPrefix: 'three:' },
    ];
    const bearer = { subjectPrefix: 'one:', issuers };
    const config = load({ bearer, auth: { authorizedUris: ['http://core-admin:80'] } });
    expect(
      selectBearerSettings(config, undefined).issuers.map((each) => [each.issuer, each.audiences]),
    ).toEqual([
      ['https://idp.example.com', ['https://platform.example.com', 'http://core-admin:80']],
      ['https://two.example.com', ['http://two:80']],
      ['https://three.example.com', ['https://platform.example.com']],
    ]);
  });

  it('is asked of the introspection endpoint where there is a secret for it', () => {
    const introspection = {
      endpoint: 'https://idp.example.com/introspect',
      clientId: 'admin',
      clientSecretFile: '/etc/secrets/client_secret',
    };
    const config = load({ bearer: { introspection } });
    const settings = selectBearerSettings(config, () => 'secret');
    expect(settings.introspection).toMatchObject({
      endpoint: 'https://idp.example.com/introspect',
      clientId: 'admin',
      requestsPerSecond: 50,
      issuer: settings.issuers[0],
    });
    expect(settings.introspection?.clientSecret()).toBe('secret');
    expect(selectBearerSettings(config, undefined)).not.toHaveProperty('introspection');
  });
});
