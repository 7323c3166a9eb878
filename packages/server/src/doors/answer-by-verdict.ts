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

/** Where the shape of an answer fails. */
const UNSHAPED: DoorAnswer = { status: 503, headers: { 'retry-after': '1' }, body: '' };

/**
 * Asks about the request as it came, and sends what `shape` makes of the verdict, with the session cookie where it
 * slides. No cache may keep the answer.
 *
 * Every request gets an answer: `shape` returns one for each verdict, and where it throws the answer is 503.
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
    const { status, headers = {}, body } = shapeSafely(decided, shape);
    res.statusCode = status;
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.setHeader('cache-control', 'no-store');
    res.setHeader('content-length', Buffer.byteLength(body));
    if (decided.outcome === 'admitted' && decided.setCookie !== undefined)
      res.setHeader('set-cookie', decided.setCookie);
    res.end(body);
  }
}

function shapeSafely(verdict: Verdict, shape: (verdict: Verdict) => DoorAnswer): DoorAnswer {
  try {
    return shape(verdict);
  } catch {
    return UNSHAPED;
  }
}
