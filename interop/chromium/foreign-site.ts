/**
 * A web site of an attacker.
 *
 * @module
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The site; what it serves is up to the test. */
export interface ForeignSite {
  readonly origin: string;
  /** Serves a page from now on; returns its URL. */
  serve(markup: string): string;
  close(): Promise<void>;
}

/**
 * Starts it on a free port.
 *
 * @param host - `127.0.0.1` is another site than `localhost`. `localhost` itself, on another port, is
 *   another origin of the same site, to which `SameSite` cookies are sent.
 */
export async function startForeignSite(host: '127.0.0.1' | 'localhost'): Promise<ForeignSite> {
  const pages: string[] = [];
  const server = createServer((request, response) => {
    const markup = pages[Number(request.url?.slice(1))];
    response.writeHead(markup === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(markup === undefined ? '' : `<!doctype html><title>Cats</title>${markup}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    serve: (markup) => `${origin}/${pages.push(markup) - 1}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
