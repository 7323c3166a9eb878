/**
 * Many small requests over a few connections that stay open.
 *
 * @module
 */

import { Agent, request } from 'node:http';

/** Asks one server with a header each time; resolves to the statuses, in order. */
export interface Asker {
  ask(path: string, headers: readonly Readonly<Record<string, string>>[]): Promise<number[]>;
  close(): void;
}

/** Opens at most `connections` connections to the server of a URL. */
export function createAsker(url: string, connections: number): Asker {
  const { port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const one = (path: string, headers: Readonly<Record<string, string>>) =>
    new Promise<number>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end();
    });
  return {
    ask: (path, headers) => Promise.all(headers.map((each) => one(path, each))),
    close: () => agent.destroy(),
  };
}
