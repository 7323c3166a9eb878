/**
 * Noted uses of sessions, gathered and written together.
 *
 * @module
 */

import type { StoredMetadata } from '../session-store.ts';

/** A session and when it was used, in epoch milliseconds. */
export type Use = readonly [id: number, lastUsedAt: number];

/** Uses that are noted here and not written yet. */
export interface NotedUses {
  /**
   * Notes a use; resolves once it is written, with all that were noted meanwhile.
   *
   * A use that could not be written rejects, and is written with the next.
   */
  note(id: number, lastUsedAt: number): Promise<void>;
  /** The same session with its last use as it is known here. */
  apply<T extends StoredMetadata>(stored: T): T;
  /** Takes out what is not written yet: the caller that closes the file writes it. */
  take(): readonly Use[];
}

/** Written together after so long: each alone would cost a write of its own, and requests come in crowds. */
const TOGETHER_MS = 20;
/** Limit of one write, so that no other write waits long behind it. */
const AT_A_TIME = 64;

/** @param write - Writes some uses at once; rejects when it could not. */
export function createNotedUses(write: (uses: readonly Use[]) => Promise<void>): NotedUses {
  const uses = new Map<number, number>();
  let written: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS));
    written = undefined;
    const noted = [...uses];
    for (let from = 0; from < noted.length; from += AT_A_TIME) {
      const part = noted.slice(from, from + AT_A_TIME);
      await write(part);
      // What could not be written stays for the next time; so does what was used again meanwhile.
      for (const [id, lastUsedAt] of part) if (uses.get(id) === lastUsedAt) uses.delete(id);
    }
  }

  return {
    async note(id, lastUsedAt) {
      uses.set(id, Math.max(lastUsedAt, uses.get(id) ?? lastUsedAt));
      written ??= writeAll();
      await written;
    },

    apply(stored) {
      const usedAt = uses.get(stored.id);
      return usedAt === undefined || usedAt <= stored.lastUsedAt
        ? stored
        : { ...stored, lastUsedAt: usedAt };
    },

    take() {
      const noted = [...uses];
      uses.clear();
      return noted;
    },
  };
}
