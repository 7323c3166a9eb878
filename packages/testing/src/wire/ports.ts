/**
 * Ports of this machine that no two processes of tests are given.
 *
 * @module
 */

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that a system gives to connections and to `listen(0)` (from 32,768 on Linux, 49,152 elsewhere): a
 * port of that range may be somebody else's as soon as its listener has closed. Above the last port that `fetch` and
 * browsers refuse to ask, 10,080 (Fetch, section "Port blocking").
 */
const LOWEST = 10_100;
const HIGHEST = 32_767;
/** The process that listens on the first port of a block has the others to itself, until it ends. */
const BLOCK_SIZE = 100;
const LOOPBACK = '127.0.0.1';

interface OwnPorts {
  readonly chosen: Set<number>;
  /** What is left of the block that was taken last. */
  block: Promise<number[]> | undefined;
}

/** On the global object: a test file and the set-up file of its project may hold two copies of this module. */
const OWN = Symbol.for('sallyport.testing.own-ports');

/**
 * A port of the loopback on which nothing listens, another one at each call. No other process that asks here is
 * given it while this one runs, so that a listener may be closed and opened there again. Programs that do not ask
 * here are only looked for at the time of the call.
 *
 * @throws When processes hold every block.
 */
export async function freePort(): Promise<number> {
  const own = ownPorts();
  for (;;) {
    own.block ??= takeBlock(own.chosen);
    const block = own.block;
    const forget = () => {
      if (own.block === block) own.block = undefined;
    };
    // Blocks become free as other processes end.
    block.catch(forget);
    const port = (await block).shift();
    if (port === undefined) {
      forget();
      continue;
    }
    own.chosen.add(port);
    if (!(await isTaken(port))) return port;
  }
}

/** Whether this process may listen on this port: {@link freePort} answered with it, or holds its block by it. */
export function isChosen(port: number): boolean {
  return ownPorts().chosen.has(port);
}

/** Whether a port cannot be listened on: a process does, or this user may not. */
export async function isTaken(port: number): Promise<boolean> {
  const server = await tryToListen(port);
  if (server === undefined) return true;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return false;
}

/** Begins anywhere, so that processes that start together seldom try the same ones. */
async function takeBlock(chosen: Set<number>): Promise<number[]> {
  const count = Math.floor((HIGHEST + 1 - LOWEST) / BLOCK_SIZE);
  const start = randomInt(count);
  for (let turn = 0; turn < count; turn += 1) {
    const first = LOWEST + ((start + turn) % count) * BLOCK_SIZE;
    if (chosen.has(first)) continue;
    chosen.add(first);
    const holder = await tryToListen(first);
    // The process ends although it listens here.
    if (holder !== undefined) {
      holder.unref();
      return Array.from({ length: BLOCK_SIZE - 1 }, (_, index) => first + 1 + index);
    }
    chosen.delete(first);
  }
  throw new Error('no block of ports is free');
}

function tryToListen(port: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, LOOPBACK, () => resolve(server));
  });
}

function ownPorts(): OwnPorts {
  const kept: { [OWN]?: OwnPorts } = globalThis as object;
  kept[OWN] ??= { chosen: new Set(), block: undefined };
  return kept[OWN];
}
