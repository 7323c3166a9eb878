/**
 * A bounded map that forgets what was not asked for lately.
 *
 * @module
 */

/** How much of something bounded is in use. */
export interface Occupancy {
  readonly size: number;
  readonly limit: number;
}

interface Entry<V> {
  value: V;
  /** Whether it was asked for since the hand last came by. */
  isAskedFor: boolean;
}

/**
 * To make room a hand goes round: what was asked for since its last visit stays, the first that was not
 * goes ([SIEVE, NSDI 2024](https://www.usenix.org/conference/nsdi24/presentation/zhang-yazhuo)). An entry
 * that is asked for is not moved, which would cost more than finding it.
 *
 * While there is room everything is kept. Later a key is kept when it is set for the second time: what
 * is shown once pushes nothing out, and costs no memory that outlives its request.
 */
export class BoundedCache<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, Entry<V>>();
  /** Goes on where it stopped: from the front it would pass everything that was deleted there. */
  #hand = this.#entries.entries();
  /** Keys that were set once while there was no room. */
  #setOnce = new Set<K>();

  /** @param limit - Most entries; at least one. */
  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.isAskedFor = true;
    return entry.value;
  }

  /** Replaces the value of a key that is there; else may need a second time, see the class. */
  set(key: K, value: V): void {
    this.offer(key, () => value);
  }

  /** As {@link set}; `create` is asked for the value only where it is kept. */
  offer(key: K, create: () => V): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      entry.value = create();
      return;
    }
    if (this.#entries.size >= this.#limit) {
      if (!this.#setOnce.delete(key)) {
        this.#noteOnce(key);
        return;
      }
      this.#makeRoom();
    }
    this.#entries.set(key, { value: create(), isAskedFor: false });
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Lets go of what is over. Looks at everything: to be called now and then. */
  sweep(isOver: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (isOver(value)) this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#setOnce.clear();
  }

  #noteOnce(key: K): void {
    if (this.#setOnce.size >= this.#limit) this.#setOnce.clear();
    this.#setOnce.add(key);
  }

  /** Ends: after one round nothing is asked for any more. */
  #makeRoom(): void {
    while (this.#entries.size >= this.#limit) {
      const next = this.#hand.next();
      if (next.done === true) this.#hand = this.#entries.entries();
      else if (next.value[1].isAskedFor) next.value[1].isAskedFor = false;
      else this.#entries.delete(next.value[0]);
    }
  }
}
