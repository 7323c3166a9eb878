/**
 * A key ring whose source is a list in memory, to change, break and count.
 *
 * @module
 */

import { KeyRing, type KeyRingSource, type RingKey } from '../../../server/src/session/key-ring.ts';
import { type Clock, NOON } from '../time/clock.ts';

/** A key made of one letter; the same letter is the same key. */
export function createRingKey(letter: string, times: Partial<RingKey> = {}): RingKey {
  const key = Buffer.alloc(32, letter).toString('base64url');
  return { kid: letter.repeat(8), key, sealsFrom: NOON - 1_000, ...times };
}

/** The source; `failure` makes it unreadable. */
export class RingInMemory implements KeyRingSource {
  failure: Error | undefined;
  /** How often the content was read. */
  reads = 0;
  /** How often only the version was looked at. */
  looks = 0;
  #keys: readonly RingKey[];
  #edition = 1;

  constructor(keys: readonly RingKey[] = [createRingKey('a')]) {
    this.#keys = keys;
  }

  replace(keys: readonly RingKey[]): void {
    this.#keys = keys;
    this.#edition += 1;
  }

  read(): { readonly version: string; readonly keys: readonly RingKey[] } {
    this.reads += 1;
    if (this.failure !== undefined) throw this.failure;
    return { version: String(this.#edition), keys: this.#keys };
  }

  version(): string {
    this.looks += 1;
    if (this.failure !== undefined) throw this.failure;
    return String(this.#edition);
  }
}

/** Opens a ring and records its callbacks. */
export function openRing(
  source: KeyRingSource,
  clock: Clock,
): { readonly ring: KeyRing; readonly reported: { changes: number; problems: unknown[] } } {
  const reported: { changes: number; problems: unknown[] } = { changes: 0, problems: [] };
  const ring = new KeyRing(source, {
    now: clock.now,
    onChange: () => {
      reported.changes += 1;
    },
    onProblem: (cause) => reported.problems.push(cause),
  });
  return { ring, reported };
}
