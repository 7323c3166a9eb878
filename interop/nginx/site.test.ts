import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { type Service, startService } from '../../conformance/wire/platform.ts';
import { findPart, requirePart } from '../parts.ts';
import { type Backend, createAdminService, startBackend } from './backend.ts';
import {
  createPrefix,
  NGINX,
  type Prefix,
  type RunningNginx,
  startNginx,
  testConfiguration,
} from './nginx.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const CURL = findPart('curl');
const OPENSSL = findPart('openssl');
const HTTP = 'include conf.d/*.conf;';
const RELOADED = { timeout: 20_000 };

/**
 * The commands of the README, in order: install, reload, by a Unix socket, check, generate, call, look where verdicts
 * may lie, keep them.
 */
const [
  INSTALL = '',
  RELOAD = '',
  SOCKET = '',
  CHECK = '',
  GENERATE = '',
  CALL = '',
  LOOK = '',
  KEEP = '',
] = [
  ...readFileSync(join(ROOT, 'deploy/nginx/README.md'), 'utf8').matchAll(/```sh\n(.*?)```/gs),
].map(([, commands]) => commands);

const isLeftOut = [NGINX, CURL, OPENSSL].some((part) => part.isLeftOut);

describe.skipIf(isLeftOut)(
  'nginx, curl, openssl: the example site, installed as its README says',
  () => {
    let prefix: Prefix;
    let nginx: RunningNginx;
    let service: Service;
    let admin: Backend;
    let consoleBackend: Backend;
    let port: number;
    let certificate: string;
    let cookie: string;

    /** Runs commands; not synchronously, because the backends they talk to run in this process. */
    const bash = async (commands: string) => {
      const child = spawn('bash', ['-euc', commands], {
        cwd: ROOT,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          CURL_CA_BUNDLE: join(prefix.path, 'tls/platform.crt'),
          NO_PROXY: '*',
        },
      });
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      const [stdout, stderr, status] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        ended,
      ]);
      return { stdout, stderr, status };
    };
    /**
     * A README's commands with its two variables as they are here. curl asks the address that nginx listens on, since
     * another program may have the port of the other family, and says what failed.
     */
    const here = (commands: string) =>
      `curl() { command curl -4 -S "$@"; }; etc=${prefix.path}; host=localhost\n${commands.replace(/^(?:etc|host)=.*\n/gm, '')}`;

    beforeAll(async () => {
      prefix = createPrefix();
      prefix.write('tls/.keep', '');
      prefix.write('conf.d/.keep', '');
      port = await freePort();
      execFileSync(
        requirePart(OPENSSL),
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-days',
          '2',
        ]
          .concat(['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'])
          .concat(['-keyout', 'platform.key', '-out', 'platform.crt']),
        { cwd: join(prefix.path, 'tls'), stdio: 'ignore' },
      );
      certificate = readFileSync(join(prefix.path, 'tls/platform.crt'), 'utf8');
      service = await startService({ PUBLIC_URL: `https://localhost:${port}` });
      [admin, consoleBackend] = await Promise.all([
        startBackend(createAdminService(service.url)),
        startBackend(),
      ]);
      const visitor = new Browser();
      await service.signIn(visitor);
      cookie = `__Host-core_session=${visitor.cookie('localhost', '__Host-core_session')}`;

      expect(await bash(here(INSTALL))).toMatchObject({ status: 0, stderr: '' });
      const site = join(prefix.path, 'conf.d/sallyport.conf');
      writeFileSync(
        site,
        readFileSync(site, 'utf8')
          .replaceAll('443', `127.0.0.1:${port}`)
          .replaceAll('/etc/nginx/', `${prefix.path}/`)
          .replace('127.0.0.1:8080', new URL(admin.url).host)
          .replace('127.0.0.1:8080', new URL(service.url).host)
          .replace('127.0.0.1:8081', new URL(consoleBackend.url).host)
          .replace('public_host   localhost;', `public_host localhost:${port};`),
      );
      nginx = await startNginx(prefix, HTTP);
    });
    afterAll(async () => {
      await nginx.stop();
      await Promise.all([admin.close(), consoleBackend.close(), service.stop()]);
      prefix.remove();
    });

    const get = (
      path: string,
      headers: Readonly<Record<string, string>>,
      servername = 'localhost',
    ) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(
          {
            host: '127.0.0.1',
            port,
            servername,
            // A reload closes the idle connections of the worker before.
            agent: false,
            ca: certificate,
            path,
            headers: { host: 'localhost', ...headers },
          },
          (response) => {
            response.resume();
            resolve(response.statusCode);
          },
        );
        sent.on('error', reject);
        sent.end();
      });

    it('is accepted by nginx -t without a warning', () => {
      expect(testConfiguration(prefix, HTTP)).toEqual({
        ok: true,
        log: expect.not.stringMatching(/\[(?:warn|error|emerg)\]/),
      });
    });

    it('is reloaded by the commands of the README', async () => {
      const { status, stderr } = await bash(
        here(RELOAD).replaceAll('nginx -', `${requirePart(NGINX)} -`),
      );
      expect(status).toBe(0);
      expect(stderr).toContain('test is successful');
      // The worker before may break off an answer over HTTP/2 as it leaves.
      await expect.poll(() => nginx.log()).toMatch(/worker process \d+ exited with code 0/);
    });

    it('answers the checks of the README as it says', async () => {
      const checks = CHECK.split('\n').filter((line) => line.startsWith('curl'));
      expect(checks).toHaveLength(5);
      const ask = async (line: string) =>
        (await bash(`${here('')}url=https://$host:${port}\n${line}`)).stdout;
      for (const line of checks) {
        const said = /# (\d{3})(?:, (\S+))?/.exec(line);
        const stdout = await ask(line);
        expect(stdout).toMatch(new RegExp(`^HTTP/2 ${said?.[1]} `));
        if (said?.[2]?.includes('/')) expect(stdout).toContain(said[2]);
      }
    });

    it('answers the calls of the README as it says, in the protocol of each', async () => {
      const lines = CALL.trim().split('\n');
      const [variable = '', definition = '', ...calls] = lines;
      expect(calls).toHaveLength(4);
      for (const line of calls) {
        const [, status, word = ''] = /# (\d{3}), (.+)$/.exec(line) ?? [];
        const { stdout, stderr } = await bash(
          `${here('')}url=https://$host:${port}\n${variable}\n${definition}\n${line}`,
        );
        expect(stdout, stderr).toMatch(new RegExp(`^HTTP/2 ${status} `));
        expect(stdout).toContain(word);
      }
    });

    it('admits the session of an https address, and cuts its cookie out', async () => {
      expect(await get('/console', { cookie: `a=1; ${cookie}; b=2` })).toBe(200);
      const seen = consoleBackend.seen.at(-1);
      expect(seen?.headers).toMatchObject({
        cookie: 'a=1; b=2',
        host: `localhost:${port}`,
        'x-forwarded-proto': 'https',
        'x-user-subject': 'ada',
      });
      expect(await get('/console', { cookie: cookie.replace('__Host-', '') })).toBe(401);
    });

    it('admits over HTTP/2, where cookies come in pieces', async () => {
      const session = connectHttp2(`https://localhost:${port}`, {
        ca: certificate,
        lookup: (_, options, done) =>
          typeof options === 'object' && options.all === true
            ? done(null, [{ address: '127.0.0.1', family: 4 }])
            : done(null, '127.0.0.1', 4),
      });
      const status = await new Promise((resolve, reject) => {
        session.on('error', reject);
        const stream = session.request({ ':path': '/console/h2', cookie: ['a=1', cookie, 'b=2'] });
        stream.on('response', (headers) => resolve(headers[':status']));
        stream.on('error', reject);
        stream.resume();
      });
      session.close();
      expect(status).toBe(200);
      expect(consoleBackend.seen.at(-1)).toMatchObject({
        path: '/console/h2',
        headers: { cookie: 'a=1; b=2' },
      });
    });

    it('answers 502 on the routes of a backend that does not run, to the admitted alone', async () => {
      expect(await get('/grafana', { cookie })).toBe(502);
      expect(await get('/grafana', {})).toBe(401);
    });

    it('serves no other host', async () => {
      expect(await get('/openapi', { host: 'other.example' })).toBe(421);
      expect(await get('/login', { host: 'other.example', cookie })).toBe(421);
      const { promise, resolve } = Promise.withResolvers<string>();
      const socket = connectTls({ host: '127.0.0.1', port, servername: 'other.example' });
      socket.on('secureConnect', () => resolve('connected'));
      socket.on('error', () => resolve('refused'));
      expect(await promise).toBe('refused');
      socket.destroy();
    });

    it('sends the headers of response-headers.conf with what a backend answers', async () => {
      prefix.write(
        'sallyport/response-headers.conf',
        'add_header Strict-Transport-Security max-age=1 always;',
      );
      expect(testConfiguration(prefix, HTTP).ok).toBe(true);
      const { status } = await bash(here(RELOAD).replaceAll('nginx -', `${requirePart(NGINX)} -`));
      expect(status).toBe(0);
      for (const path of ['/healthz', '/console']) {
        const command = `curl -si -H 'Cookie: ${cookie}' https://localhost:${port}${path}`;
        // A reload is done when the new worker answers, and not before.
        await expect
          .poll(async () => (await bash(command)).stdout, RELOADED)
          .toMatch(/^HTTP\/2 200 .*^strict-transport-security: max-age=1\r$/ms);
      }
    });

    it('takes the recipe that the README has generated', async () => {
      const { status, stderr } = await bash(here(GENERATE));
      expect(stderr).toBe('');
      expect(status).toBe(0);
      expect(testConfiguration(prefix, HTTP).log).not.toMatch(/\[(?:warn|error|emerg)\]/);
      const file = readFileSync(join(prefix.path, 'sallyport/protected-none.conf'), 'utf8');
      for (const header of ['x-user-claim-department $', 'x-own-authorization "', 'x-internal "'])
        expect(file).toContain(`proxy_set_header ${header}`);
    });

    it('takes the recipe for a Unix socket, as the README makes it, once the site names no upstream for it', async () => {
      const site = join(prefix.path, 'conf.d/sallyport.conf');
      const before = readFileSync(site, 'utf8');
      expect(await bash(here(SOCKET))).toMatchObject({ status: 0, stderr: '' });
      expect(testConfiguration(prefix, HTTP).ok).toBe(false);
      writeFileSync(
        site,
        before.replaceAll(/^upstream sallyport_admin(?:_grpc)? \{.*?^\}\n/gms, ''),
      );
      expect(testConfiguration(prefix, HTTP).log).not.toMatch(/\[(?:warn|error|emerg)\]/);
      writeFileSync(site, before);
      expect(await bash(here(GENERATE))).toMatchObject({ status: 0 });
      expect(testConfiguration(prefix, HTTP).ok).toBe(true);
    });

    it('takes the recipe that keeps verdicts, as the README makes it, and the one without again', async () => {
      const [make = ''] = KEEP.split('\n');
      const file = join(prefix.path, 'sallyport/verdict-cache.conf');
      const isSound = () =>
        !/\[(?:warn|error|emerg)\]/.test(testConfiguration(prefix, HTTP).log) && existsSync(file);
      // Its own folder is for the superuser to make.
      const folder = join(prefix.path, 'verdicts');
      expect(await bash(LOOK)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\S/) });
      const { status, stderr } = await bash(here(`${make} --verdict-folder ${folder}`));
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(isSound()).toBe(true);
      expect(readFileSync(file, 'utf8')).toContain(`proxy_cache_path ${folder} `);
      expect(await bash(here(GENERATE))).toMatchObject({ status: 0 });
      expect(existsSync(file)).toBe(false);
    });
  },
);
