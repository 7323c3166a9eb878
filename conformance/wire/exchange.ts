/**
 * One HTTP exchange as it is on the wire: nothing followed, nothing added, nothing hidden.
 *
 * @module
 */

import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';

/** What to send. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** What came back. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly setCookies: readonly string[];
  readonly location: string | undefined;
  readonly body: string;
  readonly url: string;
}

/** Where every `https` address is served in place of its own host and port: on the loopback. */
export interface TlsPlace {
  readonly port: number;
  /** Certificates (PEM) to believe. */
  readonly ca: Buffer;
  /** Keeps connections; without it each exchange has its own. */
  readonly agent?: Agent;
}

const EXCHANGE_MS = 20_000;

/** Sends one request; rejects when the connection fails or nothing comes for 20 s. */
export function exchange(
  url: string,
  { method = 'GET', headers = {}, body }: Sent = {},
  place?: TlsPlace,
): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const target = new URL(url);
  const connection =
    place === undefined
      ? {
          // `localhost` is listened for on IPv4 only; do not depend on the resolver's order.
          hostname: target.hostname === 'localhost' ? '127.0.0.1' : target.hostname,
          port: target.port,
        }
      : { hostname: '127.0.0.1', ...place, servername: target.hostname };
  const request = (place === undefined ? httpRequest : httpsRequest)(
    {
      ...connection,
      // The path as it was written: a URL object would already have changed it.
      path:
        url.slice(
          url.indexOf('/', url.indexOf('//') + 2) === -1
            ? url.length
            : url.indexOf('/', url.indexOf('//') + 2),
        ) || '/',
      method,
      headers: { host: target.host, ...(headers as Record<string, string | string[]>) },
      agent: place?.agent ?? false,
      timeout: EXCHANGE_MS,
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          setCookies: response.headers['set-cookie'] ?? [],
          location: response.headers.location,
          body: Buffer.concat(chunks).toString('utf8'),
          url,
        }),
      );
    },
  );
  request.on('timeout', () => request.destroy(new Error(`no answer from ${target.host}`)));
  request.on('error', reject);
  request.end(body);
  return promise;
}
