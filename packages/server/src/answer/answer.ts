/**
 * What a verdict means on the wire, before any door has written it.
 *
 * @module
 */

import type { HeaderPair } from '@sallyport/protocol';

/** The caller may enter. A door forwards the request, or answers 200 when it is itself the check. */
export interface Admission {
  readonly outcome: 'admitted';
  /** The full set of identity headers for the backend, empty values included. */
  readonly identityHeaders: readonly HeaderPair[];
  /** One Set-Cookie value for the client, when the session cookie slides. */
  readonly setCookie: string | undefined;
  /** The user record as JSON; snake_case when the caller's Accept is exactly `application/json`. */
  readonly body: string;
}

/** The caller may not enter, or the verdict is undecided. Complete: a door only copies it out. */
export interface Denial {
  readonly outcome: 'denied';
  /** 302 for a navigation; 401, 403, 429 or 503 else; 200 for gRPC, which carries its status in headers. */
  readonly status: 200 | 302 | 401 | 403 | 429 | 503;
  /** Everything to send, `cache-control` and `x-accel-expires` included; at most one of each name. */
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/** What every door translates. */
export type Answer = Admission | Denial;
