/**
 * The parser of compact signed JWTs (RFC 7515, RFC 7519).
 *
 * Pure: looks at the form, verifies nothing.
 *
 * @module
 */

import { isUtf8 } from 'node:buffer';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { type JsonObject, parseStrictObject } from './strict-json.ts';

/** A signed JWT of good form. Nothing in it may be believed before its signature is verified. */
export interface Jwt {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** Media type from the header: lower case, without `application/`; empty when there is none. */
  readonly type: string;
  readonly claims: JsonObject;
  /** What was signed: the first two parts as they were sent. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/** Which part of the form is wrong. */
export type JwtProblem = 'size' | 'form' | 'header' | 'payload';

/** Longest bearer token, in characters: as long as all headers of a request may be together. */
export const TOKEN_MAX_LENGTH = 16_384;
const KEY_ID_MAX_LENGTH = 256;
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/**
 * Extensions that change what the signature covers or how the payload is read. `crit` says that some
 * such thing is there. None is needed by an access token, so none is understood here.
 */
const REFUSED_HEADERS: readonly string[] = ['crit', 'b64', 'zip', 'enc'];
/** Characters whose lowest two, or four, bits are zero: the only ones that may end a part. */
const ENDS_TWO_BYTES = /[AEIMQUYcgkosw048]$/;
const ENDS_ONE_BYTE = /[AQgw]$/;

/**
 * Whether a token looks like a JWT, well-formed or not, and so is never an opaque one: three parts
 * (JWS) or five (JWE), whatever is in them.
 */
export function isJwtShaped(token: string): boolean {
  let dots = 0;
  for (let at = token.indexOf('.'); at !== -1; at = token.indexOf('.', at + 1)) dots += 1;
  return dots === 2 || dots === 4;
}

/**
 * Parses a compact JWS whose payload is a JSON object.
 *
 * Refuses every second spelling of the same bytes (padding, left-over bits, members given twice,
 * text that is not UTF-8), encryption, and header members that change the reading. Key material in
 * the header (`jku`, `jwk`, `x5u`, `x5c`) is ignored: keys come from the issuer alone.
 *
 * @param token - Untrusted.
 * @param maxLength - In characters; a bearer token's by default.
 *
 * @see [RFC 7515 section 5.2](https://www.rfc-editor.org/rfc/rfc7515#section-5.2) form of a JWS
 * @see [RFC 7519 section 4](https://www.rfc-editor.org/rfc/rfc7519#section-4) claim names are unique
 * @see [RFC 8725 section 3](https://www.rfc-editor.org/rfc/rfc8725#section-3)
 */
export function parseJwt(
  token: string,
  maxLength: number = TOKEN_MAX_LENGTH,
): Result<Jwt, JwtProblem> {
  if (token.length > maxLength) return refuse('size');
  if (!COMPACT_JWS.test(token)) return refuse('form');
  const firstDot = token.indexOf('.');
  const lastDot = token.lastIndexOf('.');
  const header = decodeObject(token.slice(0, firstDot));
  if (header === undefined) return refuse('header');
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string' || REFUSED_HEADERS.some((name) => Object.hasOwn(header, name)))
    return refuse('header');
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > KEY_ID_MAX_LENGTH))
    return refuse('header');
  if (typ !== undefined && typeof typ !== 'string') return refuse('header');
  const claims = decodeObject(token.slice(firstDot + 1, lastDot));
  if (claims === undefined) return refuse('payload');
  const encodedSignature = token.slice(lastDot + 1);
  if (!isCanonical(encodedSignature)) return refuse('form');
  return accept({
    algorithm: alg,
    keyId: kid,
    type: (typ ?? '').toLowerCase().replace(/^application\//, ''),
    claims,
    signingInput: token.slice(0, lastDot),
    signature: Buffer.from(encodedSignature, 'base64url'),
  });
}

function decodeObject(encoded: string): JsonObject | undefined {
  if (!isCanonical(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64url');
  return isUtf8(bytes) ? parseStrictObject(bytes.toString('utf8')) : undefined;
}

/** Whether base64url without padding has no bits left over (RFC 4648 section 3.5). */
function isCanonical(encoded: string): boolean {
  switch (encoded.length % 4) {
    case 0:
      return true;
    case 2:
      return ENDS_ONE_BYTE.test(encoded);
    case 3:
      return ENDS_TWO_BYTES.test(encoded);
    default:
      return false;
  }
}
