/**
 * Where a request comes from, read only when a line is written about it.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import { cutText } from '../log/log-redaction.ts';
import { requestIdOf } from '../log/request-id.ts';
import type { AuditOrigin } from './audit.ts';

/** A request as far as its origin shows in it. Untrusted. */
export interface RequestSource {
  readonly headers: IncomingHttpHeaders;
  /** The id it was given already. */
  readonly requestId?: string | undefined;
  /** Where its connection comes from; asked only when a line is written. */
  readonly source?:
    | { readonly socket: { readonly remoteAddress?: string | undefined } }
    | undefined;
}

/** Reads the origin of a request. */
export type ReadOrigin = (request: RequestSource) => AuditOrigin;

/** A stored browser name is for a person to recognise; a longer one only costs space. */
const BROWSER_MAX_LENGTH = 200;

/**
 * Creates the reader.
 *
 * @param clientAddress - Believes forwarded addresses of trusted proxies alone.
 */
export function createOriginReader(
  clientAddress: (peer: string | undefined, forwardedFor: string | undefined) => string,
): ReadOrigin {
  return ({ headers, requestId, source }) => {
    const forwardedFor = headers['x-forwarded-for'];
    return {
      address: clientAddress(
        source?.socket.remoteAddress,
        Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
      ),
      browser: browserOf(headers),
      request_id: requestId ?? requestIdOf(headers),
    };
  };
}

/** The origin of a request whose address is known already. */
export function auditOrigin(request: {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  readonly requestId: string;
}): AuditOrigin {
  return {
    address: request.address,
    browser: browserOf(request.headers),
    request_id: request.requestId,
  };
}

function browserOf(headers: IncomingHttpHeaders): string | undefined {
  const browser = headers['user-agent'];
  return browser === undefined ? undefined : cutText(browser, BROWSER_MAX_LENGTH);
}
