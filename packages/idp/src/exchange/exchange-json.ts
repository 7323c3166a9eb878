/**
 * One request to an identity provider and its answer: bounded in time and size, without redirects.
 *
 * @module
 */

/** Limits of an exchange. */
export interface ExchangeLimits {
  /** Milliseconds for the whole exchange, the body included. */
  readonly timeoutMs: number;
  /** Largest body in bytes, decompressed. */
  readonly bodyMaxBytes: number;
}

/** An answer that was read to its end. Untrusted, and it may hold secrets. */
export interface JsonAnswer {
  readonly status: number;
  /** Value of the body; undefined where the body is no JSON. */
  readonly json: unknown;
}

/** The answer is larger than its limit; the rest of it was not read. The message completes "answered with". */
export class OversizedAnswer extends Error {
  override readonly name = 'OversizedAnswer';

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/**
 * Sends a request and reads the answer to its end.
 *
 * A redirect is an answer like any other: credentials are never sent on to another address. No error quotes the body, also
 * where that is no JSON.
 *
 * @throws {OversizedAnswer} When the body is larger than the limit. What `send` throws, when there is no answer in time.
 */
export async function exchangeJson(
  send: typeof fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, bodyMaxBytes }: ExchangeLimits,
): Promise<JsonAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await send(url, { ...init, redirect: 'manual', signal });
  const text = await readText(response, bodyMaxBytes);
  return { status: response.status, json: parse(text) };
}

/** Members of a JSON object; none where the value is anything else. */
export function membersOf(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? (json as Record<string, unknown>)
    : {};
}

/** What `fetch` hands over is decompressed already: a small body that unpacks to a large one is stopped as well. */
async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new OversizedAnswer(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
