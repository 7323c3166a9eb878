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

/** In place of an answer that cannot be shaped or sent. */
const UNSHAPED: DoorAnswer = { status: 503, headers: { 'retry-after': '1' }, body: '' };

/**
 * Asks about the request as it came, and sends what `shape` makes of the verdict, with the session cookie where it
 * slides. No cache may keep the answer.
 *
 * Every request gets an answer: `shape` returns one for each verdict. If it throws, or returns a header that cannot be
 * sent, the answer is 503.
 *
 * @param shape - Must admit where `outcome` is `admitted` and nowhere else.
 */
export function answerByVerdict(
  check: Check,
  req: HttpRequest,
  res: HttpResponse,
  shape: (verdict: Verdict) => DoorAnswer,
): void {
  const verdict = check({
    method: req.method ?? 'GET',
    headers: req.headers,
    rawHeaders: req.rawHeaders,
    transport: selectTransport(req.headers),
    source: req,
    target: req.url,
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
