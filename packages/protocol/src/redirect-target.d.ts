/**
 * Where a browser may be sent after sign-in or sign-out.
 *
 * @module
 */
import { type Result } from './result.ts';
/** Origins a redirect may end on. */
export interface RedirectPolicy {
  /** The WHATWG origin of `publicUrl`; relative targets resolve against it. */
  readonly publicOrigin: string;
  /** Further allowed origins, as WHATWG serialises them. */
  readonly redirectOrigins: ReadonlySet<string>;
  /** Where a sign-in that names no target ends: an absolute URL that this policy allows. */
  readonly landing: string;
}
/** Why a target was refused. Stable: used as a metric label. */
export type RedirectRefusal =
  | 'target_malformed'
  | 'target_too_long'
  | 'target_origin_not_allowed'
  | 'target_path_ambiguous'
  | 'target_is_own_endpoint';
/** Longest accepted target: it travels inside `state`, through the IdP and back. */
export declare const REDIRECT_TARGET_MAX_LENGTH = 4096;
/**
 * Decides whether a browser may be sent to a target, and spells the Location.
 *
 * A target starts with exactly one `/`, or is an absolute http(s) URL of an allowed origin. Its path
 * is looked at as sent and percent-decoded once and twice, because a proxy or application behind us
 * may decode again. What is emitted is parsed again and must still be of the allowed origin.
 *
 * @param target - Untrusted: the `redirect_url` parameter, decoded once by the query parser.
 *
 * @returns `value`: an absolute href to send as Location. `error`: the caller MUST go to `/` instead.
 *
 *
 */
export declare function parseRedirectTarget(
  target: string,
  policy: RedirectPolicy,
): Result<string, RedirectRefusal>;
/**
 * Selects the Location for a target: the target itself when it is allowed, else the public root; the
 * landing page when none is named.
 *
 * @param target - Untrusted, or `undefined` when the caller named none.
 */
export declare function selectRedirectTarget(
  target: string | undefined,
  policy: RedirectPolicy,
): string;
//# sourceMappingURL=redirect-target.d.ts.map
