import { describe, expect, it } from 'vitest';
import type { RedisCommand } from './redis-connection.ts';
import { createRedisLayout, toIdBytes } from './redis-layout.ts';
import type { RedisReply } from './redis-reply.ts';
import { RevocationLog } from './redis-revocation-log.ts';

const LAYOUT = createRedisLayout('sallyport');

/** The reading end of a connection; the test answers what is sent, in turn. */
class Connection {
  #sent = Promise.withResolvers<{
    readonly words: RedisCommand;
    readonly answer: (reply: RedisReply) => void;
    readonly fail: (error: unknown) => void;
  }>();
  isClosed = false;

  readonly send = (words: RedisCommand): Promise<RedisReply> => {
    const { promise, resolve, reject } = Promise.withResolvers<RedisReply>();
    this.#sent.resolve({ words, answer: resolve, fail: reject });
    return promise;
  };

  readonly close = (): void => {
    this.isClosed = true;
  };

  /** Answers the next command and resolves once the one after it was sent; returns its words. */
  async answer(reply: RedisReply): Promise<RedisCommand> {
    const { words, answer } = await this.#sent.promise;
    this.#sent = Promise.withResolvers();
    answer(reply);
    await this.#sent.promise;
    return words;
  }

  async fail(): Promise<void> {
    const { fail } = await this.#sent.promise;
    fail(new Error('Socket closed unexpectedly'));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const entry = (id: string, after: string, ...ids: readonly number[]): RedisReply => [
  Buffer.from(id),
  [Buffer.from('ids'), Buffer.concat(ids.map(toIdBytes)), Buffer.from('after'), Buffer.from(after)],
];
const page = (...entries: readonly RedisReply[]): RedisReply => [
  [Buffer.from(LAYOUT.revoked), entries],
];
const place = (id: string, goesOn: 0 | 1): RedisReply => [Buffer.from(id), goesOn];

async function follow(time: { now: number }) {
  const log = new RevocationLog({ layout: LAYOUT, monotonic: () => time.now });
  const connection = new Connection();
  const following = log.follow(connection);
  await connection.answer(place('1-0', 0));
  return { log, connection, following };
}

describe('the log of ended sessions', () => {
  it('has everything forgotten at first, since what happened before is unknown, and only once', async () => {
    const { log } = await follow({ now: 0 });
    expect(log.take()).toEqual({ sessions: [], all: true });
    expect(log.take()).toEqual({ sessions: [], all: false });
  });

  it('reports what ended, once', async () => {
    const { log, connection } = await follow({ now: 0 });
    log.take();
    await connection.answer(page(entry('2-0', '1-0', 7, 8), entry('3-0', '2-0', 9)));
    expect(log.take()).toEqual({ sessions: [7, 8, 9], all: false });
    expect(log.take()).toEqual({ sessions: [], all: false });
  });

  it('reads on behind the last entry', async () => {
    const { connection } = await follow({ now: 0 });
    expect((await connection.answer(page(entry('2-0', '1-0', 7)))).at(-1)).toBe('1-0');
    expect((await connection.answer(null)).at(-1)).toBe('2-0');
  });

  it.each([
    ['trimmed', entry('9-0', '8-0', 7)],
    ['begun anew', entry('9-0', '0-0', 7)],
    ['without the name of the one before', [Buffer.from('9-0'), []] as RedisReply],
  ])('has everything forgotten when an entry is not the next one: %s', async (_, stranger) => {
    const { log, connection } = await follow({ now: 0 });
    log.take();
    await connection.answer(page(stranger));
    expect(log.take().all).toBe(true);
    await connection.answer(page(entry('10-0', '9-0', 8)));
    expect(log.take()).toEqual({ sessions: [8], all: false });
  });

  it('counts from when the last answered read was sent, and for 700 ms', async () => {
    const time = { now: 0 };
    const { log, connection } = await follow(time);
    log.take();
    // A read was sent at 0 and is answered at 200: what was ended after 0 may not be in it.
    time.now = 200;
    await connection.answer(null);
    time.now = 700;
    expect(log.take().all).toBe(false);
    time.now = 701;
    for (let look = 0; look < 3; look += 1) expect(log.take().all).toBe(true);
    // The next was sent at 200.
    await connection.answer(null);
    time.now = 900;
    expect(log.take().all).toBe(false);
    time.now = 901;
    expect(log.take().all).toBe(true);
  });

  it('is not up to date before the last of several pages was read', async () => {
    const time = { now: 0 };
    const { log, connection } = await follow(time);
    log.take();
    time.now = 600;
    await connection.answer(null);
    const full = Array.from({ length: 1_000 }, (_, index) =>
      entry(`${index + 2}-0`, `${index + 1}-0`, index),
    );
    await connection.answer(page(...full));
    time.now = 701;
    const seen = log.take();
    expect(seen.sessions).toHaveLength(1_000);
    expect(seen.all).toBe(true);
  });

  it('goes on where it was after a lost connection, and forgets everything where that cannot be', async () => {
    const time = { now: 0 };
    const { log, connection, following } = await follow(time);
    log.take();
    await connection.answer(page(entry('2-0', '1-0', 7)));
    await connection.fail();
    await following;
    expect(connection.isClosed).toBe(true);
    const next = new Connection();
    void log.follow(next);
    expect((await next.answer(place('2-0', 1))).at(-1)).toBe('2-0');
    await next.answer(page(entry('3-0', '2-0', 8)));
    expect(log.take()).toEqual({ sessions: [7, 8], all: false });
    await next.fail();
    const last = new Connection();
    void log.follow(last);
    await last.answer(place('5-0', 0));
    expect(log.take().all).toBe(true);
  });

  it('looks its place up again every second, so that a log that was lost is noticed', async () => {
    const time = { now: 0 };
    const { log, connection } = await follow(time);
    log.take();
    time.now = 999;
    expect((await connection.answer(null))[0]).toBe('XREAD');
    time.now = 1_000;
    expect((await connection.answer(null))[0]).toBe('XREAD');
    expect((await connection.answer(null))[0]).toBe('XREAD');
    const words = await connection.answer(place('4-0', 0));
    expect(words[0]).toBe('EVALSHA');
    expect(log.take().all).toBe(true);
  });

  it('reports what ended here without being read, and says that all may have ended after a long time without a question', async () => {
    const { log } = await follow({ now: 0 });
    log.take();
    log.noteEnded([1, 2]);
    expect(log.take()).toEqual({ sessions: [1, 2], all: false });
    for (let id = 0; id < 10_001; id += 1) log.noteEnded([id]);
    const seen = log.take();
    expect(seen.all).toBe(true);
    expect(seen.sessions).toEqual([]);
  });
});
