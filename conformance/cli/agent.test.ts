/**
 * `sallyport agent` gives programs in any language a fresh token: `curl` is the program here.
 *
 * @module
 */

import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { PATIENCE } from '../wire/workers.ts';
import { type Home, makeHome, type UnderWay } from './command.ts';
import { type FakePlatform, startFakePlatform } from './fake-platform.ts';

const MINUTE_MS = 60_000;
const LIFETIME_SECONDS = 600;
/** No call carries a token in its last seconds. */
const MARGIN_MS = 10_000;

let clock: MovedClock;
let home: Home;
let platform: FakePlatform;
let running: UnderWay[];

beforeAll(async () => {
  clock = await startMovedClock({ movesTimers: true });
});
afterAll(() => clock.close());

/** A home, a platform and no agent yet. */
async function open(): Promise<void> {
  home = makeHome();
  platform = await startFakePlatform();
  platform.lifetime = LIFETIME_SECONDS;
  platform.refreshTokens = false;
  running = [];
  configure('service');
}

async function close(): Promise<void> {
  for (const { child } of running) child.kill('SIGTERM');
  await Promise.all(running.map(({ ended }) => ended));
  await platform.close();
  home.remove();
}

/** Gives each test of a suite its own. */
function useFresh(): void {
  beforeEach(open);
  afterEach(close);
}

const at = (name: string): string => join(home.path, name);
const CONFIG = 'agent.yaml';

function configure(clientId: string): void {
  writeFileSync(at('client_secret'), 'client-canary-secret', { mode: 0o600 });
  writeFileSync(
    at(CONFIG),
    [
      'admin:',
      `  endpoint: ${platform.url}`,
      '  insecure: true',
      'union:',
      '  auth:',
      '    enable: true',
      '    type: ClientSecret',
      `    clientId: ${clientId}`,
      `    clientSecretLocation: ${at('client_secret')}`,
    ].join('\n'),
  );
}

function launch(...args: readonly string[]): UnderWay {
  const started = home.start(['agent', '--config', CONFIG, ...args], clock.environment);
  running.push(started);
  return started;
}

/** Starts an agent that has its first token. */
async function startAgent(...args: readonly string[]): Promise<UnderWay> {
  const started = launch(...args);
  await started.says(/agent_listening|problem|sallyport: /);
  // Services that start together do not come together: up to three seconds.
  await clock.advance(3_000);
  await started.says(/^ready /m);
  return started;
}

/** What `curl` printed: the body, and the status. */
async function curl(...args: readonly string[]): Promise<{ status: number; body: string }> {
  const child = spawn('curl', ['-sS', '-w', '\n%{http_code}', '--max-time', '20', ...args]);
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`curl ended with ${String(code)}: ${said}`);
  const cut = out.lastIndexOf('\n');
  return { status: Number(out.slice(cut + 1)), body: out.slice(0, cut) };
}

describe('An hour of moved clock', () => {
  useFresh();

  it('a program written with nothing but curl lives on the socket: every call is admitted, no token is used in its last 10 s, and requests are as few as lifetimes imply', async () => {
    const agent = await startAgent('--socket', 'run/agent.sock');
    for (let minute = 0; minute < 60; minute += 1) {
      const { status, body } = await curl(
        '--unix-socket',
        at('run/agent.sock'),
        'http://localhost/token',
      );
      expect(status).toBe(200);
      const token = JSON.parse(body) as Record<string, string>;
      expect(token).toMatchObject({ header: 'core-authorization', token_type: 'Bearer' });
      expect(Date.parse(token['expires_at'] ?? '') - clock.now()).toBeGreaterThan(MARGIN_MS);
      const line = `${token['header']}: Bearer ${token['access_token']}`;
      expect((await curl('-H', line, `${platform.url}/me`)).status).toBe(200);
      await clock.advance(MINUTE_MS);
    }
    // A window of half a lifetime at most: between one in five and one in ten minutes.
    expect(platform.count('/token')).toBeGreaterThanOrEqual(6);
    expect(platform.count('/token')).toBeLessThanOrEqual(13);
    agent.child.kill('SIGTERM');
    const { code, stdout, stderr } = await agent.ended;
    expect(code).toBe(0);
    expect(stdout).toBe(`ready unix:${at('run/agent.sock')}\n`);
    for (const secret of platform.secrets) expect(stderr).not.toContain(secret);
    expect(stderr).not.toContain('canary');
    expect(existsSync(at('run/agent.sock'))).toBe(false);
  });

  it('a program written with nothing but curl lives on the token file with --header', async () => {
    const agent = await startAgent('--token-file', 'token', '--header');
    expect(lstatSync(at('token')).mode & 0o777).toBe(0o600);
    // Renewed after 5 to 7.5 minutes: in 8 once.
    for (let minute = 0; minute <= 60; minute += 8) {
      expect((await curl('-H', `@${at('token')}`, `${platform.url}/me`)).status).toBe(200);
      const before = readFileSync(at('token'), 'utf8');
      await clock.advance(8 * MINUTE_MS);
      await expect.poll(() => readFileSync(at('token'), 'utf8'), PATIENCE).not.toBe(before);
    }
    agent.child.kill('SIGINT');
    expect((await agent.ended).code).toBe(0);
    expect(existsSync(at('token'))).toBe(false);
  });
});

