/**
 * Where a browser may be sent after sign-in or sign-out.
 *
 * @module
 */

import { isOwnEndpoint } from './paths.ts';
import { accept, type Result, refuse } from './result.ts';

/** Origins a redirect may end on. */
export interface RedirectPolicy {
  /** The WHATWG origin of `publicUrl`; relative targets resolve against it. */
  readonly publicOrigin: string;
  /** Further allowed origins, as WHATWG serialises them. */
  readonly redirectOrigins: ReadonlySet<string>;
}

/** Origins a redirect may end on, and where it ends without a target. */
export interface LandingPolicy extends RedirectPolicy {
  /** An absolute URL that the policy allows. */
  readonly landing: string;
}

/** Why a target was refused. Stable: used as a metric label. */
export type RedirectRefusal =
  | 'target_malformed'
  | 'target_too_long'
  | 'target_origin_not_allowed'
  | 'target_path_ambiguous'
  | 'target_is_own_endpoint';

/** Longest accepted target, as sent and as spelt for Location: it travels inside `state`, through the IdP and back. */
export const REDIRECT_TARGET_MAX_LENGTH = 4_096;

const ABSOLUTE = /^https?:\/\/[^/\\?#]/i;
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

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
export function parseRedirectTarget(
  target: string,
  policy: RedirectPolicy,
): Result<string, RedirectRefusal> {
  if (target.length > REDIRECT_TARGET_MAX_LENGTH) return refuse('target_too_long');
  if (!target.isWellFormed() || CONTROL.test(target)) return refuse('target_malformed');
  const isAbsolute = ABSOLUTE.test(target);
  if (!isAbsolute && !/^\/(?![/\\])/.test(target)) return refuse('target_malformed');

  const url = URL.parse(target, policy.publicOrigin);
  if (url === null) return refuse('target_malformed');
  if (url.username !== '' || url.password !== '') return refuse('target_origin_not_allowed');
  if (
    url.origin !== policy.publicOrigin &&
    !(isAbsolute && policy.redirectOrigins.has(url.origin))
  ) {
    return refuse('target_origin_not_allowed');
  }

  const sentPath =
    (isAbsolute ? target.replace(/^[^:]+:\/\/[^/\\?#]*/, '') : target).split(/[?#]/, 1)[0] ?? '';
  if (sentPath.includes('\\')) return refuse('target_path_ambiguous');
  const ambiguity = lookAtPath(url.pathname, url.origin === policy.publicOrigin);
  if (ambiguity !== undefined) return refuse(ambiguity);

  const emitted = URL.parse(url.href);
  if (emitted === null || emitted.origin !== url.origin) return refuse('target_malformed');
  // Escapes make it longer; what is accepted at sign-in must be accepted when it comes back.
  if (emitted.href.length > REDIRECT_TARGET_MAX_LENGTH) return refuse('target_too_long');
  return accept(emitted.href);
}

/**
 * Selects the Location for a target: the target itself when it is allowed, else the public root; the
 * landing page when none is named.
 *
 * @param target - Untrusted, or `undefined` when the caller named none.
 */
export function selectRedirectTarget(target: string | undefined, policy: LandingPolicy): string {
  if (target === undefined) return policy.landing;
  const parsed = parseRedirectTarget(target, policy);
  return parsed.ok ? parsed.value : `${policy.publicOrigin}/`;
}

function lookAtPath(pathname: string, isOurs: boolean): RedirectRefusal | undefined {
  let path = pathname;
  for (let decodings = 0; decodings <= 2; decodings += 1) {
    if (path.startsWith('//') || path.includes('\\') || CONTROL.test(path))
      return 'target_path_ambiguous';
    const resolved = URL.parse(
      path.replaceAll('?', '%3F').replaceAll('#', '%23'),
      'http://resolve.invalid',
    );
    if (
      resolved === null ||
      resolved.host !== 'resolve.invalid' ||
      resolved.pathname.startsWith('//')
    ) {
      return 'target_path_ambiguous';
    }
    if (isOurs && isOwnEndpoint(resolved.pathname)) return 'target_is_own_endpoint';
    path = decodeBytes(path);
  }
  return undefined;
}

/** Decodes each escape to one character; unlike `decodeURIComponent` it cannot be made to throw and stop looking. */
function decodeBytes(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
