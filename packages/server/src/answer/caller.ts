/**
 * What kind of caller a request comes from: the one place that decides between a redirect and a 401.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';

/**
 * `navigation`: a person's page load, which may be redirected. `grpc`: wants trailers-only answers.
 * `connect`: a Connect RPC, which wants the protocol's own error JSON. `program`: everything else.
 * `subrequest`: an ingress asks on behalf of a caller; it wants exactly 200, 401, 403 or 503.
 */
export type CallerKind = 'navigation' | 'program' | 'grpc' | 'connect' | 'subrequest';

/** The parts of a request that tell who asks. Untrusted. */
export interface CallerHints {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Tells the kind of a caller that reached us directly (a subrequest is known by its door, not by its headers).
 *
 * `Sec-Fetch-Mode` decides where a browser sends it; without it a GET or HEAD whose Accept names
 * `text/html` and that carries no `X-Requested-With` counts as a navigation. A caller can lie, and
 * gains nothing: the kind chooses the shape of a refusal, never whether it is one.
 */
export function tellCaller({ method, headers }: CallerHints): Exclude<CallerKind, 'subrequest'> {
  if (isGrpc(headers)) return 'grpc';
  if (
    headers['connect-protocol-version'] !== undefined ||
    headers['content-type']?.startsWith('application/connect+') === true
  )
    return 'connect';
  return isPageLoad(method, headers) ? 'navigation' : 'program';
}

/** `application/grpc`, `+proto`, `+json`; gRPC-Web is an HTTP request like any other. */
const GRPC_CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;

/** Whether a request, or the one a subrequest stands for, is a gRPC call. */
export function isGrpc(headers: IncomingHttpHeaders): boolean {
  const contentType = headers['content-type'];
  return contentType !== undefined && GRPC_CONTENT_TYPE.test(contentType);
}

/**
 * Whether a request was certainly not made by a person's navigation: a fetch, an asset, a WebSocket,
 * an RPC. Weaker than `tellCaller(…) !== 'navigation'`: a bare HTTP client that says nothing about
 * itself is not background, so that `/login` still answers it with the requirement's 302.
 */
export function isBackground({ method, headers }: CallerHints): boolean {
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode !== 'navigate';
  const kind = tellCaller({ method, headers });
  // gRPC-Web and its like too, which are answered as programs.
  if (kind === 'grpc' || kind === 'connect') return true;
  if (headers['content-type']?.startsWith('application/grpc') === true) return true;
  return (
    headers.upgrade !== undefined || headers['x-requested-with'] !== undefined || !isRead(method)
  );
}

function isPageLoad(method: string, headers: IncomingHttpHeaders): boolean {
  if (!isRead(method) || headers.upgrade !== undefined) return false;
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode === 'navigate';
  return headers['x-requested-with'] === undefined && (headers.accept ?? '').includes('text/html');
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
