/**
 * The steps of one request, in order: screen, route, admit, forward.
 *
 * @module
 */

import { createRouteMatcher, type RouteGroup } from '@sallyport/protocol';
import {
  type BackendHeaderPolicy,
  type CallerKind,
  classifyCaller,
  selectRequestId,
} from '@sallyport/server/verdict';
import { type AskAnswer, admit } from './admission.ts';
import type { Exchange } from './exchange.ts';
import type { ForwardGrpc } from './forward-grpc.ts';
import type { ForwardHttp } from './forward-http.ts';
import type { Log } from './log.ts';
import { type ProblemReason, sendProblem } from './problem.ts';
import { parseRequestTarget } from './request-target.ts';
import type { GatewayTimeouts } from './timeouts.ts';
import { buildUpstreamHeaders, valuesOf } from './upstream-headers.ts';

/** What {@link createRequestRouter} needs. */
export interface RequestRouterOptions {
  readonly publicOrigin: URL;
  readonly routes: readonly RouteGroup[];
  readonly upstreamFor: UpstreamFor;
  readonly answer: AskAnswer | undefined;
  readonly backendHeaders: BackendHeaderPolicy;
  readonly timeouts: GatewayTimeouts;
  readonly forwardHttp: ForwardHttp;
  readonly forwardGrpc: ForwardGrpc;
  readonly log: Log;
}

/** Finds the origin of a group's backend for a transport; `undefined` when it is not run. */
export type UpstreamFor = (group: RouteGroup, transport: 'http' | 'grpc') => string | undefined;

/** Takes a request to its answer. Never throws or rejects. */
export type RouteRequest = (exchange: Exchange) => void;

const HEADER_FIELDS_MAX = 200;
/** RFC 9110 section 9.1: a method is a case-sensitive name, and every registered one is upper case. */
const METHOD = /^[A-Z][A-Z-]{0,31}$/;
/** CONNECT would make the gateway a tunnel, TRACE would echo the cookie to a script. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** Creates the one function every request goes through. */
export function createRequestRouter(options: RequestRouterOptions): RouteRequest {
  const { publicOrigin, upstreamFor, answer, backendHeaders, timeouts, log } = options;
  const matchRoute = createRouteMatcher(options.routes);

  return (exchange) => void routeRequest(exchange);

  async function routeRequest(exchange: Exchange): Promise<void> {
    const requestId = selectRequestId(valuesOf(exchange.rawHeaders, 'x-request-id'));
    try {
      await takeSteps(exchange, requestId);
    } catch (error) {
      log('gateway.failed', {
        request_id: requestId,
        error: error instanceof Error ? error.name : typeof error,
      });
      sendProblem(exchange, 'internal_error', { requestId });
    }
  }

  async function takeSteps(exchange: Exchange, requestId: string): Promise<void> {
    const kind = classifyCaller(exchange);
    // What an ingress asks `/me` about a call has its content type too, and is an HTTP request.
    const isGrpc = kind === 'grpc' && exchange.version === 'http/2' && exchange.method === 'POST';
    const transport = isGrpc ? 'grpc' : 'http';
    const context = { requestId };
    const refusal = screen(exchange);
    if (refusal !== undefined) return sendProblem(exchange, refusal, context);
    const parsed = parseRequestTarget(exchange.target, publicOrigin.origin);
    if (!parsed.ok) return sendProblem(exchange, parsed.error.reason, context);
    const { target, path } = parsed.value;

    // A gRPC call has no query: with one, its path is not the method's name.
    const group = matchRoute(isGrpc ? target : path, transport);
    if (kind === 'grpc' && !isGrpc && group.transport === 'grpc')
      return sendProblem(
        exchange,
        exchange.version === 'http/1' ? 'grpc_needs_http2' : 'method_not_supported',
        context,
      );
    if (!group.streaming)
      limitRequest(exchange, timeouts.requestMs, () =>
        sendProblem(exchange, 'request_timeout', context),
      );

    const admission = group.protected
      ? await admit({ exchange, target, requestId, transport: bearerTransport(kind) }, answer, log)
      : undefined;
    if (group.protected && admission === undefined) return undefined;
    if (exchange.isClosed) return undefined;

    const setCookie = admission?.setCookie;
    const origin = upstreamFor(group, transport);
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

/**
 * All RPC clients read the name of the bearer header from one metadata service, which names that of gRPC. So a
 * Connect or gRPC-Web call counts as gRPC here, although it is forwarded as HTTP.
 */
function bearerTransport(kind: CallerKind): 'http' | 'grpc' {
  return kind === 'grpc' || kind === 'grpc-web' || kind === 'connect' ? 'grpc' : 'http';
}

/** What no route could make acceptable. */
function screen(exchange: Exchange): ProblemReason | undefined {
  const { method, rawHeaders, upgrade, headers } = exchange;
  if (REFUSED_METHODS.has(method) || !METHOD.test(method)) return 'method_not_supported';
  if (rawHeaders.length > HEADER_FIELDS_MAX * 2) return 'headers_overflow';
  if (valuesOf(rawHeaders, 'host').length > 1) return 'host_ambiguous';
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
