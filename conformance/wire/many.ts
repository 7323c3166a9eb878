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

/** Requests that were sent at once. */
export interface Sending {
  /** Resolves when every request has left. */
  readonly sent: Promise<void>;
  /** How many have been answered. */
  answered(): number;
  /** The answers, in order. */
  readonly heads: Promise<Head[]>;
}

/** Asks one server many times; resolves to the answers, in order. */
export interface Asker {
  /** The same path with other headers each time. */
  ask(path: string, headers: readonly Readonly<Record<string, string>>[]): Promise<number[]>;
  /** Other paths with the same headers. */
  heads(paths: readonly string[], headers: Readonly<Record<string, string>>): Promise<Head[]>;
  /** The same, with a look at what is under way. */
  send(paths: readonly string[], headers: Readonly<Record<string, string>>): Sending;
  close(): void;
}

/** Opens at most `connections` connections to the server of a URL. */
export function createAsker(url: string, connections: number): Asker {
  const { port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const one = (path: string, headers: Readonly<Record<string, string>>, onSent?: () => void) =>
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
      sent.end(onSent);
    });
  const send: Asker['send'] = (paths, headers) => {
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    let [left, answered] = [paths.length, 0];
    const onSent = (): void => {
      left -= 1;
      if (left === 0) resolve();
    };
    const heads = paths.map(async (path) => {
      const head = await one(path, headers, onSent);
      answered += 1;
      return head;
    });
    const all = Promise.all(heads);
    // What cannot be sent ends the wait, too.
    return {
      sent: Promise.race([sent, all.then(() => sent)]),
      answered: () => answered,
      heads: all,
    };
  };
  return {
    ask: (path, headers) =>
      Promise.all(headers.map(async (each) => (await one(path, each)).status)),
    heads: (paths, headers) => send(paths, headers).heads,
    send,
    close: () => agent.destroy(),
  };
}
