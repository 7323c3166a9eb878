/**
 * The sessions used last out of any number, in bounded memory.
 *
 * @module
 */

import type { SessionRow } from './session-row.ts';

/** What is left of all sessions that were looked at. */
export interface RecentRows {
  /** The one used last first; no session twice. */
  readonly rows: readonly SessionRow[];
  /** How many there were. */
  readonly total: number;
}

/** Takes rows in any order, the same one perhaps twice, and keeps the `limit` that were used last. */
export class RecentRowKeeper {
  readonly #limit: number;
  #rowById = new Map<string, SessionRow>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(row: SessionRow): void {
    if (!this.#rowById.has(row.id)) this.#total += 1;
    this.#rowById.set(row.id, row);
    // Sorting at every row would cost more than remembering as many again.
    if (this.#rowById.size > 2 * this.#limit)
      this.#rowById = new Map(this.#newest().map((kept) => [kept.id, kept]));
  }

  /** The total may count a session twice that came twice and was not kept in between. */
  result(): RecentRows {
    return { rows: this.#newest(), total: this.#total };
  }

  #newest(): SessionRow[] {
    return [...this.#rowById.values()]
      .toSorted((one, other) => other.lastUsedAt - one.lastUsedAt || (one.id < other.id ? -1 : 1))
      .slice(0, this.#limit);
  }
}
