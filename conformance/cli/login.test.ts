import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { isTaken } from '@sallyport/testing/wire/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import type { Ended } from './command.ts';
import { withoutPauses } from './device-code.ts';
import { startFakePlatform } from './fake-platform.ts';
import { clock, home, platform, runWithBrowser, useHomeAndPlatform } from './fixture.ts';
import { browserCommand, readRecord } from './scripted-browser.ts';

useHomeAndPlatform();
let record: string;
beforeEach(() => {
  record = join(home.path, 'record');
});

const login = (...args: string[]): string[] => [
  'login',
  '--endpoint',
  platform.url,
  '--browser',
  browserCommand(record),
  ...args,
];

const signIn = (...args: string[]): Promise<Ended> => runWithBrowser(record, login(...args));

async function expectSignedIn(): Promise<void> {
  const token = await home.run(['token', '--no-login']);
  expect(token.code).toBe(0);
  expect(platform.secrets).toContain(token.stdout.trimEnd());
}

async function expectNotSignedIn(): Promise<void> {
  const token = await home.run(['token', '--no-login', '--endpoint', platform.url]);
  expect([token.code, token.stdout]).toEqual([4, '']);
}

describe('sallyport login, by browser and loopback', () => {
  it('signs in, says who, until when and where the tokens are, and prints the address', async () => {
    const { code, stdout, stderr } = await signIn();
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`Signed in to ${platform.url} as Ada Lovelace <ada@example.test>.`);
    expect(stderr).toMatch(/valid until \d{4}-\d\d-\d\dT/);
    expect(stderr).toContain(`The tokens are kept in ${home.path}/.local/share/sallyport/tokens`);
    expect(stderr).toContain(`${platform.url}/authorize?`);
    await expectSignedIn();
  });

  it('gives the browser the address alone, with an S256 challenge and the redirect URI byte for byte', async () => {
    await signIn();
    const [opened] = readRecord(record);
    expect(opened?.argv).toHaveLength(4);
    const url = new URL(opened?.argv?.[3] ?? '');
    expect(url.href.startsWith(`${platform.url}/authorize?`)).toBe(true);
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    expect(url.searchParams.get('redirect_uri')).toBe(
      `http://localhost:${platform.redirectPort}/callback`,
    );
    expect(url.searchParams.get('scope')).toBe('all');
  });

  it('ends the browser on a page that needs nothing from elsewhere', async () => {
    await signIn();
    const page = readRecord(record)[1];
    expect(page?.status).toBe(200);
    expect(page?.headers?.['content-security-policy']).toContain("default-src 'none'");
    expect(page?.body).not.toMatch(/https?:\/\/(?!localhost)/);
  });

  it('asks no person to sign in where the tokens cannot be kept afterwards, and says so', async () => {
    writeFileSync(join(home.path, '.local'), '');
    const { code, stdout, stderr } = await home.run(login());
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `sallyport: ${home.path}/.local/share/sallyport/tokens cannot be used (ENOTDIR) (SP_TOKEN_STORE_UNUSABLE)\n`,
    ]);
    expect(readRecord(record)).toEqual([]);
    expect(platform.count('/authorize')).toBe(0);
  });

  it('keeps tokens in files of mode 0600 in a folder of mode 0700', async () => {
    await signIn();
    const folder = join(home.path, '.local/share/sallyport/tokens');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(files).toHaveLength(1);
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('--json says the same as one object on stdout', async () => {
    const { code, stdout } = await signIn('--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      profile: 'default',
      endpoint: platform.url,
      flow: 'pkce',
      account: { subject: 'ada', kind: 'user' },
      refreshable: true,
    });
  });

  it('a stray /favicon.ico, another path and another host name change nothing', async () => {
    const under = home.start([
      'login',
      '--endpoint',
      platform.url,
      '--flow',
      'pkce',
      '--no-browser',
    ]);
    const said = await under.says('waiting for the browser');
    const at = `http://127.0.0.1:${platform.redirectPort}`;
    const host = { host: `localhost:${platform.redirectPort}` };
    for (const path of ['/favicon.ico', '/', '/callback/x'])
      expect((await exchange(at + path, { headers: host })).status).toBe(404);
    const rebound = await exchange(`${at}/callback?code=x&state=y`, {
      headers: { host: 'evil.example' },
    });
    expect(rebound.status).toBeGreaterThanOrEqual(400);
    const url = /^ {2}(http\S+)$/m.exec(said)?.[1] ?? '';
    const sent = await exchange(url);
    const back = new URL(sent.location ?? '');
    expect((await exchange(back.href, { headers: host })).status).toBe(200);
    expect((await under.ended).code).toBe(0);
    await expectSignedIn();
  });

  it("says what the identity provider's error= means, and keeps nothing", async () => {
    platform.answers.set('/authorize', ({ query }) => ({ status: 500, body: query.toString() }));
    const under = home.start(login('--flow', 'pkce', '--no-browser'));
    const said = await under.says('waiting for the browser');
    const state = /[?&]state=([^&\s]+)/.exec(said)?.[1] ?? '';
    const answer = `error=access_denied&error_description=No%1b%5B31m+way&state=${state}`;
    await exchange(`http://127.0.0.1:${platform.redirectPort}/callback?${answer}`, {
      headers: { host: `localhost:${platform.redirectPort}` },
    });
    const { code, stderr } = await under.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('access_denied');
    expect(stderr).not.toContain('\u001b');
    await expectNotSignedIn();
  });

  it('Ctrl-C ends it with 130, and leaves no listener and no token', async () => {
    const under = home.start(login('--flow', 'pkce', '--no-browser'));
    await under.says('waiting for the browser');
    expect(await isTaken(platform.redirectPort)).toBe(true);
    under.child.kill('SIGINT');
    expect((await under.ended).code).toBe(130);
    expect(await isTaken(platform.redirectPort)).toBe(false);
    await expectNotSignedIn();
  });

  it('gives up after --timeout, and names the redirect URI as a cause', async () => {
    const { code, stderr } = await home.run(
      login('--flow', 'pkce', '--no-browser', '--timeout', '1s'),
    );
    expect(code).toBe(1);
    expect(stderr).toContain(`http://localhost:${platform.redirectPort}/callback`);
    expect(await isTaken(platform.redirectPort)).toBe(false);
  });

  describe('when the port of the redirect URI is taken', () => {
    let holder: Server;
    beforeEach(async () => {
      holder = createServer();
      await new Promise<void>((resolve) =>
        holder.listen(platform.redirectPort, '127.0.0.1', resolve),
      );
    });
    afterEach(() => new Promise<void>((resolve) => holder.close(() => resolve())));

    it('says so, and ends, when that flow was asked for', async () => {
      const { code, stderr } = await home.run(login('--flow', 'pkce'));
      expect(code).toBe(1);
      expect(stderr).toContain(String(platform.redirectPort));
      expect(stderr).toContain(String(process.pid));
      expect(readRecord(record)).toEqual([]);
      await expectNotSignedIn();
    });
  });
});

