import { describe, expect, it } from 'vitest';
import type { RedisCommand } from './redis-connection.ts';
import { type DurableWrite, DurableWrites } from './redis-durable-writes.ts';
import { storeUnavailable } from './redis-failure.ts';
import type { RedisReply } from './redis-reply.ts';
import { REVOKE } from './redis-scripts.ts';

interface Sent {
  readonly words: RedisCommand;
  readonly answer: (reply: RedisReply) => void;
  readonly fail: (error: unknown) => void;
}

/** A connection whose server answers when the test says so. */
class FakeRedis {
  readonly sent: Sent[] = [];
  waitsForDisk = false;
  isDown = false;

  get current() {
    if (this.isDown) throw storeUnavailable('the server is not connected');
    return {
      traits: { waitsForDisk: this.waitsForDisk },
      connection: {
        send: (words: RedisCommand): Promise<RedisReply> => {
          const { promise, resolve, reject } = Promise.withResolvers<RedisReply>();
          this.sent.push({ words, answer: resolve, fail: reject });
          return promise;
        },
      },
    };
  }

  names(): unknown[] {
    return this.sent.map(({ words }) => words[0]);
  }
}

const write = (id: string): DurableWrite => ({
  script: REVOKE,
  keys: [`key-${id}`],
  args: [id],
});

/** Lets everything happen that waits for nothing outside. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function create(replicas: number, safety: 'required' | 'preferred' = 'required') {
  const redis = new FakeRedis();
  return { redis, durable: new DurableWrites({ redis, replicas, safety, deadlineMs: 10_000 }) };
}

describe('a durable write', () => {
  it('is acknowledged with its script’s reply where nothing is to be waited for', async () => {
    const { redis, durable } = create(0);
    const running = durable.run(write('a'));
    expect(redis.names()).toEqual(['EVAL']);
    redis.sent[0]?.answer(1);
    expect(await running).toBe(1);
  });

  it('is acknowledged once as many replicas have it, and not before they answered', async () => {
    const { redis, durable } = create(2);
    let isAcknowledged = false;
    const running = durable.run(write('a')).then((reply) => {
      isAcknowledged = true;
      return reply;
    });
    expect(redis.sent.map(({ words }) => words.slice(0, 2))).toEqual([
      ['EVAL', REVOKE.text],
      ['WAIT', 2],
    ]);
    redis.sent[0]?.answer(1);
    await settled();
    expect(isAcknowledged).toBe(false);
    redis.sent[1]?.answer(2);
    expect(await running).toBe(1);
  });

  it.each([0, 1])('that %d of 2 replicas have is not acknowledged', async (count) => {
    const { redis, durable } = create(2);
    const running = durable.run(write('a'));
    redis.sent[0]?.answer(1);
    redis.sent[1]?.answer(count);
    await expect(running).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
  });

  it.each([
    [1, true],
    [0, false],
  ])(
    'is acknowledged only once the server’s disk has it, where it can be asked: %d',
    async (local, isSafe) => {
      const { redis, durable } = create(0);
      redis.waitsForDisk = true;
      const running = durable.run(write('a'));
      expect(redis.names()).toEqual(['EVAL', 'WAITAOF']);
      redis.sent[0]?.answer(1);
      redis.sent[1]?.answer([local, 0]);
      if (isSafe) expect(await running).toBe(1);
      else await expect(running).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
    },
  );

  it('that is only preferred to be safe is acknowledged with too few replicas, but not by a broken connection', async () => {
    const { redis, durable } = create(1, 'preferred');
    const kept = durable.run(write('a'));
    redis.sent[0]?.answer(1);
    redis.sent[1]?.answer(0);
    expect(await kept).toBe(1);
    const lost = durable.run(write('b'));
    await settled();
    redis.sent[2]?.answer(1);
    redis.sent[3]?.fail(new Error('Socket closed unexpectedly'));
    await expect(lost).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
  });

  it('that is only preferred to be safe does not wait for a disk', async () => {
    const { redis, durable } = create(0, 'preferred');
    redis.waitsForDisk = true;
    const running = durable.run(write('a'));
    expect(redis.names()).toEqual(['EVAL']);
    redis.sent[0]?.answer(1);
    expect(await running).toBe(1);
  });

  it('that fails takes no other of its batch with it', async () => {
    const { redis, durable } = create(0);
    const first = durable.run(write('a'));
    redis.sent[0]?.answer(1);
    await first;
    const [bad, good] = [durable.run(write('b')), durable.run(write('c'))];
    const outcomes = Promise.allSettled([bad, good]);
    await settled();
    redis.sent[1]?.fail(new Error('OOM command not allowed'));
    await settled();
    redis.sent[2]?.answer(7);
    expect(await outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'SP_STORE_UNAVAILABLE' } },
      { status: 'fulfilled', value: 7 },
    ]);
  });

  it('shares its wait with all that came in while the one before was waited for', async () => {
    const { redis, durable } = create(1);
    const first = durable.run(write('a'));
    const rest = ['b', 'c', 'd'].map((id) => durable.run(write(id)));
    expect(redis.names()).toEqual(['EVAL', 'WAIT']);
    redis.sent[0]?.answer(1);
    redis.sent[1]?.answer(1);
    expect(await first).toBe(1);
    await settled();
    expect(redis.names()).toEqual(['EVAL', 'WAIT', 'EVAL', 'EVAL', 'EVAL', 'WAIT']);
    for (const { answer } of redis.sent.slice(2, 5)) answer(1);
    redis.sent[5]?.answer(1);
    expect(await Promise.all(rest)).toEqual([1, 1, 1]);
  });

  it('is refused at once while there is no connection, and done when there is one', async () => {
    const { redis, durable } = create(0);
    redis.isDown = true;
    await expect(durable.run(write('a'))).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
    redis.isDown = false;
    const running = durable.run(write('b'));
    redis.sent[0]?.answer(1);
    expect(await running).toBe(1);
  });
});
