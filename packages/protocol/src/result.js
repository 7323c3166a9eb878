/**
 * Outcome of a check that is expected to fail in normal operation.
 *
 * @module
 */
/** Wraps a success value. */
export const accept = (value) => ({ ok: true, value });
/** Wraps a refusal. */
export const refuse = (error) => ({ ok: false, error });
//# sourceMappingURL=result.js.map
