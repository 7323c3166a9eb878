/**
 * Outcome of a check that is expected to fail in normal operation.
 *
 * @module
 */
/** Success or a typed refusal; discriminated on `ok`. Bugs and outages throw instead. */
export type Result<T, E> =
  | {
      readonly ok: true;
      readonly value: T;
    }
  | {
      readonly ok: false;
      readonly error: E;
    };
/** Wraps a success value. */
export declare const accept: <T>(value: T) => Result<T, never>;
/** Wraps a refusal. */
export declare const refuse: <E>(error: E) => Result<never, E>;
//# sourceMappingURL=result.d.ts.map
