/**
 * The configuration is changed while people work: a good one takes effect, a bad one does not.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type Service, startService } from '../wire/platform.ts';
import { basicOf } from '../wire/sign-in.ts';
import { PATIENCE } from '../wire/workers.ts';
import {
  asSessions,
  configure,
  expectNoneFailed,
  linesOf,
  ready,
  signIn,
  told,
  underLoad,
} from './under-load.ts';

const BOTH = 'access: {groups: [core, ops]}';
const CORE = 'access: {groups: [core]}';
const OPS = 'access: {groups: [ops]}';

const me = async (service: Service, cookie: string): Promise<string> => {
  const { status, body } = await exchange(`${service.url}/me`, { headers: { cookie } });
  return status === 200
    ? '200'
    : `${status} ${(JSON.parse(body) as { readonly reason: string }).reason}`;
};

describe('A reload in one process', () => {
  let service: Service;
  afterEach(() => service.stop());

  async function begin(file: readonly string[] = [BOTH]): Promise<readonly [string, string]> {
    service = await startService({}, [], {}, undefined, file);
    await ready(service);
    return [
      await signIn(service, { groups: ['core'] }),
      await signIn(service, { groups: ['ops'] }),
    ];
  }

  it('reload under 3,000 requests a second: 0 failed', async () => {
    const cookies = await begin();
    const { pid } = service.running;
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      for (let count = 2; count <= 5; count += 1) {
        process.kill(pid, 'SIGHUP');
        await told(service, 'configuration_loaded', count);
      }
      configure(service, [BOTH, 'rateLimit: {perMinute: 601}']);
      await told(service, 'configuration_loaded', 6);
    });
    expectNoneFailed('reload', report);
    const loaded = linesOf(service, 'configuration_loaded');
    expect(loaded.map(({ reason, changed }) => [reason, changed])).toEqual([
      ['started', undefined],
      ...Array.from({ length: 4 }, () => ['signal', []]),
      ['file_changed', ['rateLimit.perMinute']],
    ]);
    // Nobody had to connect again.
    expect(report.opened).toBeLessThanOrEqual(32);
  });

  it('a bad configuration under 3,000 requests a second: 0 failed, the old one stays, and the log says file, line and key', async () => {
    const cookies = await begin();
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      configure(service, [BOTH, 'session:', '  idleTimeout: whenever', 'acess: {groups: []}']);
      await told(service, 'configuration_refused', 1);
      process.kill(service.running.pid, 'SIGHUP');
      await told(service, 'configuration_refused', 2);
    });
    expectNoneFailed('bad configuration', report);
    const file = join(service.state, 'sallyport.yaml');
    const problem = expect.stringMatching(
      new RegExp(`^${file}:3: session.idleTimeout: found "whenever", .*; ${file}:4: acess: .*`),
    ) as unknown;
    expect(linesOf(service, 'configuration_refused')).toMatchObject([
      { reason: 'file_changed', file, problem },
      { reason: 'signal', file, problem },
    ]);
    expect(linesOf(service, 'configuration_kept')).toMatchObject([{ level: 'error', problem }, {}]);
    expect(linesOf(service, 'configuration_loaded')).toHaveLength(1);
  });

  it.each([
    ['', 'nothing, or comments alone'],
    ['# access: {groups: [core]}\n---\n', 'nothing, or comments alone'],
  ])(
    'to a file that holds nothing any more is refused, since without rules everybody may enter: %j',
    async (text, found) => {
      const [, ops] = await begin();
      configure(service, [CORE]);
      await told(service, 'configuration_loaded', 2);
      expect(await me(service, ops)).toBe('403 not_allowed');
      writeFileSync(join(service.state, 'sallyport.yaml'), text);
      await told(service, 'configuration_refused', 1);
      expect(linesOf(service, 'configuration_refused')).toMatchObject([
        { problem: expect.stringContaining(`found ${found}`) },
      ]);
      process.kill(service.running.pid, 'SIGHUP');
      await told(service, 'configuration_refused', 2);
      expect(await me(service, ops)).toBe('403 not_allowed');
    },
  );

  it('to a pipe is refused and waits for nobody to write into it', async () => {
    const [core] = await begin();
    const file = join(service.state, 'sallyport.yaml');
    rmSync(file);
    execFileSync('mkfifo', [file]);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_refused', 1);
    expect(await me(service, core)).toBe('200');
  });

  it.each(['SIGHUP', 'the changed file alone'])(
    'that removes a group refuses the next request of its session, and no other (%s)',
    async (how) => {
      const [core, ops] = await begin();
      // Both are remembered.
      for (const cookie of [core, ops, core, ops]) expect(await me(service, cookie)).toBe('200');
      configure(service, [OPS]);
      if (how === 'SIGHUP') process.kill(service.running.pid, 'SIGHUP');
      await told(service, 'configuration_loaded', 2);
      expect([await me(service, core), await me(service, ops)]).toEqual(['403 not_allowed', '200']);
      configure(service, [BOTH]);
      await told(service, 'configuration_loaded', 3);
      expect([await me(service, core), await me(service, ops)]).toEqual(['200', '200']);
    },
  );

  it('while the identity provider is away waits for it, and loses nothing of what is known', async () => {
    const [core] = await begin();
    await service.idp.goDown();
    configure(service, [OPS]);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_waits', 1);
    expect(await me(service, core)).toBe('200');
    expect((await exchange(`${service.url}/readyz`)).status).toBe(200);
    expect(
      (await exchange(`${service.url}/login`, { headers: { accept: 'text/html' } })).status,
    ).toBe(302);
    await service.idp.comeUp();
    await told(service, 'configuration_loaded', 2);
    expect(await me(service, core)).toBe('403 not_allowed');
  });

  it('while the identity provider is away is superseded by a newer one', async () => {
    const [core] = await begin();
    await service.idp.goDown();
    configure(service, [OPS]);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_waits', 1);
    configure(service, [BOTH]);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_superseded', 1);
    await service.idp.comeUp();
    await told(service, 'configuration_loaded', 2);
    expect(await me(service, core)).toBe('200');
  });

  it.each([
    [['listen: {host: 0.0.0.0}'], 'listen.host'],
    [['server: {workers: 2}'], 'server.workers'],
    [['server: {security: {useAuth: false}}'], 'server.security.useAuth'],
    [
      ['session: {store: redis, redis: {addresses: ["127.0.0.1:1"]}}'],
      'session.store, session.redis.addresses',
    ],
  ])('of what is opened once is refused, with the keys: %j', async (lines, keys) => {
    const [core] = await begin();
    configure(service, [BOTH, ...lines]);
    process.kill(service.running.pid, 'SIGHUP');
    const [refused] = await told(service, 'configuration_refused', 1);
    expect(refused?.['problem']).toBe(
      `${keys}: takes effect only when the service is started again`,
    );
    expect(await me(service, core)).toBe('200');
  });

  it('of a file that is gone is refused, and mended when it is back', async () => {
    await begin();
    const file = join(service.state, 'sallyport.yaml');
    renameSync(file, `${file}.away`);
    const [refused] = await told(service, 'configuration_refused', 1);
    expect(refused?.['problem']).toContain('no such file');
    configure(service, [OPS]);
    await told(service, 'configuration_loaded', 2);
  });

  it('of a bad file by SIGHUP is told once, though the file is watched; put back as it was it is good again', async () => {
    await begin();
    configure(service, [BOTH, 'no: such key']);
    process.kill(service.running.pid, 'SIGHUP');
    const [refused] = await told(service, 'configuration_refused', 1);
    expect(refused).toMatchObject({ reason: 'signal', changed: null });
    configure(service, [BOTH]);
    // The file was looked at meanwhile, and is looked at one after the other.
    const [again] = await told(service, 'configuration_good_again', 1);
    expect(again).toMatchObject({ level: 'info', reason: 'file_changed' });
    configure(service, [BOTH, 'no: such key']);
    await told(service, 'configuration_kept', 2);
    expect(linesOf(service, 'configuration_refused').map(({ reason }) => reason)).toEqual([
      'signal',
      'file_changed',
    ]);
    expect(linesOf(service, 'configuration_loaded')).toHaveLength(1);
  });

  it('SIGHUP takes up a client secret that has changed, at once; a missing one is refused', async () => {
    await begin();
    const secretFile = join(service.state, 'oidc_client_secret');
    writeFileSync(secretFile, 'another-secret');
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_loaded', 2);
    const asked = service.idp.nextRequest('/token');
    await signIn(service, { groups: ['core'] });
    expect(basicOf(await asked)).toEqual(['web-client', 'another-secret']);
    writeFileSync(secretFile, '');
    process.kill(service.running.pid, 'SIGHUP');
    const [refused] = await told(service, 'configuration_refused', 1);
    expect(refused?.['problem']).toMatch(/oidc_client_secret.*an empty file/);
    expect(service.running.stderr()).not.toContain('another-secret');
  });

  it('SIGUSR2 ends nothing: it says that one process cannot take its own place', async () => {
    const [core] = await begin();
    process.kill(service.running.pid, 'SIGUSR2');
    await told(service, 'restart_refused', 1);
    expect(await me(service, core)).toBe('200');
  });

  it('a service without a configuration file takes SIGHUP, too', async () => {
    service = await startService();
    await ready(service);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_loaded', 2);
    await expect
      .poll(async () => (await exchange(`${service.url}/readyz`)).status, PATIENCE)
      .toBe(200);
  });

  it('one with useAuth false is still closed after it', async () => {
    const file = ['server: {security: {useAuth: false}}'];
    service = await startService({}, [], {}, undefined, file);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_loaded', 2);
    expect((await exchange(`${service.url}/me`)).status).toBe(404);
    expect((await exchange(`${service.url}/readyz`)).status).toBe(200);
  });
});

describe('A reload with workers', () => {
  it('that removes a group refuses its session in every one of them', async () => {
    const workers = 'server: {workers: 2}';
    const service = await startService({}, [], {}, undefined, [workers, BOTH]);
    try {
      await ready(service);
      const cookie = await signIn(service, { groups: ['core'] });
      const ask = () => Promise.all(Array.from({ length: 30 }, () => me(service, cookie)));
      expect(new Set(await ask())).toEqual(new Set(['200']));
      configure(service, [workers, OPS]);
      process.kill(service.running.pid, 'SIGHUP');
      await told(service, 'configuration_loaded', 2);
      expect(new Set(await ask())).toEqual(new Set(['403 not_allowed']));
    } finally {
      await service.stop();
    }
  });
});
