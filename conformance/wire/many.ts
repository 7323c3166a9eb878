/**
 * Many small requests over a few connections that stay open.
 *
 * @module
 */

import { Agent, request } from 'node:http';

/** The head of an answer. */
interface Head {
  readonly status: number;
  readonly location: string | undefined;
  readonly setCookies: readonly string[];
}

/** Asks one server many times; resolves to the answers, in order. */
export interface Asker {
  /** The same path with other headers each time. */
  ask(path: string, headers: readonly Readonly<Record<string, string>>[]): Promise<number[]>;
  /** Other paths with the same headers. */
  heads(paths: readonly string[], headers: Readonly<Record<string, string>>): Promise<Head[]>;
  close(): void;
}

/** Opens at most `connections` connections to the server of a URL. */
export function createAsker(url: string, connections: number): Asker {
  const { port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const one = (path: string, headers: Readonly<Record<string, string>>) =>
    new Promise<Head>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
        response.resume();
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            location: response.headers.location,
            setCookies: response.headers['set-cookie'] ?? [],
          }),
        );
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end();
    });
  return {
    ask: (path, headers) =>
      Promise.all(headers.map(async (each) => (await one(path, each)).status)),
    heads: (paths, headers) => Promise.all(paths.map((path) => one(path, headers))),
    close: () => agent.destroy(),
  };
}
