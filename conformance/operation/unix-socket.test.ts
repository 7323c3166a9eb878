/**
 * A service on a Unix socket does what one on a port does; a bridge stands where nginx would.
 *
 * @module
 */

import { existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type Service, startService } from '../wire/platform.ts';
import { ready, told } from '../wire/reloads.ts';
import { signIn } from './under-load.ts';

const CLIENT = '203.0.113.9';

describe('Serve on a Unix socket', () => {
  let folder: string;
  let path: string;
  const ends: (() => unknown)[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-unix-'));
    path = join(folder, 'sallyport.sock');
  });
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    rmSync(folder, { recursive: true, force: true });
  });

  async function begin(...lines: readonly string[]): Promise<Service> {
    const file = [`server: {listen: "unix:${path}"${lines.join('')}}`, 'trustedProxies: [unix]'];
    const service = await startService({}, [], {}, undefined, file);
    ends.push(() => service.stop());
    await bridge(service);
    await ready(service);
    return service;
  }

  /** Takes connections on the port of the service's URL to the socket. */
  async function bridge({ url }: Service): Promise<void> {
    const server: Server = createServer((client) => {
      const upstream = connect(path);
      client.pipe(upstream).pipe(client);
      client.on('error', () => upstream.destroy());
      upstream.on('error', () => client.destroy());
    });
    await new Promise<void>((resolve) =>
      server.listen(Number(new URL(url).port), '127.0.0.1', resolve),
    );
    ends.push(() => server.close());
  }
  const me = async (service: Service, headers: Readonly<Record<string, string>> = {}) =>
    (await exchange(`${service.url}/me`, { headers })).status;

  it.each(['', ', workers: 2'])(
    'signs people in, tells them apart by the address that nginx forwards, and goes when it ends (%j)',
    async (workers) => {
      const service = await begin(workers);
      expect(service.running.stdout()).toBe(`ready unix:${path}\n`);
      expect(lstatSync(path).mode & 0o777).toBe(0o660);
      expect(await me(service)).toBe(401);
      expect(await me(service, { cookie: await signIn(service) })).toBe(200);
      const bad = { authorization: 'Bearer a.b.c', 'x-forwarded-for': `10.0.0.1, ${CLIENT}` };
      expect(await me(service, bad)).toBe(401);
      const [refused] = await told(service, 'bearer_refused', 1);
      expect(refused?.['address']).toBe(CLIENT);
      expect(await service.running.stop()).toBe(0);
      expect(existsSync(path)).toBe(false);
    },
  );

  it('is not told from where a request comes unless it trusts the socket', async () => {
    const file = [`server: {listen: "unix:${path}"}`, 'trustedProxies: [127.0.0.1]'];
    const service = await startService({}, [], {}, undefined, file);
    ends.push(() => service.stop());
    await bridge(service);
    await ready(service);
    await me(service, { authorization: 'Bearer a.b.c', 'x-forwarded-for': CLIENT });
    const [refused] = await told(service, 'bearer_refused', 1);
    expect(refused?.['address']).toBeNull();
  });

  it('a rolling restart and a reload leave no request unanswered', async () => {
    const service = await begin(', workers: 2');
    const cookie = await signIn(service);
    let isOver = false;
    const statuses = new Set<number>();
    const asking = (async () => {
      while (!isOver) statuses.add(await me(service, { cookie }));
    })();
    asking.catch(() => {});
    process.kill(service.running.pid, 'SIGUSR2');
    await told(service, 'restart_done', 1);
    process.kill(service.running.pid, 'SIGHUP');
    await told(service, 'configuration_loaded', 1);
    isOver = true;
    await asking;
    expect([...statuses]).toEqual([200]);
  });

  it('takes over what a killed process has left, and nothing of one that answers', async () => {
    const first = await begin();
    const second = startService({}, [], {}, undefined, [`server: {listen: "unix:${path}"}`]);
    await expect(second).rejects.toThrow(/SP_PORT_IN_USE/);
    expect(await me(first)).toBe(401);
    await first.running.kill();
    expect(existsSync(path)).toBe(true);
    const third = await begin();
    expect(await me(third)).toBe(401);
  });
});
