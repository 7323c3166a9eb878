/**
 * Port: the log of the gateway.
 *
 * @module
 */

/** Events of the gateway; `up` writes them to its log. */
export type GatewayEvent = 'gateway.answer_failed' | 'gateway.failed' | 'gateway.upstream_failed';

/** Writes one event. Fields hold no path, query, header value or token. */
export type Log = (
  event: GatewayEvent,
  fields: Readonly<Record<string, string | number | boolean>>,
) => void;
