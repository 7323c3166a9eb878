/**
 * A span for each request that is traced, named by its route.
 *
 * @module
 */

import { PATHS, RPC_PATHS } from '@sallyport/protocol';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../listener/connections.ts';
import type { RequestSpan, SpanDescription, Tracer } from '../../trace/tracer.ts';

/** RFC 9110 section 9 and RFC 5789. A caller can make up any other, so those share one name. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
]);
/** Every route this service answers itself; the path of another one is not recorded. */
const ROUTES: ReadonlySet<string> = new Set([...Object.values(PATHS), ...RPC_PATHS]);
const SERVER_ERROR = 500;

/**
 * Puts a span around every request that the tracer picks.
 *
 * Names follow the semantic conventions for HTTP, but for the path and the addresses, which are left
 * out: a path holds what a caller likes, and an address is a person's.
 *
 * @param tracer - Absent where nothing is traced: the very same handler is returned.
 *
 * @see [Semantic conventions for HTTP spans](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server-span)
 */
export function traceRequests(handler: HttpHandler, tracer: Tracer | undefined): HttpHandler {
  if (tracer === undefined) return handler;
  return function traced(req, res) {
    const span = tracer.begin(req.headers, () => describe(req));
    if (span === undefined) {
      handler(req, res);
      return;
    }
    res.once('close', () => finish(span, res));
    span.run(() => handler(req, res));
  };
}

function describe(req: HttpRequest): SpanDescription {
  const sent = req.method ?? 'GET';
  const isKnown = METHODS.has(sent);
  const route = routeOf(req.url ?? '');
  const name = isKnown ? sent : 'HTTP';
  return {
    name: route === undefined ? name : `${name} ${route}`,
    attributes: {
      'http.request.method': isKnown ? sent : '_OTHER',
      ...(route === undefined ? {} : { 'http.route': route }),
      'url.scheme': 'http',
      'network.protocol.version': req.httpVersionMajor === 2 ? '2' : '1.1',
    },
  };
}

function routeOf(url: string): string | undefined {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  return ROUTES.has(path) ? path : undefined;
}

/** The answer is written, or its connection is gone; who hung up is no failure of ours. */
function finish(span: RequestSpan, res: HttpResponse): void {
  if (res.headersSent) {
    span.set({ 'http.response.status_code': res.statusCode });
    if (res.statusCode >= SERVER_ERROR) span.fail(String(res.statusCode));
  }
  span.end();
}
