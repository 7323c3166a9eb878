/**
 * The thread that keeps the local store's file small; started by {@link file://./local-store-maintenance.ts}.
 *
 * Neither this module nor what it loads imports a package: the loader that resolves package names to sources may
 * not be active in a thread.
 *
 * @module
 */

import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { openStoreFile } from './local-store-file.ts';
import type {
  MaintenanceAnswer,
  MaintenanceMessage,
  MaintenanceOrder,
} from './local-store-maintenance.ts';

/** Wait for another process's write: no request waits for this thread. */
const BUSY_TIMEOUT_MS = 2_000;
/** How often the write-ahead log is checkpointed, so that no request has to do it. */
const CHECKPOINT_EVERY_MS = 1_000;
/** Small rows removed for each session removed: they accumulate faster than sessions end. */
const SMALL_ROWS = 200;
/** Processes need a revocation while one may have the session cached; the reason is shown to people for longer. */
const REVOCATION_KEPT_MS = 12 * 3_600_000;
/** Longer than any sign-in under way may take. */
const OWNER_REVOCATION_KEPT_MS = 3_600_000;

const { path } = workerData as { readonly path: string };
let db: DatabaseSync | undefined;

function open(): DatabaseSync {
  db ??= openStoreFile(path, { busyTimeoutMs: BUSY_TIMEOUT_MS });
  return db;
}

function forget(): void {
  try {
    db?.close();
  } catch {
    // A connection that cannot even be closed is of no further use.
  }
  db = undefined;
}

function sweep({ time, limit }: MaintenanceOrder): readonly number[] {
  const at = open();
  const run = (sql: string, ...values: readonly number[]): number =>
    Number(at.prepare(sql).run(...values).changes);
  const swept = at
    .prepare(
      'DELETE FROM session WHERE row IN (SELECT row FROM session WHERE ends_at <= ? LIMIT ?) RETURNING id',
    )
    .all(time, limit);
  run(
    'DELETE FROM claimed WHERE key IN (SELECT key FROM claimed WHERE expires_at <= ? LIMIT ?)',
    time,
    limit * SMALL_ROWS,
  );
  run(
    'DELETE FROM revocation WHERE sequence IN (SELECT sequence FROM revocation WHERE revoked_at <= ? LIMIT ?)',
    time - REVOCATION_KEPT_MS,
    limit * SMALL_ROWS,
  );
  run('DELETE FROM owner_revocation WHERE revoked_at <= ?', time - OWNER_REVOCATION_KEPT_MS);
  // A lease of a renewal that came to its end is given back; what is left of a killed process goes with its session.
  run('DELETE FROM lease WHERE session_id NOT IN (SELECT id FROM session)');
  return swept.map(({ id }) => Number(id));
}

/** Structured cloning between threads loses an error's class and code. */
function describe(error: unknown): Omit<Extract<MaintenanceAnswer, { ok: false }>, 'ok'> {
  if (!(error instanceof Error)) return { message: 'unknown', code: undefined };
  const { message } = error;
  return { message, code: 'code' in error ? String(error.code) : undefined };
}

function say(message: MaintenanceMessage): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (order: MaintenanceOrder) => {
  let answer: MaintenanceAnswer;
  try {
    answer = { ok: true, swept: sweep(order) };
  } catch (error) {
    forget();
    answer = { ok: false, ...describe(error) };
  }
  say(answer);
});

setInterval(() => {
  try {
    open().exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // The next one tries again; until then the log grows.
    forget();
  }
}, CHECKPOINT_EVERY_MS);

say('running');
