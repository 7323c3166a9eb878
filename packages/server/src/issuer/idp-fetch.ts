/**
 * Requests to an issuer: bounded in time and size, without redirects.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { WITHOUT_BODY } from './http-fetch.ts';

/** Dependencies and limits of {@link createIdpFetch}. */
export interface IdpFetchOptions {
  readonly fetch: typeof fetch;
  /** Milliseconds for a whole exchange. */
  readonly timeoutMs: number;
  /** Largest answer in bytes. */
  readonly bodyMaxBytes: number;
}

/** How one exchange differs from the usual ones. */
export interface ExchangePatience {
  readonly fetch: typeof fetch;
  /** Milliseconds for the whole exchange. */
  readonly timeoutMs: number;
  /** Ends the wait before that. */
  readonly signal: AbortSignal;
}

/** A fetch for one IdP. */
export interface IdpFetch {
  readonly fetch: (
    url: string,
    init: RequestInit,
    patience?: ExchangePatience,
  ) => Promise<Response>;
}

/**
 * Creates the fetch.
 *
 * TLS is verified by the runtime and cannot be switched off here.
 */
export function createIdpFetch({ fetch, timeoutMs, bodyMaxBytes }: IdpFetchOptions): IdpFetch {
  return { fetch: request };

  async function request(
    url: string,
    init: RequestInit,
    patience?: ExchangePatience,
  ): Promise<Response> {
    const timeUp = AbortSignal.timeout(patience?.timeoutMs ?? timeoutMs);
    try {
      const response = await (patience?.fetch ?? fetch)(url, {
        ...init,
        redirect: 'manual',
        signal: patience === undefined ? timeUp : AbortSignal.any([timeUp, patience.signal]),
      });
      return new Response(await readBounded(response), {
        // A status without a body may not be given one; only its absence is of interest.
        status: WITHOUT_BODY.has(response.status) ? 200 : response.status,
        headers: withoutEncoding(response.headers),
      });
    } catch (cause) {
      if (cause instanceof RangeError) throw cause;
      // A code of its own: an IdP that does answer can fail in other ways.
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

/** The body is decoded already; saying otherwise would have it decoded twice. */
function withoutEncoding(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete('content-encoding');
  kept.delete('content-length');
  return kept;
}
