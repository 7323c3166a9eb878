/**
 * A verdict to a whole answer, for doors that need no more than status, headers and body.
 *
 * @module
 */

import { selectTransport } from '../answer/caller.ts';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import type { Check } from '../verdict/check.ts';
import type { Verdict } from '../verdict/verdict.ts';

/** A whole answer. */
export interface DoorAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The request that a door asks about. */
export interface OriginalRequest {
  /** The cross-site rule looks at it. */
  readonly method: string;
  /** Path and query, for log lines; absent where they are not known. */
  readonly target?: string | undefined;
}

/** In place of an answer that cannot be shaped or sent. */
const UNSHAPED: DoorAnswer = { status: 503, headers: { 'retry-after': '1' }, body: '' };

/**
 * Asks for the verdict, and sends what `shape` makes of it, with the session cookie where it slides. No cache may keep
 * the answer.
 *
 * Every request gets an answer: `shape` returns one for each verdict. If it throws, or returns a header that cannot be
 * sent, the answer is 503.
 *
 * @param shape - Must admit where `outcome` is `admitted` and nowhere else.
 * @param original - For a door that an ingress asks about another request, as the ingress names it; by default the
 *   request as it came.
 */
export function answerByVerdict(
  check: Check,
  req: HttpRequest,
  res: HttpResponse,
  shape: (verdict: Verdict) => DoorAnswer,
  original: OriginalRequest = { method: req.method ?? 'GET', target: req.url },
): void {
  const verdict = check({
    ...original,
    headers: req.headers,
    rawHeaders: req.rawHeaders,
    transport: selectTransport(req.headers),
    source: req,
  });
  // A check neither throws nor rejects.
  if (verdict instanceof Promise) void verdict.then(send);
  else send(verdict);

  function send(decided: Verdict): void {
    let body: string;
    try {
      body = setHead(res, shape(decided));
      if (decided.outcome === 'admitted' && decided.setCookie !== undefined)
        res.setHeader('set-cookie', decided.setCookie);
    } catch {
      for (const name of res.getHeaderNames()) res.removeHeader(name);
      body = setHead(res, UNSHAPED);
    }
    res.end(body);
  }
}

/** Sets status and headers, and returns the body to send. */
function setHead(res: HttpResponse, { status, headers = {}, body }: DoorAnswer): string {
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.setHeader('cache-control', 'no-store');
  res.setHeader('content-length', Buffer.byteLength(body));
  return body;
}
