/**
 * The `/me` door: the check of nginx, ingress-nginx, HAProxy and programs.
 *
 * @module
 */

import type { ServerResponse } from 'node:http';
import { PATHS } from '@sallyport/protocol';
import type { Denial } from '../answer/answer.ts';
import { tellTransport } from '../answer/caller.ts';
import { NO_STORE_HEADERS } from '../answer/problem.ts';
import { requestIdOf } from '../answer/request-id.ts';
import { shapeAnswer } from '../answer/shape-answer.ts';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import type { Check } from '../verdict/check.ts';
import type { Identity, Verdict } from '../verdict/verdict.ts';
import type { VerdictCache } from './verdict-cache.ts';

/** What the door needs. */
export interface MeDoorOptions {
  readonly check: Check;
  readonly publicOrigin: string;
  /** Absent: no admission may be kept by a proxy. */
  readonly verdictCache?: VerdictCache | undefined;
}

const NO_STORE = NO_STORE_HEADERS.flat();

/** A node:http handler that answers or leaves the request to the next one. */
export type Door = (req: HttpRequest, res: HttpResponse) => boolean;

/**
 * Creates the door. It stands in front of the router, because a protected request waits for it.
 *
 * Answers exactly 200, 401, 403 or 503, to any method, with at most one Set-Cookie. The method the
 * cross-site rule looks at comes in `X-Original-Method`, the address for a later sign-in in
 * `X-Original-URI`; a page of another site cannot send these headers without asking first, so forged
 * ones only concern their sender.
 *
 * @returns A function that answers `true` when the request was for `/me`.
 */
export function createMeDoor({ check, publicOrigin, verdictCache }: MeDoorOptions): Door {
  /** An identity's headers, flat as `writeHead` takes them fastest; lives as long as the identity is remembered. */
  const prepared = {
    camelCase: new WeakMap<Identity, string[]>(),
    snakeCase: new WeakMap<Identity, string[]>(),
  };

  return function me(req, res) {
    const url = req.url ?? '';
    if (url !== PATHS.me && !url.startsWith(`${PATHS.me}?`)) return false;
    const method = req.headers['x-original-method'];
    const verdict = check({
      method: typeof method === 'string' ? method.toUpperCase() : (req.method ?? 'GET'),
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      transport: tellTransport(req.headers),
      source: req,
    });
    // A check neither throws nor rejects; a failure to write is the listener's to see.
    if (verdict instanceof Promise) void verdict.then((decided) => write(decided, req, res));
    else write(verdict, req, res);
    return true;
  };

  function write(verdict: Verdict, req: HttpRequest, res: HttpResponse): void {
    if (verdict.outcome === 'admitted') {
      const { identity, setCookie } = verdict;
      const spelling = req.headers.accept === 'application/json' ? 'snakeCase' : 'camelCase';
      const seconds = verdictCache?.(verdict, req.headers) ?? 0;
      const unkept = headersOf(identity, spelling);
      const headers = seconds === 0 ? unkept : keptFor(unkept, seconds);
      flat(res).writeHead(
        200,
        setCookie === undefined ? headers : [...headers, 'set-cookie', setCookie],
      );
      res.end(identity.body[spelling]);
      return;
    }
    const original = req.headers['x-original-uri'];
    const caller = {
      kind: 'subrequest',
      accept: undefined,
      target: typeof original === 'string' ? original : '/',
      requestId: requestIdOf(req.headers),
    } as const;
    const answer = shapeAnswer(verdict, caller, publicOrigin);
    if (answer.outcome === 'denied') writeDenial(answer, res);
  }

  function headersOf(identity: Identity, spelling: keyof typeof prepared): string[] {
    let headers = prepared[spelling].get(identity);
    if (headers === undefined) {
      headers = flatten(identity, identity.body[spelling]);
      prepared[spelling].set(identity, headers);
    }
    return headers;
  }
}

/** The same headers with another cache rule, which is the first of them. */
function keptFor(headers: readonly string[], seconds: number): string[] {
  return headers.with(headers.indexOf('x-accel-expires') + 1, String(seconds));
}

/** Copies a denial out. */
function writeDenial({ status, headers, body }: Denial, res: HttpResponse): void {
  flat(res).writeHead(
    status,
    [...headers, ['content-length', String(Buffer.byteLength(body))]].flat(),
  );
  res.end(body);
}

/** Both versions take flat headers, which their types agree on only one by one. */
function flat(res: HttpResponse): Pick<ServerResponse, 'writeHead'> {
  return res as ServerResponse;
}

function flatten(identity: Identity, body: string): string[] {
  const headers = [
    ...NO_STORE,
    'content-type',
    'application/json',
    'content-length',
    String(Buffer.byteLength(body)),
  ];
  for (const [name, value] of identity.headers) headers.push(name, value);
  return headers;
}
