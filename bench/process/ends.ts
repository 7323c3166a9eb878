/**
 * What has to be ended after a case, whatever became of it.
 *
 * @module
 */

/** Something to end again. */
export type End = () => void | Promise<void>;

/** Ends of one case, carried out in the reverse order. */
export class Ends {
  #ends: End[] = [];

  /** Has something ended after everything that is added later. */
  add(end: End): void {
    this.#ends.push(end);
  }

  /**
   * Ends everything; one that fails keeps no other from being ended.
   *
   * @throws {AggregateError} With all that failed.
   */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let end = this.#ends.pop(); end !== undefined; end = this.#ends.pop()) {
      try {
        await end();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be ended');
  }
}
