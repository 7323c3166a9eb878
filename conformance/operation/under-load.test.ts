/**
 * Configuration, keys and workers change while 3,000 requests a second are answered, and no request fails.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { honestAnswer } from '@sallyport/testing/idp/fake-idp';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCommandHost } from '../cli/command-host.ts';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { exchange } from '../wire/exchange.ts';
import { rs256 } from '../wire/forge.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startService } from '../wire/platform.ts';
import { configure, fromNow, ready, reconfigure } from '../wire/reloads.ts';
import { allEnded, isRunning, PATIENCE, workersOf } from '../wire/workers.ts';
import { asSessions, CONNECTIONS, expectNoneFailed, signIn, underLoad } from './under-load.ts';

/** After so long a new key seals. */
const SEALS_AFTER_MS = 600_000;
/** Within this time the IdP is asked for an unknown key once. */
const COOL_DOWN_MS = 30_000;
const ROTATIONS = 2;
const WORKERS = 2;
const BOTH = 'access: {groups: [core, ops]}';
const GROUPS = ['core', 'ops'];

interface Ring {
  readonly keys: readonly { readonly kid: string }[];
}

let clock: MovedClock;
let service: Service;
let commands: ReturnType<typeof createCommandHost>;
beforeAll(async () => {
  clock = await startMovedClock();
  commands = createCommandHost(clock);
});
afterAll(async () => {
  commands.stop();
  await clock.close();
});

/** Starts the service of a suite, and ends it after the last test. */
function serveWith(lines: readonly string[]): void {
  beforeAll(async () => {
    service = await startService({}, [], { clock }, undefined, lines);
    service.idp.now = clock.now;
    // No session is renewed on the way: what was sealed with the first key is opened to the end.
    service.idp.answer = (idToken) => ({
      body: honestAnswer(idToken, 'access-token-of-ada', { refresh_token: undefined }),
    });
    await ready(service);
  });
  afterAll(() => service.stop());
}

/** Sessions of a member of each group. */
async function signInBoth(): Promise<readonly string[]> {
  const cookies = [];
  for (const group of GROUPS) {
    service.idp.userInfo = { groups: [group] };
    cookies.push(await signIn(service));
  }
  return cookies;
}
const kids = (): readonly string[] =>
  (JSON.parse(readFileSync(join(service.state, 'key-ring.json'), 'utf8')) as Ring).keys.map(
    ({ kid }) => kid,
  );

