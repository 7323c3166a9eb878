/**
 * A secret that a configuration file holds in plain text.
 *
 * @module
 */

/** What every printed form of a secret shows. */
const REDACTED = '[secret]';

/**
 * A secret value that no printing can show: JSON, string conversion and Node's inspection give
 * `[secret]`, because configuration objects get logged.
 */
export class SecretText {
  readonly #text: string;

  /** @param text - The value; empty means none was configured. */
  constructor(text: string) {
    this.#text = text;
    Object.freeze(this);
  }

  /** Whether a value was configured. */
  get isPresent(): boolean {
    return this.#text !== '';
  }

  /** Gives the value. The caller MUST NOT log it or put it into an error. */
  reveal(): string {
    return this.#text;
  }

  /** The printed form: `[secret]`, or an empty string when there is none. */
  toString(): string {
    return this.isPresent ? REDACTED : '';
  }

  /** The printed form, for `JSON.stringify`. */
  toJSON(): string {
    return this.toString();
  }
}