describe('sallyport login with a device code', () => {
  const signInByDevice = (...args: string[]): Promise<Ended> =>
    withoutPauses(clock, platform, () =>
      home.run(['login', '--endpoint', platform.url, '--flow', 'device', ...args]),
    );

  it('prints address and code, waits until it is confirmed, and signs in', async () => {
    platform.pollsUntilConfirmed = 2;
    const { code, stdout, stderr } = await signInByDevice();
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`${platform.url}/activate?user_code=WDJB-MJHT`);
    expect(stderr).toContain('confirm the code  WDJB-MJHT');
    expect(platform.count('/token')).toBe(3);
    expect(
      platform.asked.find(({ path }) => path === '/device')?.form.get('code_challenge'),
    ).toMatch(/^[\w-]{43}$/);
    await expectSignedIn();
  });

  it('is the flow that status names for as long as its token is kept', async () => {
    const flowOf = async (): Promise<unknown> => {
      const { stdout } = await home.run(['status', '--json']);
      return (JSON.parse(stdout) as { profiles: { flow: string }[] }).profiles[0]?.flow;
    };
    platform.pollsUntilConfirmed = 1;
    expect((await signInByDevice()).code).toBe(0);
    expect(await flowOf()).toBe('device_code');
    // A command that only uses the token changes nothing of it.
    expect((await home.run(['token'])).code).toBe(0);
    expect(await flowOf()).toBe('device_code');
    expect((await home.run(['logout'])).code).toBe(0);
    expect(await flowOf()).toBe('pkce');
  });

  it.each(['access_denied', 'expired_token'])('%s ends it with 1 and no token', async (error) => {
    platform.answers.set('/token', () => ({ status: 400, body: { error } }));
    const { code, stderr } = await signInByDevice();
    expect(code).toBe(1);
    expect(stderr).not.toBe('');
    platform.answers.clear();
    await expectNotSignedIn();
  });

  it('Ctrl-C ends it with 130', async () => {
    platform.pollsUntilConfirmed = 1_000;
    const under = home.start(['login', '--endpoint', platform.url, '--flow', 'device']);
    await under.says('waiting until the code');
    under.child.kill('SIGINT');
    expect((await under.ended).code).toBe(130);
  });

  it('says that there are no device codes where there are none', async () => {
    platform.hasDeviceCodes = false;
    const { code, stderr } = await signInByDevice();
    expect([code, stderr.includes('--flow pkce')]).toEqual([1, true]);
  });

  it('draws no QR code into a log', async () => {
    const { stderr } = await signInByDevice('--qr');
    expect(stderr).not.toMatch(/[\u2580-\u259f]/);
  });
});

