/**
 * One number that stands for configuration, access rules, key sets and key ring together.
 *
 * @module
 */

/** A bump makes everything remembered under the earlier number worthless. */
export class Generation {
  #current = 0;

  get current(): number {
    return this.#current;
  }

  bump(): void {
    this.#current += 1;
  }
}
