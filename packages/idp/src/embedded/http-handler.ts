/**
 * What stands between the listener and the provider.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IdpClientIds, IdpSpec } from '../spec/idp-spec.ts';
import type { AdminEndpoint } from './api-keys/admin-endpoint.ts';
import { admitBasicVariants } from './public-client.ts';
import { buildSecurityHeaders } from './security-headers.ts';

/** Answers one request. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the handler has to know of its IdP. */
export interface HttpHandlerOptions {
  readonly spec: IdpSpec;
  readonly clientIds: IdpClientIds;
  readonly issuer: string;
  /** Answers before the provider is asked; absent leaves everything to the provider. */
  readonly administrate?: AdminEndpoint | undefined;
}

/**
 * Creates the listener of the IdP's origin.
 *
 * A request for another host is refused: a page whose name was re-pointed to loopback would
 * otherwise be of the IdP's origin, and could read what the IdP answers (DNS rebinding).
 */
export function createHttpHandler(
  respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  { spec, clientIds, issuer, administrate }: HttpHandlerOptions,
): HttpHandler {
  const headers = buildSecurityHeaders(spec);
  const { host } = new URL(issuer);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (administrate !== undefined && (await administrate(request, response))) return;
    const admitted = await admitBasicVariants(request, clientIds);
    if (admitted.ok) await respond(admitted.value, response);
    else end(response, 413, 'The request is too large.\n');
  }

  return function handler(request, response) {
    for (const [name, value] of headers) response.setHeader(name, value);
    const isForUs = request.headers.host?.toLowerCase() === host && request.url?.startsWith('/');
    if (isForUs !== true) {
      end(response, 421, `This identity provider answers at ${issuer} only.\n`);
      return;
    }
    // A client whose body broke off gets no answer.
    answer(request, response).catch(() => response.destroy());
  };
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
  });
  response.end(text);
}
