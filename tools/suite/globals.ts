/**
 * What test files that share a worker could hand on to each other.
 *
 * @module
 */

import { Server, Socket } from 'node:net';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/** The state of the process, by the name of each part. */
export type Globals = ReadonlyMap<string, unknown>;

/** What Node's own `fetch` keeps its connections in. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
/** Global functions and objects that a test may replace. */
const REPLACEABLE = [
  'fetch',
  'Request',
  'Response',
  'Headers',
  'URL',
  'structuredClone',
  'Date',
  'performance',
  'crypto',
  'AbortSignal',
  'queueMicrotask',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
] as const;
/** Objects whose methods tests spy on. */
const SPIED = {
  AbortSignal,
  DatabaseSync: DatabaseSync.prototype,
  StatementSync: StatementSync.prototype,
  Server: Server.prototype,
  Socket: Socket.prototype,
  console,
  process,
};

/** Reads it. Values are compared by identity, so nothing is copied but texts and counts. */
export function describeGlobals(): Globals {
  const globals = new Map<string, unknown>();
  for (const [name, value] of Object.entries(process.env))
    globals.set(`process.env.${name}`, value);
  globals.set('the working folder', process.cwd());
  globals.set('the umask', currentUmask());
  for (const event of process.eventNames())
    globals.set(`listeners for ${String(event)} of the process`, process.listenerCount(event));
  for (const name of REPLACEABLE) globals.set(`globalThis.${name}`, globalThis[name]);
  globals.set('the dispatcher of fetch', Reflect.get(globalThis, DISPATCHER));
  for (const [object, value] of Object.entries(SPIED))
    for (const name of Object.getOwnPropertyNames(value)) {
      const found = Object.getOwnPropertyDescriptor(value, name);
      if (typeof found?.value === 'function') globals.set(`${object}.${name}`, found.value);
    }
  return globals;
}

/** The names of the parts that differ, sorted. */
export function differencesOf(before: Globals, after: Globals): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).toSorted();
}

/** Reading the umask without setting it is deprecated. */
function currentUmask(): number {
  const mask = process.umask(0);
  process.umask(mask);
  return mask;
}
