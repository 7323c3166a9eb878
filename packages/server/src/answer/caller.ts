/**
 * What kind of caller a request comes from: the one place that decides between a redirect and a 401.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';

/**
 * `navigation`: a person's page load, which may be redirected. `grpc` and `grpc-web`: want trailers-only
 * answers, each under its own content type. `connect`: a Connect RPC, which wants the protocol's own error JSON. `program`: everything else.
 * `subrequest`: an ingress asks on behalf of a caller; it wants exactly 200, 401, 403 or 503.
 */
export type CallerKind = 'navigation' | 'program' | 'grpc' | 'grpc-web' | 'connect' | 'subrequest';

/** The parts of a request that show what kind of caller sent it. Untrusted. */
export interface CallerHints {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * The kind of a caller that reached this service directly (a subrequest is known by its door, not by its headers).
 *
 * `Sec-Fetch-Mode` decides where a browser sends it; without it a GET or HEAD whose Accept names
 * `text/html` and that carries no `X-Requested-With` counts as a navigation. A caller can lie, and
 * gains nothing: the kind chooses the shape of a refusal, never whether it is one.
 */
export function classifyCaller({
  method,
  headers,
}: CallerHints): Exclude<CallerKind, 'subrequest'> {
  return classifyRpc(headers) ?? (isPageLoad(method, headers) ? 'navigation' : 'program');
}

/** `application/grpc`, `+proto`, `+json`; gRPC-Web travels as an HTTP request like any other. */
const GRPC_CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;
/** `application/grpc-web`, `-text`, `+proto`. */
const GRPC_WEB_CONTENT_TYPE = /^application\/grpc-web(?:-text)?(?:[+;]|$)/i;
/** Streams, and unary messages in binary; a unary message in JSON shows in its version header alone. */
const CONNECT_CONTENT_TYPE = /^application\/(?:connect\+|proto(?:;|$))/i;

/**
 * Which of the two configured authorization headers a request carries its bearer in. Clients of every kind of RPC
 * read the name from `GetPublicClientConfig`, which holds the gRPC one, so the kind of call decides and not the
 * HTTP version.
 */
export function selectTransport(headers: IncomingHttpHeaders): 'http' | 'grpc' {
  return classifyRpc(headers) === undefined ? 'http' : 'grpc';
}

function classifyRpc(headers: IncomingHttpHeaders): 'grpc' | 'grpc-web' | 'connect' | undefined {
  const contentType = headers['content-type'];
  if (contentType !== undefined) {
    if (GRPC_CONTENT_TYPE.test(contentType)) return 'grpc';
    if (GRPC_WEB_CONTENT_TYPE.test(contentType)) return 'grpc-web';
    if (CONNECT_CONTENT_TYPE.test(contentType)) return 'connect';
  }
  return headers['connect-protocol-version'] === undefined ? undefined : 'connect';
}

/**
 * Whether a request was certainly not made by a person's navigation: a fetch, an asset, a WebSocket,
 * an RPC. Weaker than `classifyCaller(…) !== 'navigation'`: a bare HTTP client that says nothing about
 * itself is not background, so that `/login` still answers it with the requirement's 302.
 */
export function isBackground({ method, headers }: CallerHints): boolean {
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode !== 'navigate';
  if (classifyRpc(headers) !== undefined) return true;
  if (headers['content-type']?.startsWith('application/grpc') === true) return true;
  return (
    headers.upgrade !== undefined || headers['x-requested-with'] !== undefined || !isRead(method)
  );
}

/**
 * Whether a browser says that it loads a part of a page, of any author, or something that a person
 * has not asked for yet: an image, a script, a fetch, a prefetch. Any page can cause as many as it likes.
 *
 * @see [Fetch Metadata](https://www.w3.org/TR/fetch-metadata/)
 */
export function isSubresource(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode'];
  return (mode !== undefined && mode !== 'navigate') || isPrefetch(headers);
}

/**
 * Whether a browser loads a page ahead, in case the person goes there: a speculation rule, a link that the
 * pointer rests on. It sends the cookies and says that it navigates, as if the person had.
 *
 * @see [Prefetch, `Sec-Purpose`](https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header)
 */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  return [headers['sec-purpose'], headers['purpose'], headers['x-moz'], headers['x-purpose']].some(
    (purpose) => /\b(?:prefetch|prerender|preview)\b/i.test(String(purpose ?? '')),
  );
}

/** Whether a browser says that it loads a page into a frame, or into what is like one. */
export function isFramed(headers: IncomingHttpHeaders): boolean {
  const dest = headers['sec-fetch-dest'];
  return dest !== undefined && dest !== 'document';
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
