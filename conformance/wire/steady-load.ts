/**
 * Requests at a constant rate over connections that stay open, every failure counted.
 *
 * Nothing is tried again: where an ordinary client would repeat a request on another connection and say
 * nothing, this one counts a failure.
 *
 * @module
 */

import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Settings of {@link startSteadyLoad}. */
export interface LoadSettings {
  readonly url: string;
  /** Asked in turn: path and headers of each request. */
  readonly requests: readonly {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
  }[];
  /** A request is sent when its time has come, however long the answers before it take. */
  readonly perSecond: number;
  /** At most so many; a request that finds none free waits for one. */
  readonly connections: number;
}

/** What came of it. */
export interface LoadReport {
  readonly asked: number;
  /** Answers that were whole and had the status 200. */
  readonly ok: number;
  /** Everything else, by what it was: `status 503`, `ECONNRESET`, `closed before the answer`. */
  readonly failed: Readonly<Record<string, number>>;
  /** Good answers a second, until the last of them. */
  readonly ratePerSecond: number;
  /** From the moment a request was due. */
  readonly p99Ms: number;
  readonly slowestMs: number;
  /** Connections opened; more than were open at once when the server has closed some. */
  readonly opened: number;
}

/** A load that goes on until it is stopped. */
export interface SteadyLoad {
  /** Good answers so far. */
  readonly ok: () => number;
  readonly failed: () => Readonly<Record<string, number>>;
  /** Sends nothing new, and resolves when all that was sent is answered or has failed. */
  stop(): Promise<LoadReport>;
}

const TICK_MS = 2;
const ANSWER_MS = 10_000;
const CHUNKED_END = '\r\n0\r\n\r\n';

interface Connection {
  readonly socket: Socket;
  received: string;
  dueAt: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Begins to ask. */
export function startSteadyLoad({
  url,
  requests,
  perSecond,
  connections,
}: LoadSettings): SteadyLoad {
  const { port, host } = new URL(url);
  const texts = requests.map(({ path, headers }) =>
    [
      `GET ${path} HTTP/1.1`,
      ...Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`),
      '\r\n',
    ].join('\r\n'),
  );
  const free: Connection[] = [];
  const open = new Set<Connection>();
  const due: number[] = [];
  const failed: Record<string, number> = {};
  const latencies: number[] = [];
  const startedAt = performance.now();
  let asked = 0;
  let sent = 0;
  let opened = 0;
  let isOver = false;
  const ticking = tick();

  return {
    ok: () => latencies.length,
    failed: () => ({ ...failed }),
    async stop() {
      isOver = true;
      await ticking;
      while (due.length > 0 || open.size > free.length) {
        send();
        await pause(TICK_MS);
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      for (const { socket } of open) socket.destroy();
      const sorted = latencies.toSorted((a, b) => a - b);
      return {
        asked,
        ok: sorted.length,
        failed,
        ratePerSecond: sorted.length / seconds,
        p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
        slowestMs: sorted.at(-1) ?? 0,
        opened,
      };
    },
  };

  async function tick(): Promise<void> {
    while (!isOver) {
      const now = performance.now();
      const wanted = Math.floor(((now - startedAt) / 1_000) * perSecond);
      for (; asked < wanted; asked += 1) due.push(now);
      send();
      await pause(TICK_MS);
    }
  }

  /** Sends what is due, as far as connections are free. */
  function send(): void {
    while (due.length > 0 && (free.length > 0 || open.size < connections)) {
      const connection = free.pop() ?? dial();
      connection.dueAt = due.shift();
      connection.timer = setTimeout(() => fail(connection, 'no answer in time'), ANSWER_MS);
      connection.socket.write(texts[sent % texts.length] ?? '');
      sent += 1;
    }
  }

  function dial(): Connection {
    opened += 1;
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    const connection: Connection = { socket, received: '', dueAt: undefined, timer: undefined };
    open.add(connection);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      connection.received += text;
      read(connection);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => fail(connection, error.code ?? 'error'));
    socket.on('close', () => fail(connection, 'closed before the answer'));
    return connection;
  }

  /** Takes an answer, once it is whole. */
  function read(connection: Connection): void {
    const { received, dueAt } = connection;
    const end = received.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = received.slice(0, end).toLowerCase();
    const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
    const isWhole =
      length === undefined
        ? !head.includes('\r\ntransfer-encoding: chunked') || received.endsWith(CHUNKED_END)
        : received.length >= end + 4 + Number(length);
    if (!isWhole || dueAt === undefined) return;
    clearTimeout(connection.timer);
    connection.received = '';
    connection.dueAt = undefined;
    const status = head.slice(9, 12);
    if (status === '200') latencies.push(performance.now() - dueAt);
    else count(`status ${status}`);
    if (head.includes('\r\nconnection: close')) drop(connection);
    else free.push(connection);
  }

  /** A connection that ends without a request on it is not counted. */
  function fail(connection: Connection, what: string): void {
    if (!open.has(connection)) return;
    if (connection.dueAt !== undefined) count(what);
    drop(connection);
  }

  function drop(connection: Connection): void {
    clearTimeout(connection.timer);
    open.delete(connection);
    const index = free.indexOf(connection);
    if (index !== -1) free.splice(index, 1);
    connection.socket.destroy();
  }

  function count(what: string): void {
    failed[what] = (failed[what] ?? 0) + 1;
  }
}
