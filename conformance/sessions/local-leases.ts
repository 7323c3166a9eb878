/**
 * Leases of the local store, which go by the machine's own clock, which no test moves.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Longer than any process writes. */
const BUSY_MS = 10_000;

/** Leaves every lease in a state directory so much less time, as if that had passed. */
export async function ageLeases(state: string, ms: number): Promise<void> {
  const path = join(state, 'sessions.sqlite');
  // Before the first sign-in there is none, and nothing to age.
  if (!existsSync(path)) return;
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    db.prepare('UPDATE lease SET expires_at = expires_at - ?').run(ms);
  } finally {
    db.close();
  }
}
