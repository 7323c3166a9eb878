/**
 * The id that ties an answer to its log lines.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const WELL_FORMED = /^[A-Za-z0-9._-]{8,64}$/;

/**
 * Keeps a caller's `X-Request-Id` when it was sent once, short and harmless; else draws one.
 *
 * @param sent - The header, or all its values; untrusted.
 */
export function selectRequestId(sent: string | readonly string[] | undefined): string {
  return findRequestId(sent) ?? randomUUID();
}

/** Ids drawn for requests that brought none, so that answer and log name the same one. */
const drawn = new WeakMap<IncomingHttpHeaders, string>();

/**
 * The id of a request, the same however often it is asked for.
 *
 * @param headers - Node's own object of one request; untrusted.
 */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = findRequestId(headers['x-request-id']);
  if (sent !== undefined) return sent;
  let id = drawn.get(headers);
  if (id === undefined) {
    id = randomUUID();
    drawn.set(headers, id);
  }
  return id;
}

function findRequestId(sent: string | readonly string[] | undefined): string | undefined {
  const [id = '', ...more] = typeof sent === 'string' ? [sent] : (sent ?? []);
  return more.length === 0 && WELL_FORMED.test(id) ? id : undefined;
}
