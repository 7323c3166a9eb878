/**
 * The `/me` door: the check of nginx, ingress-nginx, HAProxy and programs.
 *
 * @module
 */

import type { ServerResponse } from 'node:http';
import { PATHS } from '@sallyport/protocol';
import type { Denial } from '../answer/answer.ts';
import { selectTransport } from '../answer/caller.ts';
import { NO_STORE_HEADERS } from '../answer/problem.ts';
import { shapeDenial } from '../answer/shape-answer.ts';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import { requestIdOf } from '../log/request-id.ts';
import type { Check } from '../verdict/check.ts';
import type { Identity, Verdict } from '../verdict/verdict.ts';
import type { DoorHandler, HttpDoor } from './door.ts';
import { createVerdictCache, type VerdictCache } from './verdict-cache.ts';

/** What the handler is made from. */
export interface MeHandlerOptions {
  readonly check: Check;
  readonly publicOrigin: string;
  /** Absent: no admission may be kept by a proxy. */
  readonly verdictCache?: VerdictCache | undefined;
}

const NO_STORE = NO_STORE_HEADERS.flat();

/** `/me`. */
export const meDoor: HttpDoor = {
  name: 'me',
  handler: ({ check, publicOrigin, settings, now }) =>
    createMeHandler({
      check,
      publicOrigin,
      verdictCache: createVerdictCache(settings.me.verdictCacheMs, now),
    }),
};

/**
 * Creates the handler.
 *
 * Answers exactly 200, 401, 403 or 503, to any method, with at most one Set-Cookie. The method the
 * cross-site rule looks at comes in `X-Original-Method`, the address for a later sign-in in
 * `X-Original-URI`; a page of another site cannot send these headers without asking first, so forged
 * ones only concern their sender.
 *
 * @returns A function that answers `true` when the request was for `/me`.
 */
export function createMeHandler({
  check,
  publicOrigin,
  verdictCache,
}: MeHandlerOptions): DoorHandler {
  return function me(req, res) {
    const url = req.url ?? '';
    if (url !== PATHS.me && !url.startsWith(`${PATHS.me}?`)) return false;
    const method = req.headers['x-original-method'];
    const verdict = check({
      method: typeof method === 'string' ? method.toUpperCase() : (req.method ?? 'GET'),
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      transport: selectTransport(req.headers),
      source: req,
      target: originalTarget(req),
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
      const body = identity.body[spelling];
      const seconds = verdictCache?.(verdict, req.headers) ?? 0;
      flat(res).writeHead(200, listHeaders(identity, body, seconds, setCookie));
      res.end(body);
      return;
    }
    const caller = {
      kind: 'subrequest',
      accept: undefined,
      target: originalTarget(req) ?? '/',
      requestId: requestIdOf(req.headers),
    } as const;
    writeDenial(shapeDenial(verdict, caller, publicOrigin), res);
  }
}

/** Path and query of the request that the ingress asks about. */
function originalTarget({ headers }: HttpRequest): string | undefined {
  const target = headers['x-original-uri'];
  return typeof target === 'string' ? target : undefined;
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

/** An admission's headers, flat as `writeHead` takes them fastest. */
function listHeaders(
  identity: Identity,
  body: string,
  keptSeconds: number,
  setCookie: string | undefined,
): string[] {
  const headers = [
    ...(keptSeconds === 0 ? NO_STORE : keptFor(keptSeconds)),
    'content-type',
    'application/json',
    'content-length',
    String(Buffer.byteLength(body)),
    ...identity.headers,
  ];
  if (setCookie !== undefined) headers.push('set-cookie', setCookie);
  return headers;
}

/** nginx may keep it for so long, no other cache at all. */
function keptFor(seconds: number): readonly string[] {
  return NO_STORE.with(NO_STORE.indexOf('x-accel-expires') + 1, String(seconds));
}
