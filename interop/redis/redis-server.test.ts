import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { isTaken } from '@sallyport/testing/wire/ports';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { OPENSSL } from './certificates.ts';
import { sendOnce } from './raw-client.ts';
import { REDIS } from './redis-process.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';

let redis: RedisServer | undefined;
const start = async (options: RedisOptions = {}) => {
  redis = await startRedis(options);
  return redis;
};
afterEach(async () => {
  await redis?.stop();
  redis = undefined;
});

/** How the system sees its process: `S` when it waits, `T` when it was stopped. */
const stateOf = (server: RedisServer) =>
  /^State:\s+(\w)/m.exec(readFileSync(`/proc/${server.pid()}/status`, 'utf8'))?.[1];

describe.skipIf(REDIS.isLeftOut)('redis-server: a server of a test', () => {
  it('keeps what was written over an end, a kill and a restart, on its port', async () => {
    const server = await start({ appendOnly: true, lines: ['appendfsync always'] });
    const { port } = server;
    await server.send('SET', 'a', '1');
    await server.kill();
    expect(await isTaken(port)).toBe(false);
    await expect(server.send('GET', 'a')).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    await server.send('SET', 'b', '2');
    await server.shutDown();
    await server.restart();
    expect(server.port).toBe(port);
    expect(await server.send('MGET', 'a', 'b')).toEqual(['1', '2']);
  });

  it('forgets everything at a restart without an append-only file', async () => {
    const server = await start();
    await server.send('SET', 'a', '1');
    await server.restart();
    expect(await server.send('GET', 'a')).toBeNull();
  });

  it.each(['READONLY', 'NOREPLICAS'] as const)(
    'refuses writes with %s and serves reads, until it accepts them again',
    async (error) => {
      const server = await start();
      await server.send('SET', 'a', '1');
      await server.refuseWrites(error);
      await expect(server.send('SET', 'a', '2')).rejects.toThrow(error);
      expect(await server.send('GET', 'a')).toBe('1');
      await server.acceptWrites();
      expect(await server.send('SET', 'a', '2')).toBe('OK');
    },
  );

  it('stands still while it is paused, and then answers what it was asked', async () => {
    const server = await start();
    const client = await server.connect();
    server.pause();
    await expect.poll(() => stateOf(server)).toBe('T');
    let isAnswered = false;
    const answer = client.sendCommand(['PING']).finally(() => {
      isAnswered = true;
    });
    // The system goes on to accept connections for it.
    await new Promise((resolve) => connect(server.port, '127.0.0.1').once('connect', resolve));
    expect(isAnswered).toBe(false);
    server.resume();
    expect(await answer).toBe('PONG');
    client.destroy();
  });

  it('admits its password alone', async () => {
    const server = await start({ password: 'pass word' });
    const [client, stranger] = [server.access, { url: `redis://127.0.0.1:${server.port}` }];
    expect(await sendOnce(client, ['PING'])).toBe('PONG');
    await expect(sendOnce(stranger, ['PING'])).rejects.toThrow('NOAUTH');
  });

  it('admits the user of its access list alone, and lets it do what its rules say', async () => {
    const rules = '~sp:* resetchannels +@read +@connection';
    const server = await start({ user: { name: 'sallyport', password: 'secret', rules } });
    expect(await sendOnce(server.access, ['GET', 'sp:a'])).toBeNull();
    await expect(sendOnce(server.access, ['GET', 'other'])).rejects.toThrow('NOPERM');
    await expect(sendOnce(server.access, ['SET', 'sp:a', '1'])).rejects.toThrow('NOPERM');
    const stranger = { url: `redis://127.0.0.1:${server.port}` };
    await expect(sendOnce(stranger, ['GET', 'sp:a'])).rejects.toThrow('NOAUTH');
    expect(await server.send('SET', 'other', '1')).toBe('OK');
  });

  it('refuses writes beyond its memory, or drops what is old', async () => {
    const fill = async (server: RedisServer) => {
      for (let key = 0; key < 100; key += 1)
        await server.send('SET', `key-${key}`, 'x'.repeat(100_000));
    };
    const full = await start({ maxMemory: '4mb' });
    const before = await full.usedMemory();
    expect(before).toBeGreaterThan(500_000);
    await expect(fill(full)).rejects.toThrow('OOM');
    expect(await full.usedMemory()).toBeGreaterThan(before + 1_000_000);
    await full.stop();
    const evicting = await start({ maxMemory: '4mb', maxMemoryPolicy: 'allkeys-lru' });
    await fill(evicting);
    expect(await evicting.send('DBSIZE')).toBeLessThan(100);
  });

  it('copies another server', async () => {
    const server = await start();
    const replica = await startRedis({ replicaOf: server.port });
    onTestFinished(() => replica.stop());
    await server.send('SET', 'a', '1');
    await expect.poll(() => replica.send('GET', 'a'), { timeout: 10_000 }).toBe('1');
    await expect(replica.send('SET', 'a', '2')).rejects.toThrow('READONLY');
  });

  it('leaves neither process nor folder behind', async () => {
    const server = await start();
    const pid = server.pid();
    const reply = await server.send('CONFIG', 'GET', 'dir');
    const folder = Array.isArray(reply) ? String(reply[1]) : '';
    expect(existsSync(folder)).toBe(true);
    server.pause();
    await server.stop();
    expect(existsSync(dirname(folder))).toBe(true);
    expect(existsSync(folder)).toBe(false);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('says what is wrong with lines it cannot read', async () => {
    await expect(startRedis({ lines: ['no-such-directive yes'] })).rejects.toThrow(
      'no-such-directive',
    );
  });
});

describe.skipIf(REDIS.isLeftOut || OPENSSL.isLeftOut)(
  'redis-server, openssl: a server that speaks TLS',
  () => {
    it('is believed by its own authority alone', async () => {
      const server = await start({ tls: 'server', password: 'secret' });
      expect(server.url).toMatch(/^rediss:/);
      expect(await sendOnce(server.access, ['PING'])).toBe('PONG');
      await expect(sendOnce({ url: server.url }, ['PING'])).rejects.toThrow(/certificate/);
      const plain = { url: server.url.replace('rediss:', 'redis:') };
      await expect(sendOnce(plain, ['PING'])).rejects.toThrow();
    });

    it('admits clients with a certificate alone, when it asks for one', async () => {
      const server = await start({ tls: 'mutual' });
      expect(await sendOnce(server.access, ['PING'])).toBe('PONG');
      await expect(
        sendOnce({ url: server.url, caFile: server.access.caFile }, ['PING']),
      ).rejects.toThrow();
    });
  },
);
