/**
 * Requests at a steady rate over connections that stay open, each measured from when it was due.
 *
 * @module
 */

import { connect, type Socket } from 'node:net';

/** A request, and the status that has to come back. */
export interface SteadyRequest {
  /** Lines of the head that differ, each with its line end. */
  readonly head: string;
  readonly status: number;
}

/** What became of the requests that were due in one part of the load. */
export interface Slice {
  readonly requests: number;
  /** Milliseconds from when a request was due to the whole answer. */
  readonly p99: number;
}

/** What became of a load. */
export interface SteadyResult {
  readonly requests: number;
  readonly slices: readonly Slice[];
  /** Answers that were not the expected ones, and broken connections; the first few of them. */
  readonly failures: readonly string[];
}

/** How much is asked. */
export interface SteadyLoad {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Parts of equal length that are reported one by one. */
  readonly slices: number;
  /** The request that is due at a moment, in seconds from the beginning. */
  readonly request: (atSeconds: number, n: number) => SteadyRequest;
}

const CONNECTIONS = 16;
const TICK_MS = 2;
const FAILURES_KEPT = 10;
/** What is still out at the end has this long. */
const LAST_ANSWER_MS = 10_000;

/** Keeps the rate until the time is over, whatever the answers, and waits for the last of them. */
export async function runSteadyLoad(plan: SteadyLoad): Promise<SteadyResult> {
  const { url, perSecond, seconds, slices, request } = plan;
  const total = Math.floor(perSecond * seconds);
  const times: number[][] = Array.from({ length: slices }, () => []);
  const failures: string[] = [];
  const waiting: Job[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let answered = 0;
  const connections = Array.from(
    { length: CONNECTIONS },
    () =>
      new Connection(url, (job, status) => {
        answered += 1;
        times[Math.floor((job.n / total) * slices)]?.push(performance.now() - job.dueAt);
        if (status !== job.request.status && failures.length < FAILURES_KEPT)
          failures.push(`${status} where it had to be ${job.request.status}`);
        if (answered === total) resolve();
      }),
  );
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; sent < due; sent += 1) {
      const atSeconds = sent / perSecond;
      const dueAt = startedAt + atSeconds * 1_000;
      waiting.push({ n: sent, dueAt, request: request(atSeconds, sent) });
    }
    for (const connection of connections) {
      if (waiting.length === 0) break;
      connection.workOn(waiting);
    }
  }, TICK_MS);
  const late = setTimeout(resolve, seconds * 1_000 + LAST_ANSWER_MS);
  await promise;
  clearTimeout(late);
  clearInterval(timer);
  for (const connection of connections) connection.close();
  if (answered < total) failures.push(`${total - answered} of ${total} were never answered`);
  return {
    requests: answered,
    slices: times.map((each) => ({ requests: each.length, p99: p99Of(each) })),
    failures,
  };
}

interface Job {
  readonly n: number;
  readonly dueAt: number;
  readonly request: SteadyRequest;
}

/** One request at a time; opened again when it breaks, which is an answer of status 0. */
class Connection {
  readonly #url: URL;
  readonly #onAnswer: (job: Job, status: number) => void;
  #socket: Socket | undefined;
  #job: Job | undefined;
  #waiting: Job[] = [];
  #received = '';

  constructor(url: string, onAnswer: (job: Job, status: number) => void) {
    this.#url = new URL(url);
    this.#onAnswer = onAnswer;
  }

  /** Takes the next request, and those that follow for as long as there are some. */
  workOn(waiting: Job[]): void {
    this.#waiting = waiting;
    if (this.#job === undefined) this.#next();
  }

  close(): void {
    this.#waiting = [];
    this.#job = undefined;
    this.#socket?.destroy();
  }

  #next(): void {
    this.#job = this.#waiting.shift();
    if (this.#job === undefined) return;
    const { pathname, host } = this.#url;
    this.#socket ??= this.#open();
    this.#socket.write(
      `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${this.#job.request.head}\r\n`,
    );
  }

  #open(): Socket {
    const socket = connect(Number(this.#url.port), '127.0.0.1');
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#received = '';
      if (this.#job !== undefined) this.#finish(0);
    });
    return socket;
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#finish(status);
  }

  #finish(status: number): void {
    const job = this.#job;
    this.#job = undefined;
    if (job !== undefined) this.#onAnswer(job, status);
    this.#next();
  }
}

function p99Of(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
