/**
 * A bounded map that forgets what was not asked for lately.
 *
 * @module
 */

/**
 * Kept as two halves: when the younger is full the older is dropped whole, and what is asked for in the
 * older moves to the younger. Making room costs nothing that way, however many entries are shown once
 * and never again; deleting the oldest key of one `Map` would walk over all that were deleted before.
 *
 * While there is room to spare everything is kept. Later a key is kept when it is set for the second time:
 * what is shown once pushes nothing out, and costs no memory that outlives its request.
 */
export class HalvedCache<K, V> {
  readonly #halfLimit: number;
  #younger = new Map<K, V>();
  #older = new Map<K, V>();
  /** Keys that were set once while there was no room to spare. */
  #shownOnce = new Set<K>();

  /** @param limit - Most entries, both halves together. */
  constructor(limit: number) {
    this.#halfLimit = Math.max(1, Math.floor(limit / 2));
  }

  /** Number of entries. */
  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  get(key: K): V | undefined {
    const young = this.#younger.get(key);
    if (young !== undefined) return young;
    const old = this.#older.get(key);
    if (old !== undefined) this.#keep(key, old);
    return old;
  }

  set(key: K, value: V): void {
    if (this.size < 2 * this.#halfLimit || this.#has(key)) this.#keep(key, value);
    else if (this.#shownOnce.delete(key)) this.#keep(key, value);
    else this.#remark(key);
  }

  delete(key: K): void {
    this.#younger.delete(key);
    this.#older.delete(key);
  }

  clear(): void {
    this.#younger.clear();
    this.#older.clear();
  }

  #has(key: K): boolean {
    return this.#younger.has(key) || this.#older.has(key);
  }

  #keep(key: K, value: V): void {
    if (this.#younger.size >= this.#halfLimit && !this.#younger.has(key)) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#older.delete(key);
    this.#younger.set(key, value);
  }

  #remark(key: K): void {
    if (this.#shownOnce.size >= this.#halfLimit) this.#shownOnce = new Set();
    this.#shownOnce.add(key);
  }
}
