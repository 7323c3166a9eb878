/**
 * docs/getting-started.md: its commands as they stand there, from the tarball to a signed-in browser.
 *
 * @module
 */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { type TemporaryFolder, temporaryFolder } from '../../conformance/wire/process.ts';
import { createPrefix, NGINX, type Prefix, type RunningNginx, startNginx } from '../nginx/nginx.ts';
import { packPackages } from '../package/packed-packages.ts';
import { KEYCLOAK } from './keycloak-part.ts';
import { ADA, makeRealm, type Realm } from './realm.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname;
const PAGE = readFileSync(join(CHECKOUT, 'docs/getting-started.md'), 'utf8');
const [SETTINGS = '', COMMANDS = '', DOCTOR = '', ...FURTHER] = [
  ...PAGE.matchAll(/^```sh\n(.*?)^```/gms),
].map(([, block = '']) => block);
const LINES = COMMANDS.trim().split('\n');
const [INSTALL = '', INIT = '', APPLY = '', RELOAD = '', SERVE = ''] = LINES;
const RELOADED = { timeout: 20_000 };
const execute = promisify(execFile);

/** A host with nginx, and a folder that the person works in. */
interface Host {
  readonly platform: string;
  readonly realm: Realm;
  /** Runs a command of the page to its end. */
  run(command: string): Promise<{ readonly code: number; readonly output: string }>;
  /** Runs the last command until the host stops. @returns What it printed before it was ready, or ended. */
  serve(command: string): Promise<string>;
  stop(): Promise<void>;
}

/** A host whose packages are installed in a home that may be another host's. */
async function startHost(home: TemporaryFolder): Promise<Host> {
  const work = temporaryFolder();
  const prefix: Prefix = createPrefix();
  const nginx: RunningNginx = await startNginx(prefix, 'include conf.d/*.conf;');
  const realm = await makeRealm();
  await realm.addAda();
  const tarball = (await packPackages()).tarballs.get('sallyport') ?? '';
  copyFileSync(tarball, join(work.path, basename(tarball)));
  const passwordFile = join(work.path, 'keycloak-admin-password');
  writeFileSync(passwordFile, `${realm.adminPassword}\n`, { mode: 0o600 });
  const { stdout: cache } = await execute('npm', ['config', 'get', 'cache'], { cwd: CHECKOUT });
  const platform = `http://localhost:${await freePort()}`;
  const env = {
    PATH: [
      join(home.path, 'bin'),
      dirname(process.execPath),
      process.env['PATH'] ?? '',
      dirname(NGINX.path ?? ''),
    ].join(delimiter),
    HOME: home.path,
    npm_config_prefix: home.path,
    npm_config_cache: cache.trim(),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
    // What the page has the person say.
    PLATFORM: platform,
    ISSUER: realm.issuer,
    PASSWORD_FILE: passwordFile,
    NGINX: prefix.path,
    PORT: String(await freePort()),
  };
  const ends: (() => Promise<void>)[] = [];
  return {
    platform,
    realm,
    async run(command) {
      const child = spawn('bash', ['-euc', command], {
        cwd: work.path,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
      const [code] = (await once(child, 'close')) as [number];
      return { code, output };
    },
    async serve(command) {
      const child = spawn('bash', ['-euc', `exec ${command}`], {
        cwd: work.path,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'close');
      let log = '';
      child.stderr.on('data', (chunk: Buffer) => {
        log += chunk.toString();
      });
      ends.push(async () => {
        child.kill('SIGTERM');
        await ended;
      });
      for await (const line of createInterface(child.stdout))
        if (line.startsWith('ready ')) {
          child.stdout.resume();
          return line;
        }
      return log;
    },
    async stop() {
      for (const end of ends) await end();
      await nginx.stop();
      await realm.remove();
      prefix.remove();
      work.remove();
    },
  };
}

describe.skipIf(KEYCLOAK.isLeftOut || NGINX.isLeftOut)('docs/getting-started.md', () => {
  let home: TemporaryFolder;
  let host: Host;
  let bare: Host;

  beforeAll(async () => {
    home = temporaryFolder();
    host = await startHost(home);
    bare = await startHost(home);
  }, 400_000);
  afterAll(async () => {
    await host.stop();
    await bare.stop();
    home.remove();
  });

  it('has at most five commands, and no other but the settings and the doctor', () => {
    expect(LINES.length).toBeLessThanOrEqual(5);
    expect(COMMANDS).not.toMatch(/[;&|\\]/);
    const settings = [...SETTINGS.matchAll(/^(\w+)=\S+$/gm)].map(([, name]) => name);
    expect(settings).toEqual(['PLATFORM', 'ISSUER', 'PASSWORD_FILE', 'NGINX', 'PORT']);
    expect([DOCTOR, FURTHER]).toEqual([expect.stringMatching(/^sallyport doctor .*\n$/), []]);
  });

  it('leads from the tarball, a Keycloak and nginx to a signed-in browser', async () => {
    for (const command of [INSTALL, INIT, APPLY, RELOAD]) {
      const { code, output } = await host.run(command);
      expect([command, code], output).toEqual([command, 0]);
      expect(output).not.toContain(host.realm.adminPassword);
    }
    expect(await host.serve(SERVE)).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+/);

    const browser = new Browser();
    const account = `${host.platform}/auth/account`;
    await expect.poll(async () => (await browser.step(account)).status, RELOADED).toBeLessThan(400);
    const page = await browser.visit(account);
    expect(page.url.startsWith(host.realm.issuer)).toBe(true);
    const landed = await browser.submit(page, { ...ADA });
    expect([landed.status, landed.url]).toEqual([200, account]);
    const me = await browser.step(`${host.platform}/me`);
    expect([me.status, JSON.parse(me.body)]).toMatchObject([200, { name: 'Ada Lovelace' }]);
    // What no backend serves yet is behind the sign-in all the same.
    expect((await browser.step(`${host.platform}/`)).status).toBe(502);
    expect((await new Browser().step(`${host.platform}/`)).status).toBe(302);
  });

  it('lets no one in with a wrong password', async () => {
    const browser = new Browser();
    const page = await browser.visit(`${host.platform}/auth/account`);
    const refused = await browser.submit(page, { username: ADA.username, password: 'wrong' });
    expect(refused.url.startsWith(host.realm.issuer)).toBe(true);
    expect((await browser.step(`${host.platform}/me`)).status).toBe(401);
  });

  it('ends with a doctor that finds nothing wrong with a platform on Keycloak', async () => {
    const { code, output } = await host.run(DOCTOR);
    expect(output).toMatch(/^Nothing is wrong: \d+ checks passed/m);
    expect(code).toBe(0);
  });

  it('does not sign in without the applications at the IdP, and the doctor names what is missing', async () => {
    for (const command of [INIT, RELOAD])
      expect(await bare.run(command)).toMatchObject({ code: 0 });
    const log = await bare.serve(SERVE);
    expect(log).not.toMatch(/^ready/);
    expect(log).toContain('oidc_client_secret');
    await expect
      .poll(
        async () => (await new Browser().step(`${bare.platform}/auth/account`)).status,
        RELOADED,
      )
      .toBe(502);
    const { code, output } = await bare.run(`${DOCTOR.trim()} --json`);
    const { findings } = JSON.parse(output) as { readonly findings: readonly { code: string }[] };
    expect([code, findings[0]?.code]).toEqual([1, 'secret_file_missing']);
  });
});