describe('Without a person to ask, no sign-in begins', () => {
  const INSTEAD = 'CORE_CREDENTIALS_CLIENT_ID and CORE_CREDENTIALS_CLIENT_SECRET, or EAGER_API_KEY';

  it.each([
    ['without a terminal', ['login'], {}],
    ['in CI', ['login', '--flow', 'pkce'], { CI: 'true' }],
    ['in CI, with a device code', ['login', '--flow', 'device'], { CI: 'true' }],
    ['token without a terminal', ['token'], {}],
    ['token in CI', ['token'], { CI: 'true' }],
  ])('%s: 4, and one line that names what to set', async (_, args, environment) => {
    const { code, stdout, stderr } = await home.run(
      [...args, '--endpoint', platform.url],
      environment,
    );
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(INSTEAD);
    expect(platform.count('/device') + platform.count('/token')).toBe(0);
  });

  it('what it names works: with credentials in the environment no person signs in', async () => {
    const environment = {
      CI: 'true',
      CORE_CREDENTIALS_CLIENT_ID: 'app',
      CORE_CREDENTIALS_CLIENT_SECRET: 'canary-secret',
    };
    const token = await home.run(['token', '--endpoint', platform.url], environment);
    expect(token.code).toBe(0);
    expect(platform.secrets).toContain(token.stdout.trimEnd());
    const signedIn = await home.run(['login', '--endpoint', platform.url], environment);
    expect([signedIn.code, signedIn.stderr.includes('a sign-in is not needed')]).toEqual([0, true]);
  });
});

describe('Profiles', () => {
  it('login --endpoint writes one, later commands use it, and none is led elsewhere unasked', async () => {
    const other = await startFakePlatform();
    try {
      await signIn();
      const args = ['login', '--endpoint', other.url, '--browser', browserCommand(record)];
      const second = await runWithBrowser(record, args);
      const name = new URL(other.url).host.replace(':', '-');
      expect(second.stderr).toContain(`--profile ${name}`);
      const first = JSON.parse((await home.run(['whoami', '--json'])).stdout);
      expect(first).toMatchObject({ profile: 'default', endpoint: platform.url });
      for (const [args, environment] of [
        [['--profile', name], {}],
        [[], { SALLYPORT_PROFILE: name }],
      ] as const) {
        const { stdout } = await home.run(['whoami', '--json', ...args], environment);
        expect(JSON.parse(stdout)).toMatchObject({ profile: name, endpoint: other.url });
      }
      writeFileSync(join(home.path, '.sallyport.yaml'), `profile: ${name}\n`);
      const { stdout } = await home.run(['status', '--json', '--offline']);
      expect(JSON.parse(stdout).profiles[0]).toMatchObject({
        profile: name,
        because: `${home.path}/.sallyport.yaml:1`,
      });
    } finally {
      await other.close();
    }
  });

  it("a project's file cannot say where tokens go", async () => {
    await signIn();
    writeFileSync(join(home.path, '.sallyport.yaml'), 'admin:\n  endpoint: evil.example\n');
    const { code, stderr } = await home.run(['token']);
    expect(code).toBe(1);
    expect(stderr).toContain('.sallyport.yaml:1: a project');
  });
});
