/**
 * One HTTP exchange of a probe: bounded in time and size, without redirects.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import { createIssuerFetch } from '@sallyport/server/issuer';
import { codeOf, type Network } from './network.ts';

/** An answer, read to its end. Untrusted. */
export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Epoch milliseconds here, when the request left and when the answer was there. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * Why there is none: `too_large`, `too_slow` (its body began), `headers_slow` (its headers did), or the code of the system or the
 * parser of HTTP.
 */
export interface NoAnswer {
  readonly code: string;
  /** Host of the proxy that the request went through, where no answer had begun; empty otherwise. */
  readonly proxy: string;
}

/** A failure has no more causes underneath than this, as far as they are looked at. */
const CAUSES_MAX = 6;

/** Completes "the platform …" for a request without an answer that could be read. */
export function describeNoAnswer({ code, proxy }: NoAnswer): string {
  if (isOfProxy({ code, proxy })) return `cannot be reached through the proxy ${proxy}`;
  if (code === 'too_large') return 'answers too much: more than 1 MiB';
  if (code === 'too_slow') return 'answers too slowly: not to the end within five seconds';
  if (code === 'headers_slow')
    return 'sends the headers of its answer too slowly: not to the end within five seconds';
  if (code.startsWith('HPE_')) return 'answers no HTTP';
  return 'takes connections and does not answer';
}

/** What to do about it: of a way through a proxy that is not open, to look at that. */
export function fixNoAnswer(noAnswer: NoAnswer, otherwise: string): string {
  if (!isOfProxy(noAnswer)) return otherwise;
  const fix = 'Compare HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and look at the log of that proxy.';
  return mayBeOfServer(noAnswer) ? `${fix} If the proxy reached the server: ${otherwise}` : fix;
}

/** A certificate is of the server behind the proxy, which was reached then. */
function isOfProxy({ code, proxy }: NoAnswer): boolean {
  return proxy !== '' && !/CERT|SIGNATURE|TLS|SSL|^HPE_/.test(code);
}

/** Whether the server behind an open way may be what is silent or closes the connection. */
function mayBeOfServer({ code }: NoAnswer): boolean {
  return /^(?:ETIMEDOUT|ECONNRESET|EPIPE)$|^UND_ERR/.test(code);
}

/** Sends one request. A redirect is an answer like any other, so that what was sent goes nowhere else. */
export type Ask = (url: string, init?: RequestInit) => Promise<Result<Answer, NoAnswer>>;

/** Creates the exchange. */
export function createAsk(
  { fetch, hears, findProxy }: Pick<Network, 'fetch' | 'hears' | 'findProxy'>,
  now: () => number,
): Ask {
  return async (url, init = {}) => {
    const sentAt = now();
    let hasBegun = false;
    let limit: AbortSignal | null | undefined;
    const send = createIssuerFetch({
      async fetch(input, asked) {
        limit = asked?.signal;
        const response = await fetch(input, asked);
        hasBegun = true;
        return response;
      },
    });
    try {
      const response = await send(url, { credentials: 'omit', ...init });
      const text = await response.text();
      const { status, headers } = response;
      return accept({ url, status, headers, text, sentAt, receivedAt: now() });
    } catch (error) {
      if (error instanceof RangeError) return refuse({ code: 'too_large', proxy: '' });
      if (limit?.aborted === true) {
        if (hasBegun) return refuse({ code: 'too_slow', proxy: '' });
        // A time-out alone does not say whether headers were on their way.
        if (await hears(new URL(url))) return refuse({ code: 'headers_slow', proxy: '' });
      }
      const proxy = hasBegun ? undefined : findProxy(new URL(url));
      const host = proxy === undefined ? '' : (URL.parse(proxy)?.host ?? '');
      return refuse({ code: codeOf(error) || nameOf(error), proxy: host });
    }
  };
}

function nameOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return 'no answer';
  // Through a proxy a time-out is the cause of the request that was not sent.
  let looked: unknown = cause;
  for (let depth = 0; depth < CAUSES_MAX && looked instanceof Error; depth += 1) {
    if (looked.name === 'TimeoutError') return 'ETIMEDOUT';
    looked = looked.cause;
  }
  return cause.name;
}

/** The body as a JSON object; `undefined` when it is none. */
export function readObject({
  text,
}: Pick<Answer, 'text'>): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it is a page for people. */
export function isPage({ headers }: Pick<Answer, 'headers'>): boolean {
  return /\bhtml\b/i.test(headers.get('content-type') ?? '');
}

/** Where a redirect leads; `undefined` when the answer is none. */
export function locationOf({ url, status, headers }: Answer): URL | undefined {
  if (status < 300 || status >= 400) return undefined;
  return URL.parse(headers.get('location') ?? '', url) ?? undefined;
}

/** Status and kind of an answer, for evidence; never a body, a query or a cookie. */
export function describeAnswer(answer: Answer): string {
  const { url, status, headers } = answer;
  const { origin, pathname } = new URL(url);
  const to = locationOf(answer);
  const type = (headers.get('content-type') ?? '').split(';')[0];
  const what = to !== undefined ? `to ${to.origin}${to.pathname}` : type;
  return `${origin}${pathname} answered ${status} ${what}`;
}

/** The reason of a problem document; empty when it is no word: a server may put anything there. */
export function reasonOf(answer: Pick<Answer, 'text'>): string {
  const reason = readObject(answer)?.['reason'];
  return typeof reason === 'string' && /^[a-z_]{1,40}$/.test(reason) ? reason : '';
}
