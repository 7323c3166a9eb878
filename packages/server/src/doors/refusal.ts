/**
 * How a door of HTTP refuses: shaped for the caller's kind.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { Denial } from '../answer/answer.ts';
import { classifyCaller } from '../answer/caller.ts';
import { shapeDenial } from '../answer/shape-answer.ts';
import { requestIdOf } from '../log/request-id.ts';
import type { Refused, Undecided } from '../verdict/verdict.ts';
import type { DoorOptions } from './door-options.ts';

/** What an HTTP door is made from. */
export interface PageDoorOptions extends DoorOptions {
  /**
   * Whether a page load is sent to `/login` instead of getting 401. Only for a service that people reach
   * without an ingress: behind one that admits what the service refuses (because it drops the cookie on
   * the way) the two would send a browser round for ever. Default: no.
   */
  readonly redirectsPages?: boolean;
}

/** The request that is refused. Untrusted. */
export interface RefusedRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Path and query. */
  readonly target: string;
}

/** Shapes a refusal, see `shapeAnswer`. */
export function shapeRefusal(
  verdict: Refused | Undecided,
  { method, headers, target }: RefusedRequest,
  { publicOrigin, redirectsPages = false }: PageDoorOptions,
): Denial {
  const caller = {
    kind: classifyCaller({ method, headers }),
    accept: headers.accept,
    target,
    requestId: requestIdOf(headers),
  };
  const denial = shapeDenial(verdict, caller, publicOrigin);
  return denial.status === 302 && !redirectsPages
    ? shapeDenial(verdict, { ...caller, kind: 'program' }, publicOrigin)
    : denial;
}
