/**
 * Every file of the bundle works where it is installed: what the command loads only where it is used, too.
 *
 * @module
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Home, makeHome } from '../../conformance/cli/command.ts';
import { scrape } from '../../conformance/observe/scrape.ts';
import { signIn } from '../../conformance/operation/under-load.ts';
import { startPlatform } from '../../conformance/platform/pods.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import {
  type Plane,
  startPlane,
  startService,
  WEB_CLIENT_ID,
} from '../../conformance/wire/platform.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { holdRedirectPort } from '../../conformance/wire/redirect-port.ts';
import { startTraceCollector } from '../../conformance/wire/trace-collector.ts';
import { startWebhook } from '../cluster/webhook.ts';
import { startSecretService } from '../keyring/secret-service.ts';
import { findPart, requirePart } from '../parts.ts';
import { REDIS } from '../redis/redis-process.ts';
import { startRedis } from '../redis/redis-server.ts';
import { type WatchedCommand, watchCommand } from './bundle-files.ts';
import { type Installation, installTarballs, packPackages } from './packed-packages.ts';

const BUS = findPart('dbus-daemon');
const KEYRING = findPart('gnome-keyring-daemon');
const isLeftOut = [BUS, KEYRING, REDIS].some((part) => part.isLeftOut);
/** The daemon ends now and then by a failed assertion of its own. */
const DAEMON_ENDED = { count: 2, condition: /keyring/ };

