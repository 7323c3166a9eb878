/**
 * From the headers of frameworks that fold repeated ones to what the check reads.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { CheckRequest } from '../verdict/check-request.ts';

/** Where a second bearer begins in a folded value; no token holds a comma (RFC 6750 section 2.1). */
const NEXT_BEARER = /,\s*(?=bearer\s)/i;

/**
 * Formats headers as the check reads them. Two bearers that were folded into one value become
 * two again, so that they count as ambiguous.
 */
export function formatHeaders(
  pairs: Iterable<readonly [string, string]>,
): Pick<CheckRequest, 'headers' | 'rawHeaders'> {
  const headers: IncomingHttpHeaders = {};
  const rawHeaders: string[] = [];
  for (const [name, value] of pairs) {
    const earlier = headers[name];
    const separator = name === 'cookie' ? '; ' : ', ';
    headers[name] = typeof earlier === 'string' ? `${earlier}${separator}${value}` : value;
    for (const part of value.split(NEXT_BEARER)) rawHeaders.push(name, part);
  }
  return { headers, rawHeaders };
}
