/**
 * The request target: what is asked for, in the one form that the verdict, the route table and the
 * backend all see.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';

/** A target in origin form, byte for byte as the client sent it. */
export interface RequestTarget {
  /** Path and query. */
  readonly target: string;
  /** The path alone, as routes are matched on it. Nothing in it is decoded or resolved. */
  readonly path: string;
}

/** Why a target was refused. */
export type RequestTargetRefusal = { readonly reason: 'request_target_malformed' };

const ABSOLUTE_FORM = /^(https?:\/\/[^/?#@\\]*)([/?].*)?$/i;

/**
 * Parses a request target.
 *
 * Origin form is taken as it is. Absolute form is reduced to it when its origin is the public one.
 * Everything else is refused: authority form, `*`, another origin, a raw `#` (a backend would cut the
 * path there, CVE-2023-47106, CVE-2026-41059), a space or a control character. The path is not
 * normalised, since a backend gets the same bytes; whether it is canonical is the route table's to say.
 *
 * @param sent - From the request line or `:path`. Untrusted.
 * @param publicOrigin - As WHATWG serialises it, without a trailing slash.
 *
 * @see [RFC 9112 section 3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2) the four forms
 */
export function parseRequestTarget(
  sent: string,
  publicOrigin: string,
): Result<RequestTarget, RequestTargetRefusal> {
  const target = sent.startsWith('/') ? sent : reduceAbsoluteForm(sent, publicOrigin);
  if (target === undefined || hasForbiddenCharacter(target))
    return refuse({ reason: 'request_target_malformed' });
  const query = target.indexOf('?');
  return accept({ target, path: query === -1 ? target : target.slice(0, query) });
}

function reduceAbsoluteForm(sent: string, publicOrigin: string): string | undefined {
  const [, origin, rest = ''] = ABSOLUTE_FORM.exec(sent) ?? [];
  if (origin === undefined || URL.parse(origin)?.origin !== publicOrigin) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Control characters, space, `#`, DEL, and what does not fit into a byte. */
function hasForbiddenCharacter(target: string): boolean {
  for (let index = 0; index < target.length; index += 1) {
    const code = target.charCodeAt(index);
    if (code <= 0x20 || code === 0x23 || code === 0x7f || code > 0xff) return true;
  }
  return false;
}
