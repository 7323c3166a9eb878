/**
 * The one way out to the IdP: bounded in time and size, no redirects, no surprises.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';

/** Dependencies and limits of {@link createIdpFetch}. */
export interface IdpFetchOptions {
  readonly fetch: typeof fetch;
  readonly now: () => number;
  /** Milliseconds for a whole exchange. */
  readonly timeoutMs: number;
  /** Largest answer in bytes. */
  readonly bodyMaxBytes: number;
}

/** A fetch for one IdP; `rememberKeysOf` names the JWKS address once metadata is known. */
export interface IdpFetch {
  /** @param timeoutMs - For this exchange, in place of the usual one. */
  readonly fetch: (url: string, init: RequestInit, timeoutMs?: number) => Promise<Response>;
  rememberKeysOf(jwksUri: string | undefined): void;
}

interface KeySet {
  readonly body: string;
  readonly headers: [string, string][];
  readonly fetchedAt: number;
}

/** A forged `kid` may cause one fetch of the key set in this time, however often it is tried. */
const KEYS_COOL_DOWN_MS = 30_000;
/** The last good key set serves for so long while the IdP cannot give a new one. */
const KEYS_KEPT_MS = 86_400_000;

/**
 * Creates the fetch.
 *
 * The key set is fetched once at a time and at most once per cool-down; when that fails, the last
 * good one is used within a bound. TLS is verified by the runtime and cannot be switched off here.
 */
export function createIdpFetch({ fetch, now, timeoutMs, bodyMaxBytes }: IdpFetchOptions): IdpFetch {
  let jwksUri: string | undefined;
  let kept: KeySet | undefined;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<KeySet> | undefined;

  return {
    async fetch(url, init, patienceMs = timeoutMs) {
      return url === jwksUri
        ? toResponse(await keySet(url, init))
        : await request(url, init, patienceMs);
    },
    rememberKeysOf(uri) {
      if (uri !== jwksUri) kept = undefined;
      jwksUri = uri;
    },
  };

  async function keySet(url: string, init: RequestInit): Promise<KeySet> {
    const age = kept === undefined ? Number.POSITIVE_INFINITY : now() - kept.fetchedAt;
    // A clock that was set back must not stop the looking.
    const isCooling = Math.abs(now() - attemptedAt) < KEYS_COOL_DOWN_MS;
    if (kept !== undefined && isCooling && age < KEYS_KEPT_MS) return kept;
    attemptedAt = now();
    inFlight ??= fetchKeySet(url, init).finally(() => {
      inFlight = undefined;
    });
    try {
      kept = await inFlight;
    } catch (error) {
      if (kept === undefined || age >= KEYS_KEPT_MS) throw error;
    }
    return kept;
  }

  async function fetchKeySet(url: string, init: RequestInit): Promise<KeySet> {
    const response = await request(url, init, timeoutMs);
    if (!response.ok) {
      const detail = `the key set was answered with status ${response.status}`;
      // A server that says of itself that it is broken says nothing about keys.
      throw response.status >= 500
        ? new SallyportError('SP_IDP_UNREACHABLE', {
            component: 'idp',
            detail,
            retryAfterSeconds: 5,
          })
        : new Error(detail);
    }
    const body = await response.text();
    return {
      body,
      headers: [['content-type', response.headers.get('content-type') ?? '']],
      fetchedAt: now(),
    };
  }

  async function request(url: string, init: RequestInit, patienceMs: number): Promise<Response> {
    try {
      const response = await fetch(url, {
        ...init,
        redirect: 'manual',
        signal: AbortSignal.timeout(patienceMs),
      });
      return new Response(await readBounded(response), {
        // A status without a body may not be given one; only its absence is of interest.
        status: response.status === 204 || response.status === 304 ? 200 : response.status,
        headers: withoutEncoding(response.headers),
      });
    } catch (cause) {
      if (cause instanceof RangeError) throw cause;
      // Told apart from everything an IdP that does answer can get wrong.
      throw new SallyportError('SP_IDP_UNREACHABLE', {
        component: 'idp',
        cause,
        retryAfterSeconds: 5,
      });
    }
  }

  async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > bodyMaxBytes) throw new RangeError('the answer is too large');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

function toResponse({ body, headers }: KeySet): Response {
  return new Response(body, { headers });
}

/** The body is decoded already; saying otherwise would have it decoded twice. */
function withoutEncoding(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete('content-encoding');
  kept.delete('content-length');
  return kept;
}
