/**
 * A clock for processes that know nothing of tests: they take the present for what the test says.
 *
 * @module
 */

import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from './process.ts';

/** A clock, and the processes that follow it. */
export interface MovedClock {
  /** Variables that make a Node process follow the clock, and every Node process it starts. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the processes take for the present; epoch milliseconds. */
  now(): number;
  /** Ids of the processes that follow at the moment. */
  pids(): readonly number[];
  /**
   * Moves the clock, back when negative; resolves when every process that follows has confirmed. One
   * that starts later begins at the moved time. Timers are moved only where that was asked for: one whose
   * time has come fires at once, in the order in which they are due.
   *
   * @param stopped - Processes that cannot confirm, because they were sent SIGSTOP.
   *
   * @throws Naming the process that has not confirmed within 30 s.
   */
  advance(ms: number, stopped?: readonly number[]): Promise<void>;
  /** Processes that still run keep the offset they have. */
  close(): Promise<void>;
}

interface Follower {
  readonly pid: number;
  readonly socket: Socket;
  /** Called with the number of each turn it has confirmed, and with infinity when it has ended. */
  readonly confirm: Set<(turn: number) => void>;
}

const PRELOAD = new URL('./moved-clock-preload.ts', import.meta.url).href;
/** Where the preloaded module is kept compiled, if the tests keep such. */
const { NODE_COMPILE_CACHE } = process.env;
const COMPILED = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
const CONFIRM_MS = 30_000;

/**
 * Starts a clock that shows the real time until it is advanced.
 *
 * @param movesTimers - Whether `setTimeout`, that of `node:timers/promises` and `AbortSignal.timeout` follow it as well.
 */
export async function startMovedClock({
  movesTimers = false,
}: {
  readonly movesTimers?: boolean;
} = {}): Promise<MovedClock> {
  const folder = temporaryFolder();
  const path = join(folder.path, 'clock');
  const followers = new Set<Follower>();
  const sockets = new Set<Socket>();
  let offsetMs = 0;
  let turn = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    admit(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));

  function admit(socket: Socket): void {
    let follower: Follower | undefined;
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (follower === undefined) {
          follower = { pid: Number(line), socket, confirm: new Set() };
          followers.add(follower);
          sendOffset(socket);
        } else {
          for (const confirm of follower.confirm) confirm(Number(line));
        }
      }
    });
    // A process that was killed resets the connection; that it is gone is all there is to know.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (follower === undefined) return;
      followers.delete(follower);
      for (const confirm of follower.confirm) confirm(Number.POSITIVE_INFINITY);
    });
  }

  function sendOffset(socket: Socket): void {
    socket.write(`${turn} ${offsetMs}\n`);
  }

  function confirmed(follower: Follower, wanted: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const confirm = (given: number): void => {
      if (given >= wanted) resolve();
    };
    const late = new Error(`process ${follower.pid} has not confirmed the moved clock`);
    const timer = setTimeout(() => reject(late), CONFIRM_MS);
    follower.confirm.add(confirm);
    return promise.finally(() => {
      clearTimeout(timer);
      follower.confirm.delete(confirm);
    });
  }

  return {
    environment: {
      NODE_OPTIONS: `--import ${PRELOAD}`,
      MOVED_CLOCK: path,
      ...COMPILED,
      ...(movesTimers ? { MOVED_TIMERS: '1' } : {}),
    },
    now: () => Date.now() + offsetMs,
    // A process and its threads follow each for itself.
    pids: () => [...new Set([...followers].map(({ pid }) => pid))],
    async advance(ms, stopped = []) {
      offsetMs += ms;
      turn += 1;
      const able = [...followers].filter(({ pid }) => !stopped.includes(pid));
      const all = able.map((follower) => confirmed(follower, turn));
      for (const { socket } of followers) sendOffset(socket);
      await Promise.all(all);
    },
    async close() {
      await unlisten(server, sockets);
      folder.remove();
    },
  };
}

async function unlisten(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  await closed;
}
