/**
 * The door of a plain node:http or node:http2 service.
 *
 * @module
 */

import { selectTransport } from '../answer/caller.ts';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import type { Identity, Verdict } from '../verdict/verdict.ts';
import { type PageDoorOptions, shapeRefusal } from './refusal.ts';
import { addCookieAtWrite } from './unshared.ts';

/** Calls `next` with the verified caller, or answers the request itself. */
export type NodeDoor = (
  req: HttpRequest,
  res: HttpResponse,
  next: (identity: Identity) => void,
) => void;

/**
 * Creates the door.
 *
 * A refusal is shaped for the caller's kind: a problem document for a program and, unless `redirectsPages` is
 * set, for a page load; the protocol's own error for a call over Connect, gRPC or gRPC-Web. `next` runs in
 * the same turn when the verdict is remembered.
 *
 * Does not look at the path: which routes are protected is its caller's to say.
 */
export function createNodeDoor(options: PageDoorOptions): NodeDoor {
  return function door(req, res, next) {
    const verdict = options.check({
      method: req.method ?? 'GET',
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      transport: selectTransport(req.headers),
      source: req,
      target: req.url,
    });
    // A check neither throws nor rejects.
    if (verdict instanceof Promise) void verdict.then((decided) => enter(decided, req, res, next));
    else enter(verdict, req, res, next);
  };

  function enter(
    verdict: Verdict,
    req: HttpRequest,
    res: HttpResponse,
    next: (identity: Identity) => void,
  ): void {
    if (verdict.outcome === 'admitted') {
      if (verdict.setCookie !== undefined) addCookieAtWrite(res, verdict.setCookie);
      next(verdict.identity);
      return;
    }
    const { method = 'GET', headers, url: target = '/' } = req;
    send(res, shapeRefusal(verdict, { method, headers, target }, options));
  }
}

/**
 * Sends a whole answer. Headers are set one by one because Node then puts END_STREAM on them when there is
 * no body, which a gRPC client needs to find its status there.
 */
export function send(
  res: HttpResponse,
  answer: {
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
    readonly body: string | Buffer;
  },
): void {
  res.statusCode = answer.status;
  for (const [name, value] of answer.headers) res.setHeader(name, value);
  if (answer.body.length === 0) {
    res.end();
    return;
  }
  res.setHeader('content-length', Buffer.byteLength(answer.body));
  res.end(answer.body);
}
