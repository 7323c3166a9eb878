/**
 * The session store in Redis, shared by the replicas of a deployment.
 *
 * All keys of a deployment carry one hash tag, `{<prefix>}`, so that each operation is one atomic
 * script also in a cluster. The price is that one server of it holds all sessions; its memory is what
 * bounds their number, see docs/redis.md. The layout stands in docs/storage-schema.md.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Log } from '../../log/log.ts';
import type { SessionStore, StoredSession } from '../session-store.ts';
import { ReconnectingRedis } from './reconnecting-redis.ts';
import type { RedisAccess, RedisCommand } from './redis-connection.ts';
import { DurableWrites, type RunDurably } from './redis-durable-writes.ts';
import { storeUnavailable, toStoreFailure } from './redis-failure.ts';
import {
  createRedisLayout,
  parseReasonDigit,
  type RedisLayout,
  toIdBytes,
  toReasonDigit,
} from './redis-layout.ts';
import { encodeRecord } from './redis-record.ts';
import { createRenewalWrites } from './redis-renewal-writes.ts';
import { type RedisReply, toList } from './redis-reply.ts';
import { RevocationLog } from './redis-revocation-log.ts';
import {
  CREATE,
  REPLACE,
  type RunScript,
  runScript,
  SWEEP,
  TAKE_TURN,
  TOUCH,
  TURNS,
} from './redis-scripts.ts';
import { RedisServer } from './redis-server.ts';
import { createSessionEnds } from './redis-session-ends.ts';
import { createSessionListing } from './redis-session-listing.ts';
import { toIds, toSession } from './redis-session-reply.ts';
import { createServerFinder, type RedisTopology } from './redis-topology.ts';

/** Dependencies and settings of {@link openRedisSessionStore}. */
export interface RedisSessionStoreOptions {
  readonly topology: RedisTopology;
  readonly access: RedisAccess;
  /** Letters, digits and `. _ : -`; deployments that share a server differ in it. */
  readonly keyPrefix: string;
  /** How many replicas must have the end of a session before it counts. */
  readonly replicas: number;
  /** For each command, in milliseconds. */
  readonly commandTimeoutMs: number;
  /** Uses a server that, started again, may bring back sessions that were ended. */
  readonly allowWithoutAppendOnlyFile: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic?: () => number;
  readonly log: Log;
  /** Called with each expired session that this process removed; one process removes each. */
  readonly onExpired?: (id: number) => void;
}

/**
 * How long a record outlives its session: whether it has ended is not the store's to say, and the
 * clocks of replicas differ. The server drops it by itself, if no process sweeps.
 */
const KEPT_PAST_END_MS = 3_600_000;
/** The same for claims. */
const CLAIM_KEPT_MS = 60_000;

/**
 * Opens the store.
 *
 * Opens also while the server cannot be reached: the store keeps reconnecting, and every method rejects
 * meanwhile. The same holds when the connection is lost later.
 *
 * @throws {SallyportError} `SP_STORE_UNSUITABLE` when the server could lose sessions or their end.
 */
export async function openRedisSessionStore(
  options: RedisSessionStoreOptions,
): Promise<SessionStore> {
  const { access, keyPrefix, commandTimeoutMs: deadlineMs } = options;
  const finder = createServerFinder(options.topology, access, keyPrefix, deadlineMs);
  const server = new RedisServer({ ...options, finder, deadlineMs });
  const commands = new ReconnectingRedis(() => server.connect('commands'));
  try {
    await commands.opened;
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'SP_STORE_UNSUITABLE') {
      commands.close();
      server.close();
      throw error;
    }
  }
  const layout = createRedisLayout(keyPrefix);
  const monotonic = options.monotonic ?? (() => performance.now());
  const revocationLog = new RevocationLog({ layout, monotonic });
  const reading = new ReconnectingRedis(
    () => server.connect('waiting'),
    ({ connection }) => void revocationLog.follow(connection),
  );
  // A connection each: the start of a session does not wait behind the end of another.
  const ending = new ReconnectingRedis(() => server.connect('waiting'));
  const keeping =
    options.replicas === 0 ? commands : new ReconnectingRedis(() => server.connect('waiting'));
  const connections = [...new Set([commands, reading, ending, keeping])];
  // Connections that open now are ready for the first call; failures of the others are in the log.
  await Promise.allSettled(connections.map(({ opened }) => opened));
  const { now, replicas } = options;
  return createStore({
    layout,
    now,
    commands,
    ending: new DurableWrites({ redis: ending, replicas, safety: 'required', deadlineMs }),
    keeping: new DurableWrites({ redis: keeping, replicas, safety: 'preferred', deadlineMs }),
    revocationLog,
    onExpired: options.onExpired ?? (() => {}),
    close() {
      for (const each of connections) each.close();
      server.close();
    },
  });
}

