/**
 * One HTTP exchange of the client: bounded in time and size, no redirects.
 *
 * @module
 */

/** Limits of an exchange. */
export interface FetchLimits {
  /** Milliseconds for the whole exchange, the body included. */
  readonly timeoutMs: number;
  /** Largest body in bytes, decoded. */
  readonly bodyMaxBytes: number;
}

/** Limits that suit metadata and tokens. */
export const DEFAULT_LIMITS: FetchLimits = { timeoutMs: 15_000, bodyMaxBytes: 262_144 };

/** What came back, read to its end. */
export interface BoundedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Untrusted. */
  readonly text: string;
}

/** Why there is no answer; holds nothing of what was sent. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure';
  readonly reason: 'no_answer' | 'timed_out' | 'too_large';

  constructor(reason: ExchangeFailure['reason'], cause?: unknown) {
    super(`exchange failed: ${reason}`, { cause });
    this.reason = reason;
  }
}

/**
 * Sends a request and reads the answer to its end.
 *
 * A redirect is an answer like any other: what is sent is never sent on to another address.
 *
 * @param init - Its `signal` ends the exchange; the signal's reason is then thrown as it is.
 *
 * @throws {ExchangeFailure} When there is no answer within the limits.
 */
export async function fetchBounded(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, bodyMaxBytes }: FetchLimits = DEFAULT_LIMITS,
): Promise<BoundedResponse> {
  const outer = init.signal ?? undefined;
  outer?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = outer === undefined ? timeout : AbortSignal.any([outer, timeout]);
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      credentials: 'omit',
      signal,
    });
    const text = await readText(response, bodyMaxBytes);
    return { status: response.status, headers: response.headers, text };
  } catch (cause) {
    if (outer?.aborted === true) throw outer.reason;
    if (cause instanceof ExchangeFailure) throw cause;
    throw new ExchangeFailure(timeout.aborted ? 'timed_out' : 'no_answer', cause);
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ExchangeFailure('too_large');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