describe.skipIf(isLeftOut)('The installed command with all that it loads where it is used', () => {
  let installed: Installation;
  let command: WatchedCommand;
  beforeAll(async () => {
    const { tarballs } = await packPackages();
    const tarball = tarballs.get('sallyport') ?? '';
    installed = await installTarballs([tarball], '--include=optional', '--prefer-offline');
    command = watchCommand(installed.folder);
  });
  afterAll(() => installed.remove());

  const statusOf = async (url: string, headers: Readonly<Record<string, string>> = {}) =>
    (await exchange(url, { headers })).status;

  describe('beside a plane', () => {
    let plane: Plane;
    beforeAll(async () => {
      plane = await startPlane(['--sign-in-as', 'ada'], { place: command });
    });
    afterAll(() => plane.stop());

    const makeOwnHome = (): Home => {
      const home = makeHome(undefined, command);
      onTestFinished(() => home.remove());
      return home;
    };

    /** Signs in by a browser that no page asks for anything. @returns What the command says. */
    async function login(home: Home): Promise<string> {
      const giveBack = await holdRedirectPort();
      try {
        const under = home.start([
          ...['login', '--flow', 'pkce', '--no-browser'],
          ...['--endpoint', plane.url],
        ]);
        const said = await under.says('waiting for the browser');
        await new Browser().visit(/^ {2}(http\S+)$/m.exec(said)?.[1] ?? '');
        const { code, stderr } = await under.ended;
        expect(code, stderr).toBe(0);
        return stderr;
      } finally {
        await giveBack();
      }
    }

    async function expectAdmitted(home: Home, ...options: string[]): Promise<void> {
      const { stdout } = await home.run(['token', '--header', ...options]);
      const [name = '', value = ''] = stdout.trimEnd().split(': ');
      expect(await statusOf(`${plane.url}/me`, { [name]: value })).toBe(200);
    }

    it('keeps tokens in the keyring of the system, in a process beside, until logout', {
      retry: DAEMON_ENDED,
    }, async () => {
      const service = await startSecretService(requirePart(BUS), requirePart(KEYRING));
      onTestFinished(() => service.stop());
      const home = makeOwnHome();
      home.environment['SALLYPORT_TOKEN_STORE'] = 'keyring';
      home.environment['DBUS_SESSION_BUS_ADDRESS'] = service.busAddress;
      expect(await login(home)).toContain('kept in the keyring');
      await expectAdmitted(home);
      expect((await home.run(['status'])).stdout).toContain('keyring');
      const without = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' };
      expect((await home.run(['token', '--no-login'], without)).stderr).toContain(
        'keyring cannot be used',
      );
      expect((await home.run(['logout'])).code).toBe(0);
      expect((await home.run(['token', '--no-login'])).code).toBe(4);
    });

    it('keeps tokens in files, and says who is signed in', async () => {
      const home = makeOwnHome();
      expect(await login(home)).toContain('in files that only you can read');
      await expectAdmitted(home);
      // A joined value is the command line's work.
      await expectAdmitted(home, '--min-ttl=1m');
      expect((await home.run(['whoami'])).stdout).toContain('Ada Lovelace');
    });

    it('makes a folder that serve checks against the issuer of the plane', async () => {
      const home = makeOwnHome();
      const made = await home.run([
        ...['init', 'my', '--public-url', 'platform.example.com', '--issuer', plane.issuer],
        ...['--client-secret-file', join(plane.state, 'idp/web-client-secret'), '--offline'],
      ]);
      expect([made.code, made.stderr]).toEqual([0, '']);
      const config = join(home.path, 'my/sallyport.yaml');
      const checked = await home.run(['serve', '--check', '--online', '--config', config]);
      expect([checked.code, checked.stderr]).toEqual([0, '']);
      expect(checked.stdout).toContain(`answered as configured:\n  ${plane.issuer}\n`);
    });

    it('over TLS trusts the authority that is named, or none when that is asked for', async () => {
      const home = makeOwnHome();
      const secret = readFileSync(join(plane.state, 'idp/service-client-secret'), 'utf8');
      const environment = {
        CORE_CREDENTIALS_CLIENT_ID: 'sallyport-service',
        CORE_CREDENTIALS_CLIENT_SECRET: secret.trim(),
        CORE_CREDENTIALS_AUTH_MODE: 'basic',
      };
      const args = ['token', '--endpoint', plane.url.replace('http:', 'https:')];
      expect((await home.run(args, environment)).code).toBe(5);
      const named = [...args, '--ca-file', join(plane.state, 'tls/ca.pem')];
      expect((await home.run(named, environment)).code).toBe(0);
      const trusting = { ...environment, CORE_PLATFORM_INSECURE_SKIP_VERIFY: 'true' };
      expect((await home.run(args, trusting)).code).toBe(0);
    });

    it('keeps the token of a service in a file', async () => {
      const home = makeOwnHome();
      const [config, file] = [join(home.path, 'agent.yaml'), join(home.path, 'token')];
      const auth = {
        enable: true,
        type: 'ClientSecret',
        clientId: 'sallyport-service',
        clientSecretLocation: join(plane.state, 'idp/service-client-secret'),
      };
      const admin = { endpoint: plane.url, insecure: true };
      writeFileSync(config, JSON.stringify({ admin, union: { auth } }));
      const agent = home.start(['agent', '--config', config, '--token-file', file, '--header']);
      await agent.says(/^ready /m);
      const [name = '', value = ''] = readFileSync(file, 'utf8').split(': ');
      expect(await statusOf(`${plane.url}/me`, { [name]: value })).toBe(200);
      agent.child.kill('SIGTERM');
      expect((await agent.ended).code).toBe(0);
      expect(existsSync(file)).toBe(false);
    });

    it('issues API keys of task pods, lists, decodes and revokes them', async () => {
      const home = makeOwnHome();
      const file = join(home.path, 'api-key');
      const apikey = (...args: string[]) => home.run(['apikey', ...args]);
      const state = ['--state', plane.state];
      const owner = ['--organization', 'acme', '--cluster', 'east-1', '--out', file];
      expect((await apikey('create', ...owner, ...state)).code).toBe(0);
      const { stdout } = await apikey('inspect', '--file', file, '--json');
      const { clientId = '' } = JSON.parse(stdout) as { readonly clientId?: string };
      expect((await apikey('list', ...state)).stdout).toContain(clientId);
      expect((await apikey('revoke', clientId, ...state)).code).toBe(0);
      expect((await apikey('list', ...state)).stdout).not.toContain(clientId);
    });

    it('is one on its state folder: a second one ends with 1', async () => {
      const { code, stderr } = await makeOwnHome().run([
        'up',
        '--port',
        '0',
        '--state',
        plane.state,
      ]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('SP_STATE_IN_USE')]);
    });
  });

  it('runs the services of a platform, which all call their peers', async () => {
    const platform = await startPlatform({ place: command });
    onTestFinished(() => platform.stop());
    for (const { name, state } of (await platform.read()).values())
      expect(state, name).toBe('calling');
  });

  it('serves on Redis with traces and metrics, and operators list, end and rotate', async () => {
    const redis = await startRedis({ appendOnly: true });
    onTestFinished(() => redis.stop());
    const collector = await startTraceCollector();
    onTestFinished(() => collector.close());
    const metricsPort = await freePort();
    const environment = {
      SALLYPORT_TRACES_ENDPOINT: collector.endpoint,
      SALLYPORT_METRICS_PORT: String(metricsPort),
    };
    // YAML includes JSON.
    const file = JSON.stringify({
      session: { store: 'redis', redis: { addresses: [`127.0.0.1:${redis.port}`] } },
      observe: { traces: { sample: 1 } },
    });
    const service = await startService(environment, [], { place: command }, undefined, [file]);
    onTestFinished(() => service.stop());
    const cookie = await signIn(service);
    expect(await statusOf(`${service.url}/me`, { cookie })).toBe(200);
    expect((await scrape(metricsPort)).text).toContain('sallyport_');
    expect(await collector.wait('GET /me')).not.toEqual([]);

    const home = makeHome(undefined, command);
    onTestFinished(() => home.remove());
    const variables = {
      PUBLIC_URL: service.url,
      OIDC_BASE_URL: service.idp.issuer,
      OIDC_CLIENT_ID: WEB_CLIENT_ID,
      CLI_CLIENT_ID: 'cli-client',
      SALLYPORT_STATE_DIRECTORY: service.state,
    };
    const config = ['--config', join(service.state, 'sallyport.yaml')];
    const operator = (...args: string[]) => home.run([...args, ...config], variables);
    expect((await home.run(['healthcheck', '--url', service.url])).code).toBe(0);
    const looked = await home.run(['doctor', service.url, '--only', 'gate', '--json']);
    expect(JSON.parse(looked.stdout), looked.stderr).toMatchObject({ version: 1, ok: true });
    expect((await operator('rotate-keys')).code).toBe(0);
    const secret = ['--secret', 'nowhere/key-ring'];
    for (const ended of [
      await home.run(['create-keys', ...secret]),
      await operator('rotate-keys', ...secret),
    ])
      expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('key-ring')]);
    expect((await operator('sessions', 'list')).stdout).toContain('ada');
    expect((await operator('sessions', 'revoke', '--all', '--yes')).code).toBe(0);
    await expect.poll(() => statusOf(`${service.url}/me`, { cookie })).toBe(401);
    // Its own port is free, that of the metrics is taken.
    const second = {
      ...variables,
      SALLYPORT_METRICS_PORT: String(metricsPort),
      SALLYPORT_WORKERS: '2',
    };
    const { code, stderr } = await home.run(['serve', '--port', '0', ...config], second);
    expect([code, stderr]).toEqual([1, expect.stringContaining('SP_PORT_IN_USE')]);
  });

  it('serves with workers behind a Unix socket', async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const lines = [`server: {workers: 2, listen: "unix:${join(folder.path, 's.sock')}"}`];
    const service = await startService({}, [], { place: command }, undefined, [
      ...lines,
      'trustedProxies: [unix]',
    ]);
    onTestFinished(() => service.stop());
    expect(service.running.url).toMatch(/^unix:/);
    expect(await service.running.stop()).toBe(0);
  });

  it('answers reviews of pods, with metrics', async () => {
    const webhook = await startWebhook({ place: command });
    expect(await webhook.metric('sallyport_inject_reviews_total{outcome="injected"}')).toBe(0);
    expect(await webhook.stop()).toBe(0);
  });

  it('writes a recipe and completions', async () => {
    const home = makeHome(undefined, command);
    onTestFinished(() => home.remove());
    const out = join(home.path, 'nginx');
    expect((await home.run(['recipe', 'nginx', '--out', out, '--verdict-cache'])).code).toBe(0);
    expect((await home.run(['completion', 'bash'])).stdout).toContain('sallyport');
  });

  it('has no file that does not load', async () => {
    // A command that is new, and has no test here yet, is loaded and not run.
    await command.loadRest();
    expect(command.unloaded()).toEqual([]);
  });
});
