/**
 * Refuses to start a process and to listen on a fixed port, for the project `unit`: its files are quick and share
 * workers. A file that needs either is named `*.process.test.ts` and belongs to the project `process`.
 *
 * Threads are allowed. Not seen: a process that native code starts.
 *
 * @module
 */

import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server } from 'node:net';
import { isChosen } from '@sallyport/testing/wire/ports';

const MARK = Symbol.for('sallyport.suite.refuse-processes');
const ADVICE = 'a unit test does not; name the file *.process.test.ts';

/** Puts the refusals in place, once for all files of a worker. */
function refuseProcesses(): void {
  if (MARK in globalThis) return;
  Object.assign(globalThis, { [MARK]: true });
  Object.assign(childProcess, { spawnSync: refuse, execSync: refuse, execFileSync: refuse });
  Object.assign(childProcess.ChildProcess.prototype, { spawn: refuse });
  syncBuiltinESMExports();
  refuseFixedPorts();
}

function refuse(): never {
  throw new Error(`this starts a process: ${ADVICE}`);
}

/**
 * A port that the system gave before may be listened on again: a server that comes back has its old address. So may
 * one that `freePort` chose.
 */
function refuseFixedPorts(): void {
  const given = new Set<number>();
  const listen = Reflect.get(Server.prototype, 'listen');
  Server.prototype.listen = function (this: Server, ...args: unknown[]) {
    const port = portOf(args[0]);
    if (port !== undefined && port !== 0 && !given.has(port) && !isChosen(port))
      throw new Error(`this listens on port ${port}: ${ADVICE}`);
    if (port === 0)
      this.prependOnceListener('listening', () => {
        const address = this.address();
        if (typeof address === 'object' && address !== null) given.add(address.port);
      });
    return Reflect.apply(listen, this, args);
  };
}

/** The port of a call of `listen`; a socket's path has none. */
function portOf(first: unknown): number | undefined {
  const port = typeof first === 'object' && first !== null && 'port' in first ? first.port : first;
  return typeof port === 'number' ? port : undefined;
}

refuseProcesses();
