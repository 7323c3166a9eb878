/**
 * The id that ties an answer to its log lines.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';

const WELL_FORMED = /^[A-Za-z0-9._-]{8,64}$/;

/** Keeps a caller's `X-Request-Id` when it is short and harmless, else draws one. */
export function selectRequestId(sent: string | readonly string[] | undefined): string {
  return typeof sent === 'string' && WELL_FORMED.test(sent) ? sent : randomUUID();
}