interface StoreParts {
  readonly layout: RedisLayout;
  readonly now: () => number;
  readonly commands: ReconnectingRedis;
  /** For writes that end sessions. */
  readonly ending: DurableWrites;
  /** For writes that begin sessions and keep them up. */
  readonly keeping: DurableWrites;
  readonly revocationLog: RevocationLog;
  readonly onExpired: (id: number) => void;
  close(): void;
}

function createStore(parts: StoreParts): SessionStore {
  const { layout, now, commands, keeping, revocationLog, onExpired } = parts;
  const { prefix, ends } = layout;
  let isClosed = false;

  async function use(work: () => Promise<RedisReply>): Promise<RedisReply> {
    if (isClosed) throw storeUnavailable('the store is closed');
    try {
      return await work();
    } catch (error) {
      throw toStoreFailure(error);
    }
  }

  const send = (...command: RedisCommand): Promise<RedisReply> =>
    use(() => commands.current.connection.send(command));

  const run: RunScript = (script, keys, args) =>
    use(() => runScript(commands.current.connection, script, keys, args));

  const runDurably: RunDurably = (durable, write) => use(() => durable.run(write));

  async function read(id: number): Promise<StoredSession | undefined> {
    const bytes = await send('GET', layout.record(id));
    return Buffer.isBuffer(bytes) ? toSession(id, bytes) : undefined;
  }

  return {
    async create(session, replaces) {
      const { id } = session;
      const replaced = replaces === undefined ? '' : toIdBytes(replaces);
      // A replica that is down must not take the old session and refuse the new one: that end was not acknowledged.
      const reply = await runDurably(keeping, {
        script: CREATE,
        keys: [layout.record(id)],
        args: [
          prefix,
          toIdBytes(id),
          encodeRecord(session),
          now(),
          KEPT_PAST_END_MS,
          replaced,
          toReasonDigit('session_replaced'),
        ],
      });
      if (reply === 0) return false;
      if (replaces !== undefined) revocationLog.noteEnded([replaces]);
      if (reply === 2) revocationLog.noteEnded([id]);
      return true;
    },

    read,

    // The record is one value in Redis: a command reads all of it or none.
    readMetadata: read,

    async touch(id, lastUsedAt) {
      const args = [prefix, toIdBytes(id), now(), KEPT_PAST_END_MS, lastUsedAt];
      await run(TOUCH, [layout.record(id)], args);
    },

    async replace(session) {
      const { id, generation, lastUsedAt, absoluteEnd, idleTimeoutMs } = session;
      const reply = await runDurably(keeping, {
        script: REPLACE,
        keys: [layout.record(id)],
        args: [
          prefix,
          toIdBytes(id),
          now(),
          KEPT_PAST_END_MS,
          generation,
          lastUsedAt,
          absoluteEnd,
          idleTimeoutMs,
          Buffer.from(session.metadata),
          Buffer.from(session.tokens),
        ],
      });
      return reply === 1;
    },

    ...createRenewalWrites(layout, { run, runDurably, keeping }),
    ...createSessionEnds(parts, runDurably),
    ...createSessionListing(layout, run),

    async endReason(id) {
      return parseReasonDigit(String((await send('GET', layout.reason(id))) ?? ''));
    },

    async takeTurn(key, holder, forMs) {
      const keys = [layout.claim(key), layout.turn(key)];
      const turn = TURNS[Number(await run(TAKE_TURN, keys, [holder, Math.ceil(forMs)]))];
      if (turn === undefined) throw storeUnavailable('the server refused a command');
      return turn;
    },

    async claimOnce(key, expiresAt) {
      const life = Math.max(expiresAt - now(), 0) + CLAIM_KEPT_MS;
      return (await send('SET', layout.claim(key), '', 'PX', life, 'NX')) !== null;
    },

    revocations() {
      if (isClosed) throw storeUnavailable('the store is closed');
      return revocationLog.take();
    },

    async sweep(limit) {
      const swept = toList(await run(SWEEP, [ends], [prefix, now(), limit])).flatMap(toIds);
      for (const id of swept) onExpired(id);
      return swept.length;
    },

    close() {
      isClosed = true;
      parts.close();
    },
  };
}
