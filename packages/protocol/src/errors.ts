/**
 * The one error type that crosses a package boundary.
 *
 * @module
 */

/** Stable identifiers of every thrown failure. Documented in docs/errors.md; never renamed. */
export type SallyportErrorCode =
  | 'SP_AUDIT_UNUSABLE'
  | 'SP_CONFIG_INVALID'
  | 'SP_IDP_PROTOCOL'
  | 'SP_IDP_UNREACHABLE'
  | 'SP_KEY_RING_UNUSABLE'
  | 'SP_LISTEN_FAILED'
  | 'SP_NOT_READY'
  | 'SP_PLATFORM_PROTOCOL'
  | 'SP_PLATFORM_UNREACHABLE'
  | 'SP_PORT_IN_USE'
  | 'SP_STATE_IN_USE'
  | 'SP_STATE_UNUSABLE'
  | 'SP_STORE_UNAVAILABLE'
  | 'SP_STORE_UNSUITABLE'
  | 'SP_THREAD_FAILED'
  | 'SP_TOKEN_LOCK_TIMEOUT'
  | 'SP_TOKEN_STORE_UNUSABLE'
  | 'SP_WORKER_FAILED';

/** Construction options of {@link SallyportError}. */
export interface SallyportErrorOptions {
  /** What was being used: `idp`, `store:local`. Safe to log and to label metrics with. */
  readonly component: string;
  /** One sentence for the operator: what is wrong and what to do. Never a secret, token or cookie. */
  readonly detail?: string;
  /** Seconds a caller should wait before it tries again; absent means do not retry. */
  readonly retryAfterSeconds?: number;
  /** The failure underneath. Logged through the redactor, never sent on the wire. */
  readonly cause?: unknown;
}

/**
 * An unexpected failure: bad configuration, a dead store, a misbehaving IdP.
 *
 * An expected refusal (an expired session, a cancelled sign-in) is a `Result`, not one of these.
 * `message` is made of the code, the component and the fixed detail; it never holds a token,
 * cookie, header value or request body.
 */
export class SallyportError extends Error {
  override readonly name = 'SallyportError';
  readonly code: SallyportErrorCode;
  readonly component: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: SallyportErrorCode, options: SallyportErrorOptions) {
    const detail = options.detail === undefined ? '' : `: ${options.detail}`;
    super(`${code} (${options.component})${detail}`, { cause: options.cause });
    this.code = code;
    this.component = options.component;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
