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

/** A line whose server answers when the test says so. */
class Line {
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
  const line = new Line();
  return { line, durable: new DurableWrites({ line, replicas, safety, deadlineMs: 10_000 }) };
}

describe('a durable write', () => {
  it('is acknowledged with its script’s reply where nothing is to be waited for', async () => {
    const { line, durable } = create(0);
    const running = durable.run(write('a'));
    expect(line.names()).toEqual(['EVAL']);
    line.sent[0]?.answer(1);
    expect(await running).toBe(1);
  });

  it('is acknowledged once as many replicas have it, and not before they answered', async () => {
    const { line, durable } = create(2);
    let isAcknowledged = false;
    const running = durable.run(write('a')).then((reply) => {
      isAcknowledged = true;
      return reply;
    });
    expect(line.sent.map(({ words }) => words.slice(0, 2))).toEqual([
      ['EVAL', REVOKE.text],
      ['WAIT', 2],
    ]);
    line.sent[0]?.answer(1);
    await settled();
    expect(isAcknowledged).toBe(false);
    line.sent[1]?.answer(2);
    expect(await running).toBe(1);
  });

  it.each([0, 1])('that %d of 2 replicas have is not acknowledged', async (count) => {
    const { line, durable } = create(2);
    const running = durable.run(write('a'));
    line.sent[0]?.answer(1);
    line.sent[1]?.answer(count);
    await expect(running).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
  });

  it.each([
    [1, true],
    [0, false],
  ])(
    'is acknowledged only once the server’s disk has it, where it can be asked: %d',
    async (local, isSafe) => {
      const { line, durable } = create(0);
      line.waitsForDisk = true;
      const running = durable.run(write('a'));
      expect(line.names()).toEqual(['EVAL', 'WAITAOF']);
      line.sent[0]?.answer(1);
      line.sent[1]?.answer([local, 0]);
      if (isSafe) expect(await running).toBe(1);
      else await expect(running).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
    },
  );

  it('that is only preferred to be safe is acknowledged with too few replicas, but not by a broken connection', async () => {
    const { line, durable } = create(1, 'preferred');
    const kept = durable.run(write('a'));
    line.sent[0]?.answer(1);
    line.sent[1]?.answer(0);
    expect(await kept).toBe(1);
    const lost = durable.run(write('b'));
    await settled();
    line.sent[2]?.answer(1);
    line.sent[3]?.fail(new Error('Socket closed unexpectedly'));
    await expect(lost).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
  });

  it('that is only preferred to be safe does not wait for a disk', async () => {
    const { line, durable } = create(0, 'preferred');
    line.waitsForDisk = true;
    const running = durable.run(write('a'));
    expect(line.names()).toEqual(['EVAL']);
    line.sent[0]?.answer(1);
    expect(await running).toBe(1);
  });

  it('that fails takes no other of its batch with it', async () => {
    const { line, durable } = create(0);
    const first = durable.run(write('a'));
    line.sent[0]?.answer(1);
    await first;
    const [bad, good] = [durable.run(write('b')), durable.run(write('c'))];
    const outcomes = Promise.allSettled([bad, good]);
    await settled();
    line.sent[1]?.fail(new Error('OOM command not allowed'));
    await settled();
    line.sent[2]?.answer(7);
    expect(await outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'SP_STORE_UNAVAILABLE' } },
      { status: 'fulfilled', value: 7 },
    ]);
  });

  it('shares its wait with all that came in while the one before was waited for', async () => {
    const { line, durable } = create(1);
    const first = durable.run(write('a'));
    const rest = ['b', 'c', 'd'].map((id) => durable.run(write(id)));
    expect(line.names()).toEqual(['EVAL', 'WAIT']);
    line.sent[0]?.answer(1);
    line.sent[1]?.answer(1);
    expect(await first).toBe(1);
    await settled();
    expect(line.names()).toEqual(['EVAL', 'WAIT', 'EVAL', 'EVAL', 'EVAL', 'WAIT']);
    for (const { answer } of line.sent.slice(2, 5)) answer(1);
    line.sent[5]?.answer(1);
    expect(await Promise.all(rest)).toEqual([1, 1, 1]);
  });

  it('is refused at once while there is no connection, and done when there is one', async () => {
    const { line, durable } = create(0);
    line.isDown = true;
    await expect(durable.run(write('a'))).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
    line.isDown = false;
    const running = durable.run(write('b'));
    line.sent[0]?.answer(1);
    expect(await running).toBe(1);
  });
});
