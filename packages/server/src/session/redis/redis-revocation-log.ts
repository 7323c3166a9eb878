/**
 * Reading the revocation log of the Redis store, and whether it was read lately enough.
 *
 * @module
 */

import type { RevocationsSeen } from '../session-store.ts';
import type { RedisConnection } from './redis-connection.ts';
import { parseIds, type RedisLayout } from './redis-layout.ts';
import { type RedisReply, toFields, toList } from './redis-reply.ts';
import { FIND_PLACE, runScript } from './redis-scripts.ts';

/** What {@link RevocationLog} needs. */
export interface RevocationLogOptions {
  readonly layout: RedisLayout;
  /** Milliseconds that never go back; when they count from does not matter. */
  readonly monotonic: () => number;
}

/** What is needed of a connection. */
type LogConnection = Pick<RedisConnection, 'send' | 'close'>;

/** The server waits this long for news before it says that there are none. */
const BLOCK_MS = 200;
/** Older knowledge counts for nothing. More than a wait and an answer take, less than a second. */
const FRESH_MS = 700;
const ENTRIES_PER_READ = 1_000;
/** How often the place in the log is looked up again: nothing is said when a server loses all it has. */
const PLACE_EVERY_MS = 1_000;
/** Limit of ended ids not yet taken by the caller; beyond it the caller must forget all sessions instead. */
const ENDED_MAX = 10_000;
const XREAD = ['XREAD', 'COUNT', ENTRIES_PER_READ, 'BLOCK', BLOCK_MS, 'STREAMS'];
const NOTHING_ENDED: RevocationsSeen = { sessions: [], all: false };

/**
 * Follows the log of ended sessions on a connection of its own.
 *
 * Each entry names the one before it, so that a missing one is noticed whatever happened to it:
 * trimmed, lost with a master, or flushed.
 */
export class RevocationLog {
  readonly #options: RevocationLogOptions;
  #place = '';
  #ended: number[] = [];
  /** Entries may have been missed, and the caller has not been asked to forget all. */
  #mustForget = true;
  /** When the last read was sent that was answered in full: everything older has been seen. */
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: RevocationLogOptions) {
    this.#options = options;
  }

  /**
   * What ended since the last call.
   *
   * While the log is not being read, `all` is true at every call: whatever is remembered may have
   * ended meanwhile.
   */
  take(): RevocationsSeen {
    const isFresh = this.#options.monotonic() - this.#readAt <= FRESH_MS;
    if (isFresh && !this.#mustForget && this.#ended.length === 0) return NOTHING_ENDED;
    const seen = { sessions: this.#ended, all: this.#mustForget || !isFresh };
    this.#ended = [];
    this.#mustForget = false;
    return seen;
  }

  /** Notes sessions that this process ended: they are reported without waiting for the log. */
  noteEnded(ids: readonly number[]): void {
    if (this.#ended.length + ids.length > ENDED_MAX) {
      this.#ended = [];
      this.#mustForget = true;
    } else this.#ended.push(...ids);
  }

  /** Reads on a connection until it breaks; goes on where the one before it ended, if that can be. */
  async follow(connection: LogConnection): Promise<void> {
    try {
      let placedAt = await this.#findPlace(connection);
      for (;;) {
        const sentAt = await this.#read(connection);
        if (sentAt - placedAt >= PLACE_EVERY_MS) placedAt = await this.#findPlace(connection);
      }
    } catch {
      // `ReconnectingRedis` reconnects; until then nothing counts as fresh.
      connection.close();
    }
  }

  async #findPlace(connection: LogConnection): Promise<number> {
    const { layout, monotonic } = this.#options;
    const sentAt = monotonic();
    const args = [layout.prefix, this.#place];
    const reply = await runScript(connection, FIND_PLACE, [layout.revoked], args);
    const [place, goesOn] = toList(reply);
    this.#place = String(place);
    if (goesOn !== 1) {
      this.#mustForget = true;
      // With everything before this place forgotten, the log has been read up to here.
      this.#readAt = sentAt;
    }
    return sentAt;
  }

  async #read(connection: LogConnection): Promise<number> {
    const { layout, monotonic } = this.#options;
    const sentAt = monotonic();
    const reply = await connection.send([...XREAD, layout.revoked, this.#place]);
    const entries = parseEntries(reply);
    for (const { id, ids, after } of entries) {
      if (after !== this.#place) this.#mustForget = true;
      this.noteEnded(ids);
      this.#place = id;
    }
    // A full page has more behind it.
    if (entries.length < ENTRIES_PER_READ) this.#readAt = sentAt;
    return sentAt;
  }
}

interface LogEntry {
  readonly id: string;
  readonly ids: readonly number[];
  /** The entry before it. */
  readonly after: string;
}

/** Reads the reply of `XREAD` on one stream: nothing, or the stream's name with its entries. */
function parseEntries(reply: RedisReply): readonly LogEntry[] {
  const [stream] = toList(reply);
  return toList(toList(stream)[1]).map((entry) => {
    const [id, named] = toList(entry);
    const fields = toFields(named);
    const ids = fields.get('ids');
    return {
      id: String(id),
      ids: Buffer.isBuffer(ids) ? parseIds(ids) : [],
      after: String(fields.get('after')),
    };
  });
}
