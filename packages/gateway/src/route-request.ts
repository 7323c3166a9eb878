/**
 * The steps of one request, in order: screen, route, admit, forward.
 *
 * @module
 */

import { createRouteMatcher, type RouteGroup } from '@sallyport/protocol';
import type { BackendHeaderPolicy } from '@sallyport/server/verdict';
import { type AskAnswer, admit } from './admission.ts';
import type { Exchange } from './exchange.ts';
import type { ForwardGrpc } from './forward-grpc.ts';
import type { ForwardHttp } from './forward-http.ts';
import type { Log } from './log.ts';
import { type ProblemReason, sendProblem } from './problem.ts';
import { parseRequestTarget } from './request-target.ts';
import type { GatewayTimeouts } from './timeouts.ts';
import { buildUpstreamHeaders, selectRequestId, valuesOf } from './upstream-headers.ts';

/** What {@link createRequestRouter} needs. */
export interface RequestRouterOptions {
  readonly publicOrigin: URL;
  readonly routes: readonly RouteGroup[];
  readonly upstreamFor: (backend: string, transport: 'http' | 'grpc') => string | undefined;
  readonly answer: AskAnswer | undefined;
  readonly backendHeaders: BackendHeaderPolicy;
  readonly timeouts: GatewayTimeouts;
  readonly forwardHttp: ForwardHttp;
  readonly forwardGrpc: ForwardGrpc;
  readonly log: Log;
}

/** Takes a request to its answer. Never rejects. */
export type RouteRequest = (exchange: Exchange) => Promise<void>;

const HEADER_FIELDS_MAX = 200;
/** `application/grpc`, `+proto`, `+json`; gRPC-Web is an HTTP request like any other. */
const GRPC_CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;
/** RFC 9110 section 9.1: a method is a case-sensitive name, and every registered one is upper case. */
const METHOD = /^[A-Z][A-Z-]{0,31}$/;
/** CONNECT would make the gateway a tunnel, TRACE would echo the cookie to a script. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** Creates the one function every request goes through. */
export function createRequestRouter(options: RequestRouterOptions): RouteRequest {
  const { publicOrigin, upstreamFor, answer, backendHeaders, timeouts, log } = options;
  const matchRoute = createRouteMatcher(options.routes);

  return async function routeRequest(exchange) {
    const requestId = selectRequestId(exchange.rawHeaders);
    const isGrpc = GRPC_CONTENT_TYPE.test(exchange.headers['content-type'] ?? '');
    try {
      await takeSteps(exchange, requestId, isGrpc);
    } catch (error) {
      log('gateway.failed', {
        request_id: requestId,
        error: error instanceof Error ? error.name : typeof error,
      });
      sendProblem(exchange, 'internal_error', { requestId, isGrpc });
    }
  };

  async function takeSteps(exchange: Exchange, requestId: string, isGrpc: boolean): Promise<void> {
    const transport = isGrpc ? 'grpc' : 'http';
    const context = { requestId, isGrpc };
    const refusal = screen(exchange, isGrpc);
    if (refusal !== undefined) return sendProblem(exchange, refusal, context);
    const parsed = parseRequestTarget(exchange.target, publicOrigin.origin);
    if (!parsed.ok) return sendProblem(exchange, parsed.error.reason, context);
    const { target, path } = parsed.value;

    // A gRPC call has no query: with one, its path is not the method's name.
    const group = matchRoute(isGrpc ? target : path, transport);
    if (!group.streaming)
      limitRequest(exchange, timeouts.requestMs, () =>
        sendProblem(exchange, 'request_timeout', context),
      );

    const admission = group.protected
      ? await admit({ exchange, target, requestId, transport }, answer, log)
      : undefined;
    if (group.protected && admission === undefined) return undefined;
    if (exchange.isClosed) return undefined;

    const setCookie = admission?.setCookie;
    const origin = upstreamFor(group.backend, transport);
    if (origin === undefined)
      return sendProblem(exchange, 'route_not_served', { ...context, setCookie });
    const headers = buildUpstreamHeaders({
      exchange,
      group,
      identityHeaders: admission?.identityHeaders ?? [],
      requestId,
      publicOrigin,
      policy: backendHeaders,
    });
    const forward = isGrpc ? options.forwardGrpc : options.forwardHttp;
    return forward({ exchange, origin, target, group, headers, requestId, setCookie });
  }
}

/** What no route could make acceptable. */
function screen(exchange: Exchange, isGrpc: boolean): ProblemReason | undefined {
  const { method, rawHeaders, version, upgrade, headers } = exchange;
  if (REFUSED_METHODS.has(method) || !METHOD.test(method)) return 'method_not_supported';
  if (rawHeaders.length > HEADER_FIELDS_MAX * 2) return 'headers_overflow';
  if (valuesOf(rawHeaders, 'host').length > 1) return 'host_ambiguous';
  if (isGrpc && version === 'http/1') return 'grpc_needs_http2';
  if (isGrpc && method !== 'POST') return 'method_not_supported';
  // A body of an upgrade request would be read as the first bytes of the other protocol.
  if (
    upgrade !== undefined &&
    (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
  )
    return 'request_malformed';
  return undefined;
}

/** Runs out when a request body does not arrive whole in time. */
function limitRequest(exchange: Exchange, requestMs: number, onLate: () => void): void {
  const { body } = exchange;
  if (body === undefined) return;
  const timer = setTimeout(onLate, requestMs);
  const stop = () => clearTimeout(timer);
  body.once('end', stop);
  exchange.onClose(stop);
}
