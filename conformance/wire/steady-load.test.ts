import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type LoadReport, startSteadyLoad } from './steady-load.ts';

/** Asks a server for a moment. */
async function ask(listener: RequestListener, perSecond = 500): Promise<LoadReport> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const load = startSteadyLoad({
    url: `http://localhost:${port}`,
    requests: [
      { path: '/a', headers: { 'x-turn': '1' } },
      { path: '/b', headers: { 'x-turn': '2' } },
    ],
    perSecond,
    connections: 4,
  });
  await pause(400);
  const report = await load.stop();
  expect(report.ok + Object.values(report.failed).reduce((sum, count) => sum + count, 0)).toBe(
    report.asked,
  );
  return report;
}

describe('The load', () => {
  it('asks at the rate that is wanted, in turn, over connections that stay open', async () => {
    const seen = new Map<string, number>();
    const report = await ask((req, res) => {
      const key = `${req.url} ${req.headers['x-turn']}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      res.end('whole');
    });
    expect(report.failed).toEqual({});
    expect(report.ratePerSecond).toBeGreaterThan(250);
    expect(report.ratePerSecond).toBeLessThan(520);
    expect(report.opened).toBeLessThanOrEqual(4);
    expect([...seen.keys()].toSorted()).toEqual(['/a 1', '/b 2']);
    const [a = 0, b = 0] = [seen.get('/a 1'), seen.get('/b 2')];
    expect(Math.abs(a - b)).toBeLessThanOrEqual(1);
  });

  it('takes an answer in chunks, and opens another connection after an answer with Connection: close', async () => {
    const report = await ask((_, res) => {
      res.shouldKeepAlive = false;
      res.write('in ');
      setTimeout(() => res.end('parts'), 1);
    });
    expect(report.failed).toEqual({});
    expect(report.opened).toBe(report.asked);
  });

  it('does not wait for slow answers before it asks on, and counts the time they wait', async () => {
    const report = await ask((_, res) => void setTimeout(() => res.end(), 50), 200);
    expect(report.failed).toEqual({});
    expect(report.asked).toBeGreaterThan(60);
    expect(report.slowestMs).toBeGreaterThan(100);
  });

  it.each<readonly [string, RequestListener]>([
    [
      'status 503',
      (_, res) => {
        res.statusCode = 503;
        res.end();
      },
    ],
    ['closed before the answer', (_, res) => void res.socket?.end()],
    ['ECONNRESET', (_, res) => void res.socket?.resetAndDestroy()],
    [
      'closed before the answer',
      (_, res) => {
        res.setHeader('content-length', '10');
        res.write('half');
        setTimeout(() => res.socket?.end(), 1);
      },
    ],
  ])('counts as failed: %s', async (what, listener) => {
    let count = 0;
    const report = await ask((req, res) => {
      count += 1;
      if (count % 10 === 0) listener(req, res);
      else res.end('whole');
    });
    expect(Object.keys(report.failed)).toEqual([what]);
    expect(report.failed[what]).toBe(Math.floor(count / 10));
  });

  it('counts requests to a port where no process listens', async () => {
    const load = startSteadyLoad({
      url: 'http://localhost:9',
      requests: [{ path: '/', headers: {} }],
      perSecond: 100,
      connections: 4,
    });
    await pause(200);
    const { ok, asked, failed } = await load.stop();
    expect([ok, failed]).toEqual([0, { ECONNREFUSED: asked }]);
  });
});
