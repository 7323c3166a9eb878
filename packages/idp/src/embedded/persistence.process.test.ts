import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createBrowser } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  exchangeOf,
  PUBLIC_URL,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedIdp } from './embedded-idp.ts';

let parent: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'idp-persistence-'));
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

async function contentsOf(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
}

async function stopped(running: RunningIdp): Promise<RunningIdp> {
  await running.close();
  return running;
}

describe('state directory of the embedded IdP', () => {
  it('keeps secrets, passwords and keys over a restart, for its owner only', async () => {
    const stateDirectory = join(parent, 'state');
    const first = await stopped(await startIdp({ stateDirectory }));
    const before = await contentsOf(stateDirectory);
    const second = await stopped(await startIdp({ stateDirectory }));

    expect(await contentsOf(stateDirectory)).toEqual(before);
    expect(second.idp.users).toEqual(first.idp.users);
    expect(Object.keys(before)).toEqual([
      'cookie-key',
      'passwords',
      'service-client-secret',
      'signing-key.json',
      'web-client-secret',
    ]);
    for (const name of Object.keys(before))
      expect((await stat(join(stateDirectory, name))).mode & 0o777).toBe(0o600);
    expect((await stat(stateDirectory)).mode & 0o777).toBe(0o700);
  });

  it('has one line for each user in the passwords file, and secrets of 256 bits without a line end', async () => {
    const { idp } = await stopped(await startIdp({ stateDirectory: join(parent, 'state') }));
    const lines = idp.users.map(({ login, password }) => `${login} ${password}\n`);
    expect(await readFile(idp.passwordsFile, 'utf8')).toBe(lines.join(''));
    for (const file of [idp.webClientSecretFile, idp.serviceClientSecretFile])
      expect(await readFile(file, 'utf8')).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('holds nothing that another state directory holds', async () => {
    const [one, other] = [join(parent, 'one'), join(parent, 'other')];
    await stopped(await startIdp({ stateDirectory: one }));
    await stopped(await startIdp({ stateDirectory: other }));
    const [left, right] = [await contentsOf(one), await contentsOf(other)];
    for (const [name, text] of Object.entries(left)) expect(right[name]).not.toBe(text);
  });

  it('a restart signs people out but lets them in again with the same password', async () => {
    const stateDirectory = join(parent, 'state');
    await stopped(await startIdp({ stateDirectory }));
    const running = await startIdp({ stateDirectory });
    try {
      const { callback } = await signIn(running, authorizeUrl(running));
      expect(callback.searchParams.has('code')).toBe(true);
    } finally {
      await running.close();
    }
  });

  it.each([
    ['signing-key.json', '{"kty":"oct"}'],
    ['signing-key.json', '{"kty":"RSA","d":"AQAB"}'],
    ['signing-key.json', 'nonsense'],
    ['passwords', 'nonsense'],
    ['web-client-secret', ''],
  ])('refuses to start with %s = %j, and names the file', async (name, text) => {
    const stateDirectory = join(parent, 'state');
    await stopped(await startIdp({ stateDirectory }));
    await writeFile(join(stateDirectory, name), text);
    await expect(startIdp({ stateDirectory })).rejects.toThrow(join(stateDirectory, name));
  });
});

describe('createEmbeddedIdp', () => {
  it.each(['http://127.0.0.1:8081/', 'http://127.0.0.1:8081/idp', 'nonsense', 'ftp://x.test'])(
    'refuses the issuer %s',
    async (issuer) => {
      const options = {
        issuer,
        publicUrl: PUBLIC_URL,
        clientIds: CLIENT_IDS,
        log: () => undefined,
      };
      const attempt = createEmbeddedIdp({ ...options, stateDirectory: join(parent, 'state') });
      await expect(attempt).rejects.toThrow('SP_CONFIG_INVALID');
    },
  );

  it('reports its events to the operator, without a password, secret, code or token', async () => {
    const running = await startIdp({ stateDirectory: join(parent, 'state') });
    try {
      const browser = createBrowser();
      const page = await browser.follow(await browser.get(authorizeUrl(running)), running.issuer);
      const [ada] = running.idp.users;
      const swapped = await browser.submit(page.url, {
        login: ada?.password ?? '',
        password: 'ada',
      });
      const { callback } = await signIn(running, authorizeUrl(running));
      const secret = await readFile(running.idp.webClientSecretFile, 'utf8');
      const basic = `${CLIENT_IDS.web}:${secret}`;
      const { body } = await requestToken(running, exchangeOf(callback), basic);
      await requestToken(running, exchangeOf(callback), basic);
      await requestToken(running, { grant_type: secret }, basic);
      await browser.get(authorizeUrl(running, { redirect_uri: `https://x.test/${secret}` }));

      expect(running.events.map((line) => line.split(' ')[0])).toEqual([
        'idp.sign_in.refused',
        'idp.sign_in.succeeded',
        'idp.token.issued',
        'idp.grant.revoked',
        'idp.token.refused',
        'idp.token.refused',
        'idp.authorization.refused',
      ]);
      const reported = running.events.join('\n');
      const secrets = [
        ...running.idp.users.map(({ password }) => password),
        secret,
        callback.searchParams.get('code'),
        body['access_token'],
        body['refresh_token'],
        body['id_token'],
      ];
      for (const value of secrets) {
        expect(String(value).length).toBeGreaterThan(10);
        expect(reported).not.toContain(value);
        expect(page.text).not.toContain(value);
      }
      expect(swapped.text).not.toContain(secret);
    } finally {
      await running.close();
    }
  });

  it('writes nothing to the terminal: loading, starting, signing in and signing out', async () => {
    const script = `
      import { startIdp, signIn, authorizeUrl, post } from ${JSON.stringify(new URL('../../../testing/src/idp/running-idp.ts', import.meta.url).href)};
      const running = await startIdp({ stateDirectory: ${JSON.stringify(join(parent, 'state'))} });
      await signIn(running, authorizeUrl(running));
      await post(running, '/idp/device/code', { client_id: 'native-app', scope: 'all' });
      await post(running, '/idp/introspect', { client_id: 'native-app', token: 'x' });
      await post(running, '/idp/revoke', { client_id: 'native-app', token: 'x' });
      await (await fetch(running.issuer + '/idp/logout')).text();
      await (await fetch(running.issuer + '/idp/device')).text();
      await (await fetch(running.issuer + '/idp/authorize')).text();
      await running.close();
    `;
    const options = ['--conditions=source', '--input-type=module', '--eval', script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, options);
    expect(stdout).toBe('');
    expect(stderr).toBe('');
  });
});
