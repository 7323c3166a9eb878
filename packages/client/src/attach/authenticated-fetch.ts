/**
 * `fetch` with the platform's bearer header.
 *
 * @module
 */

import type { TokenSet } from '../token-set.ts';
import { createBearerValue } from './bearer-value.ts';
import { type Attachment, createOriginCheck } from './platform-endpoint.ts';
import { TokenRefusedError } from './token-refused-error.ts';

/** What {@link createAuthenticatedFetch} needs. */
export interface AuthenticatedFetchOptions extends Attachment {
  readonly fetch: typeof fetch;
}

/**
 * Creates a fetch that attaches `<header>: Bearer <token>` to requests to the platform.
 *
 * Answered 401, the token is replaced once and the request is sent once more; when its body was a
 * stream it cannot be, and the 401 is returned after the token was replaced. Nothing else is a reason
 * to sign in: 403 is about permissions, and 503 says that the check is undecided. A request to
 * another origin, and one that brings an authorization header of its own, is passed on as it is.
 *
 * A redirect is never followed with the token: its answer is returned as with `redirect: 'manual'`,
 * or rejected with `redirect: 'error'`.
 *
 * @returns A fetch that rejects with {@link TokenRefusedError} when no token is to be had, and with
 *   the `SallyportError` of the source.
 * @throws {SallyportError} `SP_CONFIG_INVALID` for an endpoint that no token may be sent to.
 */
export function createAuthenticatedFetch(
  options: AuthenticatedFetchOptions,
): typeof globalThis.fetch {
  const { fetch, source, header } = options;
  const isPlatform = createOriginCheck(options);
  const toValue = createBearerValue();

  return async function authenticatedFetch(input, init) {
    if (!isPlatform(input instanceof Request ? input.url : String(input)))
      return fetch(input, init);
    const headerName = await header();
    const given = init?.headers ?? (input instanceof Request ? input.headers : {});
    // Fetch checks each value of a Headers object a second time.
    const headers = isRecord(given) ? given : new Headers(given);
    if (hasHeader(headers, headerName) || hasHeader(headers, 'authorization'))
      return fetch(input, init);

    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const wait = signal === undefined ? {} : { signal };
    const token = await source.get(wait);
    if (!token.ok) throw new TokenRefusedError(token.error);
    const response = await send(token.value);
    if (response.status !== 401) return response;

    const replaced = await source.replace(token.value, wait);
    if (!replaced.ok || !isReplayable(input, init)) return response;
    await response.body?.cancel();
    return send(replaced.value);

    async function send({ accessToken }: TokenSet): Promise<Response> {
      const attached = withHeader(headers, headerName, toValue(accessToken));
      const answer = await fetch(input, { ...init, headers: attached, redirect: 'manual' });
      const mode = init?.redirect ?? (input instanceof Request ? input.redirect : 'follow');
      if (mode === 'error' && isRedirect(answer)) {
        await answer.body?.cancel();
        throw new TypeError('the platform answered with a redirect');
      }
      return answer;
    }
  };
}

type HeaderRecord = Readonly<Record<string, string>>;

/** Neither a Headers object nor a list of pairs. */
function isRecord(headers: NonNullable<RequestInit['headers']>): headers is HeaderRecord {
  return !(Symbol.iterator in headers);
}

/** @param name - In lower case. */
function hasHeader(headers: Headers | HeaderRecord, name: string): boolean {
  if (headers instanceof Headers) return headers.has(name);
  return Object.keys(headers).some((key) => key.toLowerCase() === name);
}

/** Changes nothing of the caller's: a Headers object here is a copy. */
function withHeader(
  headers: Headers | HeaderRecord,
  name: string,
  value: string,
): Headers | HeaderRecord {
  if (!(headers instanceof Headers)) return { ...headers, [name]: value };
  headers.set(name, value);
  return headers;
}

function isRedirect({ status }: Response): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Whether the body, which a first attempt has read, can be sent again. */
function isReplayable(input: string | URL | Request, init: RequestInit | undefined): boolean {
  const body = init?.body ?? undefined;
  if (body === undefined) return !(input instanceof Request) || input.body === null;
  return (
    typeof body === 'string' ||
    body instanceof URLSearchParams ||
    body instanceof FormData ||
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body)
  );
}
