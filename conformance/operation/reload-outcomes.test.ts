/**
 * The configuration is changed while people work: a good one takes effect, a bad one does not.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import {
  type Service,
  startHostedService,
  startService,
  WEB_CLIENT_ID,
  WEB_CLIENT_SECRET,
} from '../wire/platform.ts';
import { configure, linesOf, ready, waitForLines } from '../wire/reloads.ts';
import { basicOf } from '../wire/sign-in.ts';
import { type LogLine, logOf, PATIENCE } from '../wire/workers.ts';
import { signIn } from './under-load.ts';

const BOTH = 'access: {groups: [core, ops]}';
const CORE = 'access: {groups: [core]}';
const OPS = 'access: {groups: [ops]}';
/** Less than the second between two looks at the file, and the second between two requests to the IdP. */
const STEP_MS = 500;

const me = async (service: Service, cookie: string): Promise<string> => {
  const { status, body } = await exchange(`${service.url}/me`, { headers: { cookie } });
  return status === 200
    ? '200'
    : `${status} ${(JSON.parse(body) as { readonly reason: string }).reason}`;
};

describe('A reload in one process', () => {
  let clock: MovedClock;
  let service: Service;
  /** Sessions of a member of each group. */
  let core: string;
  let ops: string;
  /** How many lines were written before the test. */
  let before = 0;
  beforeAll(async () => {
    clock = await startMovedClock({ movesTimers: true });
    service = await startService({}, [], { clock }, undefined, [BOTH]);
    service.idp.now = clock.now;
    core = await signIn(service, { groups: ['core'] });
    ops = await signIn(service, { groups: ['ops'] });
  });
  afterAll(async () => {
    await service.stop();
    await clock.close();
  });

  const file = () => join(service.state, 'sallyport.yaml');
  const secretFile = () => join(service.state, 'oidc_client_secret');
  const hup = () => process.kill(service.running.pid, 'SIGHUP');

  /** {@link BOTH} is in effect; lines count from here. */
  async function begin(): Promise<void> {
    const loaded = linesOf(service, 'configuration_loaded').length;
    rmSync(file(), { force: true });
    configure(service, [BOTH]);
    writeFileSync(secretFile(), WEB_CLIENT_SECRET);
    await ready(service);
    hup();
    await waitForLines(service, 'configuration_loaded', loaded + 1);
    before = logOf(service.running).length;
  }
  const lines = (wanted: string): readonly LogLine[] =>
    logOf(service.running)
      .slice(before)
      .filter(({ event }) => event === wanted);
  /** Resolves once an event was written so often, without any time being moved. */
  async function atOnce(event: string, count: number): Promise<readonly LogLine[]> {
    await expect.poll(() => lines(event).length, PATIENCE).toBeGreaterThanOrEqual(count);
    return lines(event);
  }
  /** The same for what the process does in its own time: it looks at the file, or asks the IdP again. */
  async function inTime(event: string, count: number): Promise<readonly LogLine[]> {
    const later = async () => {
      await clock.advance(STEP_MS);
      return lines(event).length;
    };
    await expect.poll(later, PATIENCE).toBeGreaterThanOrEqual(count);
    return lines(event);
  }

  it.each([
    ['', 'nothing, or comments alone'],
    ['# access: {groups: [core]}\n---\n', 'nothing, or comments alone'],
  ])(
    'to a file that holds nothing any more is refused, since without rules every person may enter: %j',
    async (text, found) => {
      await begin();
      configure(service, [CORE]);
      await inTime('configuration_loaded', 1);
      expect(await me(service, ops)).toBe('403 not_allowed');
      writeFileSync(file(), text);
      await inTime('configuration_refused', 1);
      expect(lines('configuration_refused')).toMatchObject([
        { problem: expect.stringContaining(`found ${found}`) },
      ]);
      hup();
      await atOnce('configuration_refused', 2);
      expect(await me(service, ops)).toBe('403 not_allowed');
    },
  );

  it('to a pipe is refused at once, without waiting until a process writes into it', async () => {
    await begin();
    rmSync(file());
    execFileSync('mkfifo', [file()]);
    hup();
    await atOnce('configuration_refused', 1);
    expect(await me(service, core)).toBe('200');
  });

  it.each(['SIGHUP', 'the changed file alone'])(
    'that removes a group refuses the next request of its session, and no other (%s)',
    async (how) => {
      await begin();
      // Both are remembered.
      for (const cookie of [core, ops, core, ops]) expect(await me(service, cookie)).toBe('200');
      configure(service, [OPS]);
      if (how === 'SIGHUP') hup();
      await (how === 'SIGHUP' ? atOnce : inTime)('configuration_loaded', 1);
      expect([await me(service, core), await me(service, ops)]).toEqual(['403 not_allowed', '200']);
      configure(service, [BOTH]);
      await inTime('configuration_loaded', 2);
      expect([await me(service, core), await me(service, ops)]).toEqual(['200', '200']);
    },
  );

  it('while the identity provider is away waits for it, and loses nothing of what is known', async () => {
    await begin();
    await service.idp.goDown();
    configure(service, [OPS]);
    hup();
    await atOnce('configuration_waits', 1);
    expect(await me(service, core)).toBe('200');
    expect((await exchange(`${service.url}/readyz`)).status).toBe(200);
    expect(
      (await exchange(`${service.url}/login`, { headers: { accept: 'text/html' } })).status,
    ).toBe(302);
    await service.idp.comeUp();
    await inTime('configuration_loaded', 1);
    expect(await me(service, core)).toBe('403 not_allowed');
  });

  it('while the identity provider is away is superseded by a newer one', async () => {
    await begin();
    await service.idp.goDown();
    configure(service, [OPS]);
    hup();
    await atOnce('configuration_waits', 1);
    configure(service, [BOTH]);
    hup();
    await atOnce('configuration_superseded', 1);
    await service.idp.comeUp();
    await inTime('configuration_loaded', 1);
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
  ])('of what is opened once is refused, with the keys: %j', async (added, keys) => {
    await begin();
    configure(service, [BOTH, ...added]);
    hup();
    const [refused] = await atOnce('configuration_refused', 1);
    expect(refused?.['problem']).toBe(
      `${keys}: takes effect only when the service is started again`,
    );
    expect(await me(service, core)).toBe('200');
  });

  it('of a file that is gone is refused, and mended when it is back', async () => {
    await begin();
    renameSync(file(), `${file()}.away`);
    const [refused] = await inTime('configuration_refused', 1);
    expect(refused?.['problem']).toContain('no such file');
    configure(service, [OPS]);
    await inTime('configuration_loaded', 1);
  });

  it('of a bad file by SIGHUP is reported once, though the file is watched; put back as it was it is good again', async () => {
    await begin();
    configure(service, [BOTH, 'no: such key']);
    hup();
    const [refused] = await atOnce('configuration_refused', 1);
    expect(refused).toMatchObject({ reason: 'signal', changed: null });
    // The file is looked at meanwhile.
    for (let looks = 0; looks < 4; looks += 1) await clock.advance(2 * STEP_MS);
    configure(service, [BOTH]);
    const [again] = await inTime('configuration_good_again', 1);
    expect(again).toMatchObject({ level: 'info', reason: 'file_changed' });
    configure(service, [BOTH, 'no: such key']);
    await inTime('configuration_kept', 2);
    expect(lines('configuration_refused').map(({ reason }) => reason)).toEqual([
      'signal',
      'file_changed',
    ]);
    expect(lines('configuration_loaded')).toEqual([]);
  });

  it('SIGHUP takes up a client secret that has changed, at once; a missing one is refused', async () => {
    await begin();
    writeFileSync(secretFile(), 'another-secret');
    hup();
    await atOnce('configuration_loaded', 1);
    const asked = service.idp.nextRequest('/token');
    await signIn(service, { groups: ['core'] });
    expect(basicOf(await asked)).toEqual([WEB_CLIENT_ID, 'another-secret']);
    writeFileSync(secretFile(), '');
    hup();
    const [refused] = await atOnce('configuration_refused', 1);
    expect(refused?.['problem']).toMatch(/oidc_client_secret.*an empty file/);
    expect(service.running.stderr()).not.toContain('another-secret');
  });

  it('SIGUSR2 ends nothing: it says that one process cannot take its own place', async () => {
    await begin();
    process.kill(service.running.pid, 'SIGUSR2');
    await atOnce('restart_refused', 1);
    expect(await me(service, core)).toBe('200');
  });
});

describe('SIGHUP', () => {
  it('is taken by a service without a configuration file, too', async () => {
    const service = await startHostedService();
    onTestFinished(() => service.stop());
    await ready(service);
    service.running.signal('SIGHUP');
    await waitForLines(service, 'configuration_loaded', 2);
    await expect
      .poll(async () => (await exchange(`${service.url}/readyz`)).status, PATIENCE)
      .toBe(200);
  });

  it('leaves one with useAuth false closed', async () => {
    const file = ['server: {security: {useAuth: false}}'];
    const service = await startHostedService({}, [], undefined, file);
    onTestFinished(() => service.stop());
    service.running.signal('SIGHUP');
    await waitForLines(service, 'configuration_loaded', 2);
    expect((await exchange(`${service.url}/me`)).status).toBe(404);
    expect((await exchange(`${service.url}/readyz`)).status).toBe(200);
  });
});
