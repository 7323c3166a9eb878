/**
 * The listeners without the gateway behind them: `@sallyport/gateway/listeners`.
 *
 * @module
 */

export type { Exchange } from './exchange.ts';
export { createHttp1Listener } from './http1-listener.ts';
export { createHttp2Listener } from './http2-listener.ts';
export { DEFAULT_TIMEOUTS, type GatewayTimeouts } from './timeouts.ts';
export { createTlsFront, findTlsFault, type TlsFront, type TlsOptions } from './tls-front.ts';
