/**
 * HTTP listener: one port for HTTP/1.1 and HTTP/2, with graceful shutdown.
 *
 * @module
 */

export type { Connections } from './connections.ts';
export type { ClosedConnection } from './crowded-port.ts';
export {
  type HttpHandler,
  type HttpListener,
  type HttpRequest,
  type HttpResponse,
  type ListenOptions,
  listenOnOnePort,
} from './http-service.ts';
export { createHttp1Connections } from './http1-connections.ts';
export { createHttp1Server } from './http1-server.ts';
export { type IdleTimes, limitIdleTime } from './idle-time.ts';
export { type ListenKeys, type ListenPlace, listenFailure } from './listen-failure.ts';
export {
  createOnePort,
  detectProtocol,
  type OnePort,
  type OnePortOptions,
  type WireProtocol,
} from './one-port.ts';
export { type Listener, type OpenListeners, openListeners } from './open-listeners.ts';
export type { ServiceTimeouts } from './timeouts.ts';
