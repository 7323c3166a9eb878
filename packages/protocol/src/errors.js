/**
 * The one error type that crosses a package boundary.
 *
 * @module
 */
/**
 * A failure nobody asked for: bad configuration, a dead store, a misbehaving IdP.
 *
 * An expected refusal (an expired session, a cancelled sign-in) is a `Result`, not one of these.
 * `message` is made of the code, the component and the fixed detail; it never holds a token,
 * cookie, header value or request body.
 */
export class SallyportError extends Error {
  name = 'SallyportError';
  code;
  component;
  retryAfterSeconds;
  constructor(code, options) {
    const detail = options.detail === undefined ? '' : `: ${options.detail}`;
    super(`${code} (${options.component})${detail}`, { cause: options.cause });
    this.code = code;
    this.component = options.component;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
//# sourceMappingURL=errors.js.map
