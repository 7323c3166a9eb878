/**
 * Writes that count only once they are safe: on replicas, and on the server's own disk where it can be
 * asked to wait for that.
 *
 * @module
 */

import type { RedisCommand, RedisConnection } from './redis-connection.ts';
import { storeUnavailable, toStoreFailure } from './redis-failure.ts';
import { type RedisReply, toList } from './redis-reply.ts';
import type { RedisScript } from './redis-scripts.ts';
import type { ServerTraits } from './redis-server-check.ts';

/** A script to run, see `runScript`. */
export interface DurableWrite {
  readonly script: RedisScript;
  readonly keys: RedisCommand;
  readonly args: RedisCommand;
}

/** What {@link DurableWrites} needs. */
export interface DurableWritesOptions {
  /** A connection of its own: waiting blocks all of it. */
  readonly redis: {
    /** @throws {SallyportError} `SP_STORE_UNAVAILABLE` while there is none. */
    readonly current: {
      readonly connection: Pick<RedisConnection, 'send'>;
      readonly traits: Pick<ServerTraits, 'waitsForDisk'>;
    };
  };
  /** How many replicas must have a write. */
  readonly replicas: number;
  /**
   * `required`: a write that is not safe in time is not acknowledged, because an acknowledged end of a
   * session may never be undone. `preferred`: it is acknowledged all the same, and the disk is not
   * waited for. Waiting made its loss less likely; a replica that is down is no reason to drop users.
   */
  readonly safety: 'required' | 'preferred';
  readonly deadlineMs: number;
}

/** Runs a write through one of two queues; fails as the store does. */
export type RunDurably = (durable: DurableWrites, write: DurableWrite) => Promise<RedisReply>;

interface Waiting {
  readonly write: DurableWrite;
  readonly settle: (reply: RedisReply) => void;
  readonly fail: (error: unknown) => void;
  isGivenUp: boolean;
}

/** A write with its wait, and perhaps that of the batch before it. */
const DEADLINES = 3;
/** A disk takes up to a second where the server writes to it once a second, which is usual. */
const DISK_DEADLINES = 2;
/** Most writes that share one wait. */
const BATCH_MAX = 256;

/** Runs writes in batches: all that came in while one was waited for go out with the next wait. */
export class DurableWrites {
  readonly #options: DurableWritesOptions;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: DurableWritesOptions) {
    this.#options = options;
  }

  /**
   * Runs a write.
   *
   * @returns The script's reply.
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE`: not done, or done and perhaps not safe.
   */
  async run(write: DurableWrite): Promise<RedisReply> {
    const { promise, resolve, reject } = Promise.withResolvers<RedisReply>();
    const waiting: Waiting = { write, settle: resolve, fail: reject, isGivenUp: false };
    const timer = setTimeout(() => {
      waiting.isGivenUp = true;
      reject(storeUnavailable('the server did not make a write safe in time'));
    }, DEADLINES * this.#options.deadlineMs);
    this.#waiting.push(waiting);
    if (!this.#isRunning) void this.#runAll();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX).filter(({ isGivenUp }) => !isGivenUp);
      try {
        await this.#runBatch(batch);
      } catch (error) {
        for (const { fail } of batch) fail(toStoreFailure(error));
      }
    }
    this.#isRunning = false;
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    const { connection, traits } = this.#options.redis.current;
    // By text, not by digest: a script that was not known would run after the wait.
    const replies = batch.map(({ write: { script, keys, args } }) =>
      connection.send(['EVAL', script.text, keys.length, ...keys, ...args]),
    );
    const waits = this.#selectWaits(traits.waitsForDisk).map(async ({ command, forMs, isMet }) =>
      isMet(await connection.send([...command, forMs], forMs + this.#options.deadlineMs)),
    );
    const met = Promise.all(waits);
    met.catch(() => {});
    const outcomes = await Promise.allSettled(replies);
    // A connection that breaks now fails all of them: the server may be gone, and the write with it.
    const isSafe = (await met).every(Boolean) || this.#options.safety === 'preferred';
    for (const [index, { settle, fail }] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status !== 'fulfilled') fail(toStoreFailure(outcome?.reason));
      else if (isSafe) settle(outcome.value);
      else fail(storeUnavailable('a write is not on as many replicas, or not on disk, in time'));
    }
  }

  #selectWaits(waitsForDisk: boolean): readonly Wait[] {
    const { replicas, safety, deadlineMs } = this.#options;
    const forReplicas: Wait = {
      command: ['WAIT', replicas],
      forMs: deadlineMs,
      isMet: (reply) => typeof reply === 'number' && reply >= replicas,
    };
    const forDisk: Wait = {
      command: ['WAITAOF', 1, 0],
      forMs: DISK_DEADLINES * deadlineMs,
      isMet: (reply) => Number(toList(reply)[0]) >= 1,
    };
    return [
      ...(replicas > 0 ? [forReplicas] : []),
      ...(waitsForDisk && safety === 'required' ? [forDisk] : []),
    ];
  }
}

interface Wait {
  readonly command: RedisCommand;
  /** The server gives up after this, and says how far it came. */
  readonly forMs: number;
  readonly isMet: (reply: RedisReply) => boolean;
}
