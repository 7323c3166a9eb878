/**
 * A process that is asked to end finishes what it has begun, and says so to clients that can go elsewhere.
 * What happens under load is in `under-load.test.ts`.
 *
 * @module
 */

import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isTaken } from '@sallyport/testing/wire/ports';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { callGrpc } from '../wire/grpc.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startHostedService, startService } from '../wire/platform.ts';
import { ready, waitForLines } from '../wire/reloads.ts';
import { PATIENCE } from '../wire/workers.ts';
import { signIn } from './under-load.ts';

const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
const DRAIN_MS = 5_000;

describe('SIGTERM', () => {
  let service: Service;
  let clock: MovedClock | undefined;
  afterEach(async () => {
    await service.stop();
    await clock?.close();
    clock = undefined;
  });

  async function begin(environment: Readonly<Record<string, string>> = {}): Promise<string> {
    service = await startService(environment, [], { clock });
    await ready(service);
    return signIn(service);
  }
  const isClosed = () =>
    expect.poll(() => isTaken(Number(new URL(service.url).port)), PATIENCE).toBe(false);

  it('closes the port right away, answers the next request on a kept connection, says that it was the last, and closes it', async () => {
    const cookie = await begin();
    const kept = await keep(service.url, cookie);
    expect(await kept.ask()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: keep-alive\r\n/);
    const code = service.running.stop();
    await isClosed();
    expect(await kept.ask()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/);
    await kept.closed;
    expect(await code).toBe(0);
  });

  it('closes a kept connection that stays at rest, and ends in seconds', async () => {
    const cookie = await begin();
    const kept = await keep(service.url, cookie);
    await kept.ask();
    const begun = performance.now();
    expect(await service.running.stop()).toBe(0);
    await kept.closed;
    expect(performance.now() - begun).toBeLessThan(8_000);
  });

  it.each(['1', '2'])(
    'with server.drainDelay says at once that it drains, over HTTP and gRPC, and takes connections meanwhile (%s serving)',
    async (workers) => {
      clock = await startMovedClock({ movesTimers: true });
      const cookie = await begin({
        SALLYPORT_DRAIN_DELAY: `${DRAIN_MS / 1_000}s`,
        SALLYPORT_WORKERS: workers,
      });
      const health = async () =>
        (await callGrpc(service.url + HEALTH_CHECK)).messages[0]?.toString('hex');
      expect(await health()).toBe('0801');
      const code = service.running.stop();
      const readyz = async () => (await exchange(`${service.url}/readyz`)).status;
      await expect.poll(readyz, PATIENCE).toBe(503);
      const expectDraining = async () => {
        const { body } = await exchange(`${service.url}/readyz`);
        expect(JSON.parse(body)).toEqual({ status: 'not_ready', waiting_for: ['draining'] });
        expect(await health()).toBe('0802');
        for (const path of ['/me', '/healthz'])
          expect((await exchange(service.url + path, { headers: { cookie } })).status).toBe(200);
      };
      await expectDraining();
      await clock.advance(DRAIN_MS / 2);
      await expectDraining();
      await clock.advance(DRAIN_MS);
      await isClosed();
      expect(await code).toBe(0);
    },
  );

  it('ends while a reload waits for the identity provider', async () => {
    service = await startHostedService();
    await ready(service);
    await service.idp.goDown();
    service.running.signal('SIGHUP');
    await waitForLines(service, 'configuration_waits', 1);
    expect(await service.running.stop()).toBe(0);
  });

  it('right after a reload lets what the old configuration has under way finish', async () => {
    service = await startHostedService();
    await ready(service);
    for (let count = 2; count <= 4; count += 1) {
      service.running.signal('SIGHUP');
      await waitForLines(service, 'configuration_loaded', count);
    }
    expect(await service.running.stop()).toBe(0);
    expect(service.running.stderr()).not.toContain('"error"');
  });
});

interface Kept {
  /** Resolves to an answer, head and all. */
  ask(): Promise<string>;
  readonly closed: Promise<void>;
}

/** A connection that stays open by itself. */
async function keep(url: string, cookie: string): Promise<Kept> {
  const { port, host } = new URL(url);
  const socket: Socket = connect({ port: Number(port), host: '127.0.0.1' });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  return {
    closed,
    async ask() {
      received = '';
      socket.write(`HEAD /me HTTP/1.1\r\nhost: ${host}\r\ncookie: ${cookie}\r\n\r\n`);
      await expect.poll(() => received, PATIENCE).toContain('\r\n\r\n');
      await pause(0);
      return received;
    },
  };
}
