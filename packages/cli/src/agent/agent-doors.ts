/**
 * The doors of one agent, all open or none.
 *
 * @module
 */

import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Exchange } from '@sallyport/gateway/listeners';
import { SallyportError } from '@sallyport/protocol';
import { describeFailure, type Log } from '@sallyport/server/observe';
import { prepareUnixSocket } from '../serve/unix-socket.ts';
import type { AgentPlan, LoopbackPlace } from './agent-plan.ts';
import { answerRequest, GUARD_ANSWERS, sendProblem } from './answer-request.ts';
import { writeCapability } from './capability.ts';
import { type Door, openDoor } from './door.ts';
import type { GrpcDoor } from './grpc-door.ts';
import { isGrpcCall, sendGrpcStatus } from './grpc-status.ts';
import { type GuardTerms, guardRequest, hostsOf } from './request-guard.ts';
import type { TokenKeeper } from './token-keeper.ts';

/** Doors that are open. */
export interface AgentDoors {
  /** Of the loopback door; `undefined` without one. */
  readonly address: string | undefined;
  /** Closes all, and removes socket and capability. */
  close(): Promise<void>;
}

/**
 * Opens the socket and the loopback port that the plan asks for.
 *
 * @param keeper - The one that gives the token at the moment.
 * @throws {SallyportError} `SP_PORT_IN_USE` when another program answers there, `SP_LISTEN_FAILED`,
 *   `SP_STATE_UNUSABLE`.
 */
export async function openDoors(
  { socketPath, loopback }: Pick<AgentPlan, 'socketPath' | 'loopback'>,
  keeper: () => TokenKeeper,
  log: Log,
): Promise<AgentDoors> {
  let grpc: Promise<GrpcDoor> | undefined;
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((door) => door.close()));
    (await grpc)?.destroy();
  };
  try {
    if (socketPath !== undefined) opened.push(await openSocket(socketPath, serve('socket', {})));
    if (loopback === undefined) return { address: undefined, close };
    const { door, address } = await openLoopback(loopback, (terms) => serve('loopback', terms));
    opened.push(door);
    return { address, close };
  } catch (cause) {
    await close();
    throw cause;
  }

  /** Loads what forwards calls with the first of them: most agents never see one. */
  async function carry(exchange: Exchange): Promise<void> {
    grpc ??= import('./grpc-door.ts').then(({ createGrpcDoor }) => createGrpcDoor(log));
    await (await grpc).carry(exchange, keeper());
  }

  function serve(door: 'socket' | 'loopback', terms: GuardTerms): (exchange: Exchange) => void {
    return (exchange) => {
      const isGrpc = isGrpcCall(exchange);
      const reason = guardRequest(exchange.rawHeaders, terms);
      if (reason !== undefined) {
        log('warn', 'agent_request_refused', { door, reason });
        const { status, title } = GUARD_ANSWERS[reason];
        if (isGrpc) sendGrpcStatus(exchange, status === 401 ? 16 : 7, reason, title);
        else sendProblem(exchange, status, reason, title);
        return;
      }
      const answered = isGrpc ? carry(exchange) : answerRequest(exchange, keeper());
      // No fault in one answer may end the process that all programs depend on.
      answered.catch((cause: unknown) => {
        log('error', 'request_failed', { failure: describeFailure(cause) });
        if (!exchange.isClosed) exchange.reset();
      });
    };
  }
}

async function openSocket(path: string, answer: (exchange: Exchange) => void): Promise<Door> {
  preparePrivateFolder(dirname(path));
  const socket = prepareUnixSocket({ path, mode: '600', group: '', key: '--socket' });
  let door: Door | undefined;
  const close = async (): Promise<void> => {
    socket.remove();
    await door?.close();
  };
  try {
    door = await openDoor({ path: socket.bindPath }, answer);
    await socket.publish();
  } catch (cause) {
    await close();
    throw cause;
  }
  return { port: 0, close };
}

async function openLoopback(
  { host, port, capabilityFile }: LoopbackPlace,
  serve: (terms: GuardTerms) => (exchange: Exchange) => void,
): Promise<{ readonly door: Door; readonly address: string }> {
  let answer = breakOff;
  const door = await openDoor({ host, port }, (exchange) => answer(exchange));
  try {
    // After the port is had: the agent that answers there keeps its capability.
    const capability = writeCapability(capabilityFile);
    answer = serve({ hosts: hostsOf(host, door.port), capability: capability.value });
    return {
      door: {
        port: door.port,
        async close() {
          capability.remove();
          await door.close();
        },
      },
      address: `${host === '::1' ? '[::1]' : host}:${door.port}`,
    };
  } catch (cause) {
    await door.close();
    throw cause;
  }
}

/** Makes the folder of the socket, mode 0700, or checks that the one that is there is closed to others. */
function preparePrivateFolder(folder: string): void {
  const refuse = (said: string, cause?: unknown): SallyportError =>
    new SallyportError('SP_LISTEN_FAILED', {
      component: `unix:${folder}`,
      detail: `--socket: ${said}`,
      cause,
    });
  try {
    mkdirSync(folder, { mode: 0o700 });
    return;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    if (code !== 'EEXIST') throw refuse(`its folder cannot be made (${code})`, cause);
  }
  const { uid, mode } = statSync(folder);
  if (uid !== process.getuid?.()) throw refuse('its folder belongs to another user');
  if ((mode & 0o077) !== 0)
    throw refuse(
      `its folder is open to others (mode ${(mode & 0o777).toString(8)}); give it mode 700, or name one that is not there yet`,
    );
}

/** A request that comes before there is a capability. */
function breakOff(exchange: Exchange): void {
  exchange.reset();
}