/** What holds for one process as it does for workers. */
function testKeyRotation(processes: number): void {
  it('key rotation under 3,000 requests a second: 0 failed', async () => {
    const cookies = await signInBoth();
    const [first] = kids();
    const log = fromNow(service);
    const environment = {
      PUBLIC_URL: service.url,
      OIDC_BASE_URL: service.idp.issuer,
      OIDC_CLIENT_ID: 'web-client',
      CLI_CLIENT_ID: 'cli-client',
      SALLYPORT_STATE_DIRECTORY: service.state,
    };
    const report = await underLoad(service.url, asSessions(cookies), async (load) => {
      for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
        const { code } = await commands.run(['rotate-keys'], environment, service.state);
        expect(code).toBe(0);
        // A process looks at the ring when it is asked, and all connections of the load may be those of one.
        const areLoaded = async () => {
          await exchange(`${service.url}/me`, { headers: { cookie: cookies[0] ?? '' } });
          return log.linesOf('key_ring_loaded').length;
        };
        await expect.poll(areLoaded, PATIENCE).toBeGreaterThanOrEqual(rotation * processes);
        await clock.advance(SEALS_AFTER_MS + 1_000);
        // Sealed with the new key, from now on asked for with the others.
        await signIn(service);
        const { ok } = load;
        const seen = ok();
        await expect.poll(ok).toBeGreaterThan(seen + 500);
      }
    });
    expectNoneFailed(`key rotation, ${processes} serving`, report);
    expect(kids()).toHaveLength(ROTATIONS + 1);
    expect(kids()).toContain(first);
    const newest = await signIn(service);
    for (const cookie of [...cookies, newest])
      expect((await exchange(`${service.url}/me`, { headers: { cookie } })).status).toBe(200);
  });

  it("rotation of the identity provider's signing key under 3,000 requests a second: 0 failed", async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const { idp, url } = service;
    const seconds = Math.floor(clock.now() / 1_000);
    const claims = { iat: seconds, exp: seconds + 600, groups: GROUPS };
    const bearer = (token: string) => ({
      path: '/me',
      headers: { [BEARER_HEADER]: `Bearer ${token}` },
    });
    const old = await accessToken(idp, url, claims);
    const fresh = await accessToken(idp, url, claims, { kid: 'k2' }, rs256(privateKey));
    const ask = async (token: string) =>
      (await exchange(`${url}/me`, { headers: bearer(token).headers })).status;
    // The negative twin: before its key is published, a token is refused.
    expect([await ask(old), await ask(fresh)]).toEqual([200, 401]);

    const report = await underLoad(url, [bearer(old)], async () => {
      idp.keys = [{ ...(await exportJWK(publicKey)), kid: 'k2', alg: 'RS256', use: 'sig' }];
      await clock.advance(COOL_DOWN_MS + 1_000);
      const statuses = new Set<number>();
      // Each process fetches the key with the first token that names it.
      for (let count = 0; count < 40; count += 1) statuses.add(await ask(fresh));
      expect(statuses).toEqual(new Set([200]));
    });
    const later = await underLoad(url, [bearer(old), bearer(fresh)], async () => {});
    expectNoneFailed(`signing key rotation, ${processes} serving`, report);
    expectNoneFailed(`both signing keys, ${processes} serving`, later);
  });
}

describe('One process', () => {
  serveWith([BOTH]);

  it('reload under 3,000 requests a second: 0 failed', async () => {
    const cookies = await signInBoth();
    const log = fromNow(service);
    const { pid } = service.running;
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      for (const count of [1, 2]) {
        process.kill(pid, 'SIGHUP');
        await log.waitForLines('configuration_loaded', count);
      }
      configure(service, [BOTH, 'rateLimit: {perMinute: 601}']);
      await log.waitForLines('configuration_loaded', 3);
    });
    expectNoneFailed('reload', report);
    const loaded = log.linesOf('configuration_loaded');
    expect(loaded.map(({ reason, changed }) => [reason, changed])).toEqual([
      ['signal', []],
      ['signal', []],
      ['file_changed', ['rateLimit.perMinute']],
    ]);
    // No connection was closed.
    expect(report.opened).toBeLessThanOrEqual(CONNECTIONS);
  });

  it('a bad configuration under 3,000 requests a second: 0 failed, the old one stays, and the log says file, line and key', async () => {
    const cookies = await signInBoth();
    const log = fromNow(service);
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      configure(service, [BOTH, 'session:', '  idleTimeout: whenever', 'acess: {groups: []}']);
      await log.waitForLines('configuration_refused', 1);
      process.kill(service.running.pid, 'SIGHUP');
      await log.waitForLines('configuration_refused', 2);
    });
    expectNoneFailed('bad configuration', report);
    const file = join(service.state, 'sallyport.yaml');
    const problem = expect.stringMatching(
      new RegExp(`^${file}:3: session.idleTimeout: found "whenever", .*; ${file}:4: acess: .*`),
    ) as unknown;
    expect(log.linesOf('configuration_refused')).toMatchObject([
      { reason: 'file_changed', file, problem },
      { reason: 'signal', file, problem },
    ]);
    expect(log.linesOf('configuration_kept')).toMatchObject([{ level: 'error', problem }, {}]);
    expect(log.linesOf('configuration_loaded')).toEqual([]);
    await reconfigure(service, [BOTH]);
  });

  testKeyRotation(1);

  it('SIGTERM under 3,000 requests a second: every answer that began is whole, and all that fails are connections refused after it', async () => {
    const report = await underLoad(service.url, asSessions(await signInBoth()), async () => {
      expect(await service.running.stop()).toBe(0);
    });
    expect(Object.keys(report.failed)).toEqual(['ECONNREFUSED']);
    expect(report.ok + (report.failed['ECONNREFUSED'] ?? 0)).toBe(report.asked);
    expect(report.ok).toBeGreaterThan(700);
  });

  it('while SIGKILL under the same load loses answers or refuses connections: what fails is counted', async () => {
    service = await service.restart();
    await ready(service);
    const cookies = asSessions(await signInBoth());
    const report = await underLoad(service.url, cookies, () => service.running.kill());
    expect(report.failed['ECONNREFUSED']).toBeGreaterThan(100);
  });
});

