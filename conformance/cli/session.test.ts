import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Ended } from './command.ts';
import { withoutPauses } from './device-code.ts';
import { startFakePlatform } from './fake-platform.ts';
import { clock, home, platform, useHomeAndPlatform } from './fixture.ts';

useHomeAndPlatform();
beforeEach(() => {
  platform.pollsUntilConfirmed = 0;
});

const signIn = (args: readonly string[] = [], at = platform): Promise<Ended> =>
  withoutPauses(clock, at, () =>
    home.run(['login', '--endpoint', at.url, '--flow', 'device', ...args]),
  );
const refreshTokens = (): string[] =>
  [...platform.secrets].filter((each) => each.startsWith('refresh'));
const revoked = (): (string | null)[] =>
  platform.asked.filter(({ path }) => path === '/revoke').map(({ form }) => form.get('token'));
const isSignedIn = async (): Promise<boolean> =>
  (await home.run(['token', '--no-login'])).code === 0;

describe('sallyport logout', () => {
  it('revokes the refresh token, deletes the tokens, and says so', async () => {
    await signIn();
    const { code, stdout } = await home.run(['logout']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Signed out of ${platform.url}`);
    expect(revoked()).toEqual(refreshTokens());
    expect(await isSignedIn()).toBe(false);
  });

  it('--local deletes and revokes nothing', async () => {
    await signIn();
    const { code, stdout } = await home.run(['logout', '--local']);
    expect([code, stdout.includes('nothing was revoked')]).toEqual([0, true]);
    expect(revoked()).toEqual([]);
    expect(await isSignedIn()).toBe(false);
  });

  it.each([
    ['refused', 400],
    ['answered 503', 503],
  ])(
    'a revocation that is %s is reported, exit 1, and the tokens here are deleted',
    async (_, status) => {
      await signIn();
      platform.answers.set('/revoke', () => ({ status, body: { error: 'invalid_client' } }));
      const { code, stderr } = await home.run(['logout']);
      expect([code, stderr.includes('could not be revoked')]).toEqual([1, true]);
      expect(await isSignedIn()).toBe(false);
    },
  );

  it('a revocation without an answer is reported, exit 1, and the tokens here are deleted', async () => {
    await signIn();
    await platform.close();
    const { code, stderr, stdout } = await home.run(['logout']);
    expect([code, stderr.includes('could not be revoked')]).toEqual([1, true]);
    expect(stdout).toContain('deleted');
    expect(JSON.parse((await home.run(['status', '--offline', '--json'])).stdout)).toMatchObject({
      profiles: [{ token: { state: 'none' } }],
    });
  });

  it('an access token alone that the provider cannot revoke is no failure', async () => {
    platform.refreshTokens = false;
    await signIn();
    const error = 'unsupported_token_type';
    platform.answers.set('/revoke', () => ({ status: 400, body: { error } }));
    expect((await home.run(['logout'])).code).toBe(0);
    expect(await isSignedIn()).toBe(false);
  });

  it('says so when there were no tokens', async () => {
    await signIn();
    await home.run(['logout']);
    const { code, stdout } = await home.run(['logout']);
    expect([code, stdout.includes('There were no tokens for')]).toEqual([0, true]);
  });

  it('login at the same host without TLS is another profile: none is led elsewhere unasked', async () => {
    const kept = join(home.path, '.config', 'sallyport', 'config.yaml');
    const secure = platform.url.replace('http://', 'dns:///');
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, `admin:\n  endpoint: ${secure}\n`);
    const { code } = await signIn();
    expect(code).toBe(0);
    const text = readFileSync(kept, 'utf8');
    expect(text).toContain(secure);
    expect(text).toContain(platform.url);
  });

  it('--all signs out of every profile, without it one', async () => {
    const other = await startFakePlatform();
    other.pollsUntilConfirmed = 0;
    try {
      await signIn();
      await signIn(['--profile', 'two'], other);
      await home.run(['logout']);
      expect((await home.run(['token', '--profile', 'two'])).code).toBe(0);
      await signIn();
      const { code, stdout } = await home.run(['logout', '--all', '--json']);
      expect(code).toBe(0);
      const { profiles } = JSON.parse(stdout) as { profiles: { profile: string }[] };
      expect(profiles.map(({ profile }) => profile)).toEqual(['default', 'two']);
      expect((await home.run(['token', '--profile', 'two'])).code).toBe(4);
      expect(await isSignedIn()).toBe(false);
    } finally {
      await other.close();
    }
  });
});

describe('sallyport whoami', () => {
  it("shows the platform's word: account, kind, issuer, endpoint", async () => {
    await signIn();
    const { code, stdout } = await home.run(['whoami']);
    expect(code).toBe(0);
    for (const text of ['Ada Lovelace <ada@example.test>', 'person', platform.url])
      expect(stdout).toContain(text);
    expect(JSON.parse((await home.run(['whoami', '--json'])).stdout)).toEqual({
      ok: true,
      account: {
        subject: 'ada',
        name: 'Ada Lovelace',
        email: 'ada@example.test',
        kind: 'user',
        issuer: platform.url,
      },
      endpoint: platform.url,
      profile: 'default',
    });
    expect(platform.asked.at(-1)?.headers['core-authorization']).toMatch(/^Bearer access-/);
  });

  it('a token the platform refuses is replaced once, then a sign-in is needed: 4', async () => {
    await signIn();
    platform.answers.set('/me', () => ({ status: 401, body: { reason: 'token_invalid' } }));
    const { code, stderr } = await home.run(['whoami']);
    expect([code, stderr.includes('token_invalid')]).toEqual([4, true]);
  });

  it('known but not let in is said, and is no reason to sign in: 1', async () => {
    await signIn();
    platform.answers.set('/me', () => ({ status: 403, body: { reason: 'not_allowed' } }));
    const { code, stderr } = await home.run(['whoami']);
    expect([code, stderr.includes('not_allowed')]).toEqual([1, true]);
  });

  it('nothing a platform says moves the cursor', async () => {
    await signIn();
    const name = 'Ada\u001b[2J\u202e\r\n';
    platform.answers.set('/me', () => ({ status: 200, body: { subject: 'ada', name } }));
    const { stdout } = await home.run(['whoami']);
    for (const character of ['\u001b', '\r', '\u202e']) expect(stdout).not.toContain(character);
  });
});

describe('sallyport status', () => {
  interface Status {
    profiles: {
      token: { state: string; refreshable: boolean };
      usable: boolean;
      store: string;
      settings: { key: string; value: string; origin: string }[];
    }[];
  }
  const status = async (...args: string[]): Promise<Status['profiles'][0] & { code: unknown }> => {
    const { code, stdout } = await home.run(['status', '--json', ...args]);
    const [profile] = (JSON.parse(stdout) as Status).profiles;
    if (profile === undefined) throw new Error(stdout);
    return { code, ...profile };
  };

  it('valid: 0, with the store; and no token is shown', async () => {
    await signIn();
    expect(await status()).toMatchObject({ code: 0, token: { state: 'valid' }, store: 'file' });
    const { stdout, stderr } = await home.run(['status']);
    for (const secret of platform.secrets) expect(stdout + stderr).not.toContain(secret);
  });

  it('none: 4', async () => {
    expect(await status('--endpoint', platform.url)).toMatchObject({
      code: 4,
      token: { state: 'none' },
    });
  });

  it('expired: 0 when it can be refreshed, 4 when not', async () => {
    platform.lifetime = 0;
    await signIn();
    expect(await status()).toMatchObject({
      code: 0,
      token: { state: 'expired', refreshable: true },
    });
    platform.refreshTokens = false;
    await signIn();
    expect(await status()).toMatchObject({
      code: 4,
      token: { state: 'expired', refreshable: false },
    });
  });

  it('--offline sends no request', async () => {
    await signIn();
    const before = platform.asked.length;
    expect((await status('--offline')).code).toBe(0);
    expect(platform.asked.length).toBe(before);
    await home.run(['status']);
    expect(platform.asked.length).toBeGreaterThan(before);
  });

  it('says where every setting came from: option, variable, file and line, default', async () => {
    writeFileSync(
      join(home.path, 'c.yaml'),
      `admin:\n  endpoint: ${platform.url}\n  tokenRefreshWindow: 7m\n`,
    );
    const environment = { CORE_CREDENTIALS_SCOPES: 'all', CORE_CREDENTIALS_AUDIENCE: 'aud' };
    writeFileSync(join(home.path, 'ca.pem'), rootCertificates[0] ?? '');
    const { stdout } = await home.run(
      ['status', '--json', '--config', 'c.yaml', '--ca-file', 'ca.pem'],
      environment,
    );
    const { profiles } = JSON.parse(stdout) as Status;
    const settings = Object.fromEntries(
      profiles[0]?.settings.map(({ key, value, origin }) => [key, [value, origin]]) ?? [],
    );
    expect(settings).toMatchObject({
      'admin.endpoint': [platform.url, `${home.path}/c.yaml:2`],
      'admin.tokenRefreshWindow': ['7m', `${home.path}/c.yaml:3`],
      'admin.caCertFilePath': [`${home.path}/ca.pem`, 'flag'],
      'admin.scopes': ['all', 'variable CORE_CREDENTIALS_SCOPES'],
      'admin.audience': ['aud', 'variable CORE_CREDENTIALS_AUDIENCE'],
      'admin.authType': ['Pkce', 'default'],
    });
  });
});

describe('sallyport reads the client-side configuration', () => {
  it('admin.authType Pkce is a person, ClientSecret an application with its secret in a file', async () => {
    const write = (lines: string[]): void =>
      writeFileSync(join(home.path, 'c.yaml'), ['admin:', ...lines, ''].join('\n  '));
    const shared = [`endpoint: ${platform.url}`, 'insecure: true'];
    write([...shared, 'authType: Pkce']);
    expect((await home.run(['token', '--config', 'c.yaml'])).code).toBe(4);
    writeFileSync(join(home.path, 'secret'), 'canary-secret', { mode: 0o600 });
    write([
      ...shared,
      'authType: ClientSecret',
      'clientId: app',
      `clientSecretLocation: ${home.path}/secret`,
    ]);
    const { code, stdout } = await home.run(['token', '--config', 'c.yaml']);
    expect([code, platform.secrets.has(stdout.trimEnd())]).toEqual([0, true]);
    const basic = Buffer.from('app:canary-secret').toString('base64');
    const asked = platform.asked.find(({ path }) => path === '/token');
    expect(asked?.headers.authorization).toBe(`Basic ${basic}`);
  });
});
