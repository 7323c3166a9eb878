/**
 * One request on a connection that stays open, as the load generator sends it, and the answer's size.
 *
 * @module
 */

import { connect } from 'node:net';

/** An answer, counted. */
export interface Probed {
  readonly status: number;
  /** Head and body. */
  readonly bytes: number;
  readonly text: string;
}

const PATIENCE_MS = 10_000;

/** Sends it. @throws When nothing whole comes back in time. */
export function probe(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<Probed> {
  const { hostname, host, port, pathname, search } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`no answer from ${url}`)));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (!isWhole(text)) return;
      socket.end();
      resolve({ status: Number(text.slice(9, 12)), bytes: text.length, text });
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`no whole answer from ${url}: ${text}`)));
    socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  });
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const head = text.slice(0, headEnd);
  if (/^transfer-encoding: *chunked$/im.test(head)) return text.endsWith('0\r\n\r\n');
  const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
  return text.length >= headEnd + 4 + length;
}
