/**
 * A service on a Unix socket does what one on a port does; a bridge stands where nginx would.
 *
 * @module
 */

import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type Service, startService } from '../wire/platform.ts';
import { fromNow, ready, reconfigure } from '../wire/reloads.ts';
import { signIn } from './under-load.ts';

const CLIENT = '203.0.113.9';
const TRUSTED = 'trustedProxies: [unix]';
/** Between two requests during a roll: new workers need the processor to start. */
const BETWEEN_MS = 2;

describe('Serve on a Unix socket', () => {
  let folder: string;
  let path: string;
  let service: Service;
  let server: Server;

  /** Starts the service of a suite, and a bridge; ends both after the last test. */
  function serveWith(...lines: readonly string[]): void {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sallyport-unix-'));
      path = join(folder, 'sallyport.sock');
      const file = [`server: {listen: "unix:${path}"${lines.join('')}}`, TRUSTED];
      service = await startService({}, [], {}, undefined, file);
      server = await bridge(service);
      await ready(service);
    });
    afterAll(async () => {
      await service.stop();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** Takes connections on the port of the service's URL to the socket. */
  async function bridge({ url }: Service): Promise<Server> {
    const bridging = createServer((client) => {
      const upstream = connect(path);
      client.pipe(upstream).pipe(client);
      client.on('error', () => upstream.destroy());
      upstream.on('error', () => client.destroy());
    });
    await new Promise<void>((resolve) =>
      bridging.listen(Number(new URL(url).port), '127.0.0.1', resolve),
    );
    return bridging;
  }
  const me = async (headers: Readonly<Record<string, string>> = {}) =>
    (await exchange(`${service.url}/me`, { headers })).status;

  function testWholeLife(): void {
    it('signs people in, logs the client address that nginx forwards, and is removed when the process ends', async () => {
      const log = fromNow(service);
      expect(service.running.stdout()).toBe(`ready unix:${path}\n`);
      expect(lstatSync(path).mode & 0o777).toBe(0o660);
      expect(await me()).toBe(401);
      expect(await me({ cookie: await signIn(service) })).toBe(200);
      const bad = { authorization: 'Bearer a.b.c', 'x-forwarded-for': `10.0.0.1, ${CLIENT}` };
      expect(await me(bad)).toBe(401);
      const [refused] = await log.waitForLines('bearer_refused', 1);
      expect(refused?.['address']).toBe(CLIENT);
      expect(await service.running.stop()).toBe(0);
      expect(existsSync(path)).toBe(false);
    });
  }

  describe('with one process', () => {
    serveWith();

    it('takes over what a killed process has left, and nothing of one that answers', async () => {
      const second = startService({}, [], {}, undefined, [`server: {listen: "unix:${path}"}`]);
      await expect(second).rejects.toThrow(/SP_PORT_IN_USE/);
      expect(await me()).toBe(401);
      await service.running.kill();
      expect(existsSync(path)).toBe(true);
      service = await service.restart();
      await ready(service);
      expect(await me()).toBe(401);
    });

    it('logs no address of the client unless it trusts the socket', async () => {
      const [listen = ''] = readFileSync(join(service.state, 'sallyport.yaml'), 'utf8').split('\n');
      await reconfigure(service, [listen, 'trustedProxies: [127.0.0.1]']);
      const log = fromNow(service);
      await me({ authorization: 'Bearer a.b.c', 'x-forwarded-for': CLIENT });
      const [refused] = await log.waitForLines('bearer_refused', 1);
      expect(refused?.['address']).toBeNull();
      await reconfigure(service, [listen, TRUSTED]);
    });

    testWholeLife();
  });

  describe('with workers', () => {
    serveWith(', workers: 2');

    it('a rolling restart and a reload leave no request unanswered', async () => {
      const cookie = await signIn(service);
      const log = fromNow(service);
      let isOver = false;
      const statuses = new Set<number>();
      const asking = (async () => {
        while (!isOver) {
          statuses.add(await me({ cookie }));
          await pause(BETWEEN_MS);
        }
      })();
      asking.catch(() => {});
      process.kill(service.running.pid, 'SIGUSR2');
      await log.waitForLines('restart_done', 1);
      process.kill(service.running.pid, 'SIGHUP');
      await log.waitForLines('configuration_loaded', 1);
      isOver = true;
      await asking;
      expect([...statuses]).toEqual([200]);
    });

    testWholeLife();
  });
});
