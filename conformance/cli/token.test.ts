import { beforeEach, describe, expect, it } from 'vitest';
import { withoutPauses } from './device-code.ts';
import { clock, home, platform, useHomeAndPlatform } from './fixture.ts';

useHomeAndPlatform();
beforeEach(() => {
  platform.pollsUntilConfirmed = 0;
});

/** Signs in with a device code: it needs no browser. */
async function signIn(): Promise<void> {
  const login = ['login', '--endpoint', platform.url, '--flow', 'device'];
  const { code, stderr } = await withoutPauses(clock, platform, () => home.run(login));
  if (code !== 0) throw new Error(stderr);
}

const grants = (type: string): number =>
  platform.asked.filter(({ form }) => form.get('grant_type') === type).length;

describe('sallyport token prints the token and nothing else', () => {
  it('bare, as a header line, as JSON, and as an ExecCredential', async () => {
    await signIn();
    const bare = await home.run(['token']);
    expect([bare.code, bare.stderr]).toEqual([0, '']);
    const token = bare.stdout.trimEnd();
    expect(bare.stdout).toBe(`${token}\n`);
    expect(platform.secrets).toContain(token);
    const header = await home.run(['token', '--header']);
    expect(header.stdout).toBe(`core-authorization: Bearer ${token}\n`);
    const json: unknown = JSON.parse((await home.run(['token', '--json'])).stdout);
    expect(json).toEqual({
      access_token: token,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      token_type: 'Bearer',
      header: 'core-authorization',
    });
    const credential: unknown = JSON.parse((await home.run(['token', '--exec-credential'])).stdout);
    expect(credential).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token, expirationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/) },
    });
  });

  it('sends no request while the kept token is valid', async () => {
    await signIn();
    const before = platform.asked.length;
    for (const args of [['token'], ['token', '--header'], ['token', '--min-ttl', '30m']])
      expect((await home.run(args)).code).toBe(0);
    expect(platform.asked.length).toBe(before);
  });

  it('works with everything switched off while the kept token is good', async () => {
    await signIn();
    await platform.close();
    expect((await home.run(['token', '--header'])).code).toBe(0);
  });

  it('another endpoint, scope or audience never gets this token; a header name that is set wins', async () => {
    await signIn();
    for (const [args, environment] of [
      [['--endpoint', platform.url.replace('localhost', '127.0.0.1')], {}],
      [[], { CORE_CREDENTIALS_SCOPES: 'other' }],
      [[], { CORE_CREDENTIALS_AUDIENCE: 'other' }],
    ] as const) {
      const { code, stdout } = await home.run(['token', '--no-login', ...args], environment);
      expect([code, stdout]).toEqual([4, '']);
    }
    const environment = { CORE_CREDENTIALS_AUTHORIZATION_HEADER: 'x-other' };
    const { stdout } = await home.run(['token', '--header'], environment);
    expect(stdout.startsWith('x-other: Bearer ')).toBe(true);
  });

  it('one that does not live for --min-ttl is refreshed, and the new one is kept', async () => {
    await signIn();
    const first = (await home.run(['token'])).stdout;
    const second = (await home.run(['token', '--min-ttl', '60m'])).stdout;
    expect(second).not.toBe(first);
    expect(grants('refresh_token')).toBe(1);
    expect((await home.run(['token'])).stdout).toBe(second);
    expect(grants('refresh_token')).toBe(1);
  });

  it('where no token lives for --min-ttl that is said, and none is given out', async () => {
    await signIn();
    const { code, stdout, stderr } = await home.run(['token', '--min-ttl', '2h']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('live for 1h');
  });

  it('commands that find the same token too old at the same time refresh it once', async () => {
    platform.lifetime = 1;
    await signIn();
    platform.lifetime = 3_600;
    const before = grants('refresh_token');
    const ended = await Promise.all(
      Array.from({ length: 3 }, () => home.start(['token', '--min-ttl', '5m']).ended),
    );
    expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([0]));
    expect(new Set(ended.map(({ stdout }) => stdout)).size).toBe(1);
    expect(grants('refresh_token')).toBe(before + 1);
  });

  it('without a refresh token a sign-in is needed: 4', async () => {
    platform.refreshTokens = false;
    platform.lifetime = 1;
    await signIn();
    const { code, stdout } = await home.run(['token', '--min-ttl', '5m']);
    expect([code, stdout]).toEqual([4, '']);
  });

  it('with a refresh token that is worth nothing any more a sign-in is needed: 4', async () => {
    platform.lifetime = 1;
    await signIn();
    platform.answers.set('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
    const { code, stdout } = await home.run(['token', '--min-ttl', '5m']);
    expect([code, stdout]).toEqual([4, '']);
  });

  it('errors are JSON with --json, on stdout', async () => {
    const { code, stdout } = await home.run(['token', '--json', '--endpoint', platform.url]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: 'login_required' });
  });
});

describe('Exit codes', () => {
  it('0 when done', async () => {
    await signIn();
    expect((await home.run(['token'])).code).toBe(0);
  });

  it('1 for a file that is wrong, with file, line and key', async () => {
    const { code, stderr } = await home.run(['token', '--config', 'nosuch.yaml']);
    expect(code).toBe(1);
    expect(stderr).toContain('nosuch.yaml');
  });

  it.each([
    [['token', '--nosuch']],
    [['nosuch']],
    [['login', '--flow', 'magic']],
    [['token', '--min-ttl', 'soon']],
    [['completion', 'tcsh']],
    [['completion']],
  ])('2 for %j, with a sentence, and JSON with --json', async (args) => {
    const plain = await home.run(args);
    expect([plain.code, plain.stdout]).toEqual([2, '']);
    expect(plain.stderr).not.toBe('');
    const json = await home.run([...args, '--json']);
    expect(json.code).toBe(2);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, error: 'usage' });
  });

  it('4 when a sign-in is needed', async () => {
    const { code } = await home.run(['whoami', '--endpoint', platform.url]);
    expect(code).toBe(4);
  });

  it('5 when the platform cannot be reached', async () => {
    await platform.close();
    for (const command of ['token', 'whoami', 'status', 'login']) {
      const args = [command, '--endpoint', platform.url, '--json'];
      const { code, stdout } = await home.run(args);
      expect([command, code, JSON.parse(stdout).ok]).toEqual([command, 5, false]);
    }
  });

  it('5 when the identity provider cannot be reached and the token has ended', async () => {
    platform.lifetime = 1;
    await signIn();
    platform.answers.set('/token', () => ({ status: 503, body: '' }));
    const { code } = await home.run(['token']);
    // A token that still lives for a moment is handed out instead.
    expect([0, 5]).toContain(code);
    platform.answers.set('/me', () => ({ status: 503, body: {} }));
    expect((await home.run(['whoami'])).code).toBe(5);
  });

  it('130 when it was interrupted', async () => {
    platform.pollsUntilConfirmed = 1_000;
    const under = home.start(['login', '--endpoint', platform.url, '--flow', 'device']);
    await under.says('waiting until');
    under.child.kill('SIGTERM');
    expect((await under.ended).code).toBe(130);
  });

  it('are in --help', async () => {
    for (const args of [['--help'], ['token', '--help'], ['login', '--help']]) {
      const { code, stdout } = await home.run(args);
      expect(code).toBe(0);
      for (const line of ['0  done', '4  sign-in needed', '130  interrupted'])
        expect(stdout).toContain(line);
    }
  });
});
