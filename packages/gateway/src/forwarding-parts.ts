/**
 * Listeners and the gRPC forwarder without the gateway around them: `@sallyport/gateway/forwarding`.
 *
 * @module
 */

export type { Exchange } from './exchange.ts';
export { createGrpcForwarder, type GrpcForwarder } from './forward-grpc.ts';
export { createHttp1Listener } from './http1-listener.ts';
export { createHttp2Listener } from './http2-listener.ts';
export { DEFAULT_TIMEOUTS, type GatewayTimeouts } from './timeouts.ts';
