/**
 * What a door hands to the verdict.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';

/** One request to decide on, as its door saw it. Untrusted throughout. */
export interface CheckRequest {
  /** The original caller's method, not that of a subrequest. */
  readonly method: string;
  /** Node's folded headers, names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Node's flat name-value list, which still shows a header sent twice. */
  readonly rawHeaders: readonly string[];
  /** Which of `auth.httpAuthorizationHeader` and `auth.grpcAuthorizationHeader` carries a bearer. */
  readonly transport: 'http' | 'grpc';
  /**
   * Asked by a page's timer and not by a person: no use of the session is noted, so that a forgotten
   * tab keeps none alive.
   */
  readonly isPassive?: boolean;
  /** Where the connection comes from, for log lines only: reading it has a cost. */
  readonly source?:
    | { readonly socket: { readonly remoteAddress?: string | undefined } }
    | undefined;
  /** Path and query of the original request, where the door knows them; for log lines only. */
  readonly target?: string | undefined;
  /** The id of the request, where the door has it already. */
  readonly requestId?: string | undefined;
}
