/**
 * The embedded ingress: one port, the verdict in process.
 *
 * @module
 */

export type { AnswerRequest, AskAnswer } from './admission.ts';
export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export type { Log } from './log.ts';
export { DEFAULT_TIMEOUTS, type GatewayTimeouts } from './timeouts.ts';
export type { TlsOptions } from './tls-front.ts';