describe('Two workers', () => {
  const FILE = [`server: {workers: ${WORKERS}}`, BOTH];
  serveWith(FILE);
  const pids = () => [...workersOf(service.running).values()];

  it('rolling restart under 3,000 requests a second: 0 failed', async () => {
    const cookies = await signInBoth();
    const before = pids();
    const log = fromNow(service);
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      process.kill(service.running.pid, 'SIGUSR2');
      await log.waitForLines('restart_done', 1);
    });
    expectNoneFailed('rolling restart', report);
    const after = pids();
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    expect(after.filter(isRunning)).toHaveLength(WORKERS);
    await allEnded(before);
    for (const event of ['worker_ended', 'worker_killed', 'sweep_failed', 'verdict_undecided'])
      expect(log.linesOf(event)).toEqual([]);
    expect(service.running.stdout()).toBe(`ready ${service.running.url}\n`);
  });

  it('reload with workers under 3,000 requests a second: 0 failed', async () => {
    const cookies = await signInBoth();
    const before = pids();
    const log = fromNow(service);
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      configure(service, [...FILE, 'rateLimit: {perMinute: 601}']);
      await log.waitForLines('configuration_loaded', 1);
    });
    expectNoneFailed('reload with workers', report);
    expect(log.linesOf('configuration_loaded')[0]).toMatchObject({
      reason: 'file_changed',
      changed: ['rateLimit.perMinute'],
    });
    expect(pids().filter((pid) => before.includes(pid))).toEqual([]);
  });

  it('a new configuration with which no worker can start ends the roll: the old ones stay, and the log says why', async () => {
    const cookies = await signInBoth();
    const before = pids();
    const log = fromNow(service);
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      configure(service, [
        ...FILE,
        'bearer: {introspection: {endpoint: http://127.0.0.1:9, clientId: c, clientSecretFile: ./nowhere}}',
      ]);
      await log.waitForLines('configuration_refused', 1);
    });
    expectNoneFailed('roll that cannot be', report);
    expect(log.linesOf('configuration_refused')).toMatchObject([
      {
        problem: expect.stringMatching(/^worker 1 could not be replaced: .*nowhere.*no such file/),
      },
    ]);
    expect(pids()).toEqual(before);
    expect(before.filter(isRunning)).toEqual(before);
    await reconfigure(service, FILE);
  });

  testKeyRotation(WORKERS);

  it('workers that are killed under the same load fail requests: what fails is counted', async () => {
    const cookies = await signInBoth();
    const report = await underLoad(service.url, asSessions(cookies), async (load) => {
      for (let round = 0; Object.keys(load.failed()).length === 0 && round < 5; round += 1) {
        const killed = pids();
        for (const pid of killed) process.kill(pid, 'SIGKILL');
        await expect
          .poll(() => pids().filter((pid) => !killed.includes(pid)).length, PATIENCE)
          .toBe(WORKERS);
      }
    });
    expect(Object.keys(report.failed)).not.toEqual([]);
    expect(report.ok).toBeLessThan(report.asked);
  });
});