describe('Doors of the agent', () => {
  let agent: UnderWay;
  let url: string;
  let capability: string;
  let scrapes: string;
  const onSocket = (path: string, ...more: readonly string[]) =>
    curl('--unix-socket', at('run/agent.sock'), ...more, `http://localhost${path}`);
  const onLoopback = (path: string, ...more: readonly string[]) => curl(...more, `${url}${path}`);

  beforeAll(async () => {
    await open();
    const loopback = ['--listen', '127.0.0.1:0', '--capability-file', 'capability'];
    const places = ['--socket', 'run/agent.sock', ...loopback, '--metrics', '127.0.0.1:0'];
    agent = await startAgent(...places);
    const said = await agent.says('ready ');
    url = /^ready \S+ (http:\S+) /m.exec(said)?.[1] ?? '';
    scrapes = /^ready .* (http:\S+\/metrics)$/m.exec(said)?.[1] ?? '';
    capability = readFileSync(at('capability'), 'utf8').trimEnd();
  });
  afterAll(close);

  it('the socket has mode 0600 in a folder of 0700, so that no other user can connect', () => {
    expect(lstatSync(at('run/agent.sock')).mode & 0o777).toBe(0o600);
    expect(lstatSync(at('run')).mode & 0o777).toBe(0o700);
    expect(lstatSync(at('capability')).mode & 0o777).toBe(0o600);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'another user can neither connect to the socket nor read the capability, and this one can',
    () => {
      // Else the home itself, and not what the agent made, would keep that user out.
      chmodSync(home.path, 0o755);
      const OTHER_USER = 65_534;
      const commands = [
        ['curl', '-sS', '--unix-socket', at('run/agent.sock'), 'http://localhost/token'],
        ['cat', at('capability')],
      ] as const;
      for (const [program, ...args] of commands) {
        const foreign = spawnSync(program, args, { uid: OTHER_USER, gid: OTHER_USER });
        expect(foreign.status).not.toBe(0);
        expect(foreign.stdout.toString()).toBe('');
        expect(spawnSync(program, args).status).toBe(0);
      }
    },
  );

  it('the socket gives the header line, and says its health without a token', async () => {
    const line = (await onSocket('/header')).body.trimEnd();
    expect(line).toMatch(/^core-authorization: Bearer access-canary-\w+$/);
    expect((await curl('-H', line, `${platform.url}/me`)).status).toBe(200);
    expect(await onSocket('/healthz')).toEqual({ status: 200, body: '{"status":"ok"}\n' });
    expect(await onSocket('/readyz')).toEqual({ status: 200, body: '{"status":"ready"}\n' });
    expect(line).toBe(
      `core-authorization: Bearer ${(await onSocket('/access-token')).body.trimEnd()}`,
    );
    expect((await onSocket('/token', '-X', 'POST')).status).toBe(405);
    expect((await onSocket('/else')).status).toBe(404);
  });

  it('metrics say how old the token is, when it ends and how often it was obtained, and hold no secret', async () => {
    const { status, body } = await curl(scrapes);
    expect(status).toBe(200);
    expect(body).toMatch(/^sallyport_agent_ready 1$/m);
    expect(body).toMatch(/^sallyport_agent_tokens_total 1$/m);
    expect(body).toMatch(/^sallyport_agent_failures_total 0$/m);
    expect(body).toMatch(/^sallyport_agent_token_age_seconds \d/m);
    const [, end = ''] = /^sallyport_agent_token_expiry_timestamp_seconds (\d+)/m.exec(body) ?? [];
    expect(Number(end) * 1_000).toBeGreaterThan(clock.now());
    expect(body).not.toContain('canary');
  });

  it('a program that shows the capability gets the token on the loopback, and one that shows none or another does not', async () => {
    expect((await onLoopback('/token', '-H', `@${at('capability')}`)).status).toBe(200);
    const [name = '', value = ''] = capability.split(': ');
    const wrong = [
      [],
      ['-H', `${name}: ${'A'.repeat(value.length)}`],
      ['-H', `${name}: ${value}x`],
      ['-H', capability, '-H', `${name}: other`],
    ];
    for (const headers of wrong)
      for (const path of ['/token', '/header', '/readyz', '/healthz']) {
        const refused = await onLoopback(path, ...headers);
        expect(refused.status).toBe(401);
        expect(refused.body).not.toContain('canary');
      }
  });

  it.each([
    ['Origin', 'null', 403],
    ['Origin', 'http://localhost', 403],
    ['Sec-Fetch-Site', 'none', 403],
    ['Sec-Fetch-Site', 'same-origin', 403],
    ['Sec-Fetch-Dest', 'document', 403],
    ['Host', 'attacker.example', 421],
    ['Host', 'localhost', 421],
  ])('refuses %s: %s even with the capability', async (name, value, status) => {
    const sent = ['-H', `${name}: ${value}`] as const;
    const refused = await onLoopback('/token', '-H', capability, ...sent);
    expect(refused.status).toBe(status);
    expect(refused.body).not.toContain('canary');
    expect(await agent.says('agent_request_refused')).not.toContain('canary');
    expect((await curl(scrapes)).body).toMatch(/^sallyport_agent_refused_requests_total [1-9]/m);
    // A Unix socket has no name that could be made to lead elsewhere.
    expect((await onSocket('/token', ...sent)).status).toBe(status === 421 ? 200 : status);
  });
});

describe('Places of the agent', () => {
  useFresh();

  const last = (): UnderWay => running.at(-1) as UnderWay;

  it('a socket on which another agent answers is left to it, and one that a killed agent left is taken over', async () => {
    const first = await startAgent('--socket', 'run/agent.sock');
    launch('--socket', 'run/agent.sock');
    const refused = await last().ended;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--socket: another program answers on this socket');
    const ask = () => curl('--unix-socket', at('run/agent.sock'), 'http://localhost/token');
    expect((await ask()).status).toBe(200);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(existsSync(at('run/agent.sock'))).toBe(true);
    await startAgent('--socket', 'run/agent.sock');
    expect((await ask()).status).toBe(200);
  });

  it('a token file that another agent keeps is left to it, and the token of a killed one is removed', async () => {
    const first = await startAgent('--token-file', 'token');
    const kept = readFileSync(at('token'), 'utf8');
    expect(platform.secrets.has(kept)).toBe(true);
    launch('--token-file', 'token');
    const refused = await last().ended;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--token-file: another agent keeps this file');
    expect(readFileSync(at('token'), 'utf8')).toBe(kept);
    first.child.kill('SIGKILL');
    await first.ended;
    platform.answers.set('/token', () => ({ status: 503, body: {} }));
    const second = launch('--token-file', 'token');
    await second.says('agent_listening');
    expect(existsSync(at('token'))).toBe(false);
  });

  it('a file that holds something else is left alone, and so are a link and a folder that is open to others', async () => {
    writeFileSync(at('notes'), 'two words', { mode: 0o600 });
    writeFileSync(at('password'), 'hunter2-canary', { mode: 0o600 });
    const listen = ['--listen', '127.0.0.1:0', '--capability-file'] as const;
    const before = readFileSync(at(CONFIG), 'utf8');
    symlinkSync(at('notes'), at('link'));
    mkdirSync(at('open'));
    chmodSync(at('open'), 0o755);
    for (const [args, said] of [
      [['--token-file', 'notes'], 'found something else than a token'],
      [['--token-file', 'password'], 'found something else than a token'],
      [['--token-file', 'link'], 'found a symbolic link'],
      [['--token-file', 'client_secret'], 'found something else than a token'],
      [[...listen, 'password'], 'found something else than a capability'],
      [[...listen, 'client_secret'], 'found something else than a capability'],
      [[...listen, 'link'], 'found a symbolic link'],
      [['--socket', 'open/agent.sock'], 'its folder is open to others (mode 755)'],
    ] as const) {
      const { code, stderr } = await launch(...args).ended;
      expect(code).toBe(1);
      expect(stderr).toContain(said);
    }
    expect(readFileSync(at('notes'), 'utf8')).toBe('two words');
    expect(readFileSync(at('password'), 'utf8')).toBe('hunter2-canary');
    expect(readFileSync(at('client_secret'), 'utf8')).toBe('client-canary-secret');
    expect(readFileSync(at(CONFIG), 'utf8')).toBe(before);
  });

  it('options that do not fit together are wrong usage', async () => {
    const { code, stderr } = await launch('--listen', '127.0.0.1:0').ended;
    expect(code).toBe(2);
    expect(stderr).toContain('--listen needs --capability-file');
  });
});

describe('Outages and reloads of the agent', () => {
  useFresh();

  const ask = (path: string) =>
    curl('--unix-socket', at('run/agent.sock'), `http://localhost${path}`);

  it('without a token it answers 503 with since when and why, and recovers without a restart', async () => {
    platform.answers.set('/token', () => ({ status: 401, body: { error: 'invalid_client' } }));
    const agent = launch('--socket', 'run/agent.sock', '--token-file', 'token');
    await agent.says('agent_listening');
    await clock.advance(3_000);
    await agent.says('token_unavailable');
    const refused = await ask('/token');
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({
      reason: 'invalid_client',
      title: expect.stringMatching(/^No token was obtained since \d{4}-.*Z: /),
    });
    const waiting = await ask('/readyz');
    expect(waiting.status).toBe(503);
    expect(JSON.parse(waiting.body)).toMatchObject({ status: 'not_ready', waiting_for: ['token'] });
    expect((await ask('/healthz')).status).toBe(200);
    platform.answers.delete('/token');
    await clock.advance(MINUTE_MS);
    await agent.says(/^ready /m);
    expect((await ask('/token')).status).toBe(200);
    expect(existsSync(at('token'))).toBe(true);
    const all = await agent.says('token_obtained');
    expect(all).not.toContain('canary');
  });

  it('the token file is gone before its token ends, and there again once there is another', async () => {
    await startAgent('--token-file', 'token');
    platform.answers.set('/token', () => ({ status: 503, body: {} }));
    await clock.advance(8 * MINUTE_MS);
    expect(existsSync(at('token'))).toBe(true);
    await clock.advance(2 * MINUTE_MS);
    await expect.poll(() => existsSync(at('token')), PATIENCE).toBe(false);
    platform.answers.delete('/token');
    await clock.advance(2 * MINUTE_MS);
    await expect.poll(() => existsSync(at('token')), PATIENCE).toBe(true);
  });

  it('SIGHUP with a good configuration takes effect, and a bad one keeps the one before and says why', async () => {
    const agent = await startAgent('--socket', 'run/agent.sock', '--token-file', 'token');
    const first = readFileSync(at('token'), 'utf8');
    writeFileSync(at(CONFIG), 'union: {auth: {type: Magic}}');
    agent.child.kill('SIGHUP');
    await agent.says('configuration_kept');
    expect((await ask('/token')).status).toBe(200);
    platform.answers.set('/token', ({ headers }) => {
      const [, basic = ''] = String(headers.authorization).split(' ');
      const [id] = Buffer.from(basic, 'base64').toString().split(':');
      return id === 'other'
        ? {
            status: 200,
            body: { access_token: 'of-the-other', token_type: 'Bearer', expires_in: 600 },
          }
        : { status: 401, body: { error: 'invalid_client' } };
    });
    configure('unknown');
    agent.child.kill('SIGHUP');
    await expect
      .poll(async () => {
        await clock.advance(3_000);
        return (await agent.says('configuration_kept')).split('"configuration_kept"').length;
      }, PATIENCE)
      .toBe(3);
    expect(readFileSync(at('token'), 'utf8')).toBe(first);
    configure('other');
    agent.child.kill('SIGHUP');
    await expect
      .poll(async () => {
        await clock.advance(3_000);
        return readFileSync(at('token'), 'utf8');
      }, PATIENCE)
      .toBe('of-the-other');
    expect((await ask('/token')).body).toContain('of-the-other');
  });
});
