/**
 * The id that ties an answer to its log lines.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';

const WELL_FORMED = /^[A-Za-z0-9._-]{8,64}$/;

/**
 * Keeps a caller's `X-Request-Id` when it was sent once, short and harmless; else draws one.
 *
 * @param sent - The header, or all its values; untrusted.
 */
export function selectRequestId(sent: string | readonly string[] | undefined): string {
  const [id = '', ...more] = typeof sent === 'string' ? [sent] : (sent ?? []);
  return more.length === 0 && WELL_FORMED.test(id) ? id : randomUUID();
}
