import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectRaw, type RawClient } from './raw-client.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server: a network of a test in front of it', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  const clients: RawClient[] = [];
  const connectThrough = async () => {
    const client = await connectRaw({ url: redis.urlAt(proxy.port) });
    clients.push(client);
    return client;
  };
  const ended = (client: RawClient) =>
    new Promise<string>((resolve) =>
      client.once('error', (error: Error) => resolve(error.message)),
    );

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    proxy = await startTcpProxy(redis.port);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await proxy.close();
  });

  it('passes everything on in order, large values too', async () => {
    const client = await connectThrough();
    const large = 'x'.repeat(2_000_000);
    await client.sendCommand(['SET', 'large', large]);
    expect(await client.sendCommand(['GET', 'large'])).toBe(large);
    const counted = Array.from({ length: 100 }, () => client.sendCommand(['INCR', 'count']));
    expect(await Promise.all(counted)).toEqual(counted.map((_, index) => index + 1));
  });

  it('delays answers by as much as said, in order, and no longer than that is wanted', async () => {
    const client = await connectThrough();
    proxy.delay(300);
    const begun = performance.now();
    const first = client.sendCommand(['ECHO', 'first']);
    expect(await first).toBe('first');
    // A timer may fire up to a millisecond early.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(299);
    const order: unknown[] = [];
    const slow = client.sendCommand(['ECHO', 'slow']).then((each) => order.push(each));
    await expect.poll(() => proxy.connections()[0]?.commands.at(-1)).toBe('ECHO slow');
    proxy.delay(0);
    const fast = client.sendCommand(['ECHO', 'fast']).then((each) => order.push(each));
    await Promise.all([slow, fast]);
    expect(order).toEqual(['slow', 'fast']);
  });

  it('resets every connection, and takes new ones', async () => {
    const client = await connectThrough();
    const end = ended(client);
    proxy.cut();
    expect(await end).toContain('ECONNRESET');
    expect(await (await connectThrough()).sendCommand(['PING'])).toBe('PONG');
  });

  it('resets the one connection that has subscribed, and leaves the others', async () => {
    const [reader, subscriber] = [await connectThrough(), await connectThrough()];
    await reader.sendCommand(['GET', 'a']);
    await subscriber.subscribe('invalidations', () => undefined);
    const end = ended(subscriber);
    proxy.cut(({ commands }) => commands.includes('SUBSCRIBE invalidations'));
    expect(await end).toContain('ECONNRESET');
    expect(await reader.sendCommand(['PING'])).toBe('PONG');
  });

  it('refuses new connections and keeps open ones, until it takes them again', async () => {
    const client = await connectThrough();
    proxy.refuse();
    await expect(connectThrough()).rejects.toThrow('ECONNREFUSED');
    expect(await client.sendCommand(['PING'])).toBe('PONG');
    await proxy.admit();
    expect(await (await connectThrough()).sendCommand(['PING'])).toBe('PONG');
  });

  it('holds the chosen connection without a word, and passes on all of it when released', async () => {
    const [reader, subscriber] = [await connectThrough(), await connectThrough()];
    const messages: string[] = [];
    await subscriber.subscribe('invalidations', (message) => messages.push(message));
    proxy.hold(({ commands }) => commands.some((command) => command.startsWith('SUBSCRIBE ')));
    // Redis has handed both over; they wait in the proxy.
    for (const message of ['first', 'second'])
      expect(await reader.sendCommand(['PUBLISH', 'invalidations', message])).toBe(1);
    expect(messages).toEqual([]);
    proxy.release();
    await expect.poll(() => messages).toEqual(['first', 'second']);
    expect(subscriber.isReady).toBe(true);
  });

  it('passes on that the server has ended the connection', async () => {
    const client = await connectThrough();
    const end = ended(client);
    await redis.restart();
    expect(await end).not.toBe('');
    expect(await (await connectThrough()).sendCommand(['PING'])).toBe('PONG');
    await expect.poll(() => proxy.connections().length).toBe(1);
  });

  it('resets clients while no process listens behind it', async () => {
    await redis.kill();
    await expect(connectThrough()).rejects.toThrow();
    await redis.restart();
    expect(await (await connectThrough()).sendCommand(['PING'])).toBe('PONG');
  });
});
