import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../load-config.ts';
import { formatConfigProblem } from '../problems.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};
const KEY = '/etc/secrets/oidc_private_key';
const SECRET = '/run/secrets/oidc';

/** What is said of `auth.userAuth.openId`; empty means nothing at all. */
function judge(openId: object, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const text = stringify({ auth: { userAuth: { openId } } });
  const sources = { file: { path: 'c', text }, env: { ...ENV, ...env }, flags: {} };
  const result = loadConfig(sources, 'serve');
  return (result.ok ? result.value.warnings : result.error).map(formatConfigProblem);
}

describe('clientAuthentication', () => {
  it('client_secret is the default and needs nothing else', () => {
    expect(judge({ scopes: ['openid'] })).toEqual([]);
    expect(judge({ clientAuthentication: 'client_secret', clientSecretFile: SECRET })).toEqual([]);
  });

  it('private_key_jwt is complete with a key alone', () => {
    expect(judge({ clientAuthentication: 'private_key_jwt', privateKeyLocation: KEY })).toEqual([]);
  });

  it('private_key_jwt without a key is reported', () => {
    expect(judge({ clientAuthentication: 'private_key_jwt' })).toEqual([
      'c:3: auth.userAuth.openId.privateKeyLocation: found nothing, expected a path that begins with /, ./ or ../, which private_key_jwt needs',
    ]);
  });

  it('private_key_jwt with a secret as well is reported at the secret, by file, line and key', () => {
    expect(
      judge({
        clientAuthentication: 'private_key_jwt',
        privateKeyLocation: KEY,
        clientSecretFile: SECRET,
      }),
    ).toEqual([
      'c:6: auth.userAuth.openId.clientSecretFile: found a client secret beside clientAuthentication private_key_jwt, expected none: the key in privateKeyLocation takes its place',
    ]);
  });

  it('private_key_jwt with a secret in the environment is reported with the variable', () => {
    expect(
      judge(
        { clientAuthentication: 'private_key_jwt', privateKeyLocation: KEY },
        { OIDC_CLIENT_SECRET_FILE: SECRET },
      ),
    ).toEqual([
      expect.stringMatching(
        /^environment: auth\.userAuth\.openId\.clientSecretFile \(OIDC_CLIENT_SECRET_FILE\): found a client secret beside/,
      ),
    ]);
  });

  it('client_secret with a key as well is reported at the key', () => {
    expect(judge({ privateKeyLocation: KEY })).toEqual([
      'c:4: auth.userAuth.openId.privateKeyLocation: found a private key beside clientAuthentication client_secret, expected none, or clientAuthentication: private_key_jwt',
    ]);
  });

  it('never shows a key that was written in place of its path', () => {
    const [problem, ...more] = judge({
      clientAuthentication: 'private_key_jwt',
      privateKeyLocation: '-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n',
    });
    expect(more).toEqual([]);
    expect(problem).toMatch(/^c:5: auth\.userAuth\.openId\.privateKeyLocation: found a string of/);
    expect(problem).not.toContain('canary');
    expect(judge({ privateKey: 'canary' }).join()).not.toContain('canary');
  });
});

describe('pushedAuthorization', () => {
  it.each(['auto', 'always', 'never'])('may be %s', (pushedAuthorization) => {
    expect(judge({ pushedAuthorization })).toEqual([]);
  });

  it('may be nothing else', () => {
    expect(judge({ pushedAuthorization: 'sometimes' })).toEqual([
      'c:4: auth.userAuth.openId.pushedAuthorization: found "sometimes", expected one of auto, always, never',
    ]);
  });
});
