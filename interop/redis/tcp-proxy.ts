/**
 * A network between a client and a Redis server, with the faults networks have.
 *
 * @module
 */

import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { listenOn, listenOnFreePort } from '@sallyport/testing/wire/listen';
import { createCommandReader } from './client-commands.ts';

/** One connection that goes through. */
export interface ProxiedConnection {
  /** The first commands it has sent, such as `SUBSCRIBE <channel>`; none with TLS. */
  readonly commands: readonly string[];
}

/** Chooses connections by what they have sent. */
export type Choice = (connection: ProxiedConnection) => boolean;

/** The running proxy. */
export interface TcpProxy {
  readonly port: number;
  /** Those that are not closed on both sides. */
  connections(): readonly ProxiedConnection[];
  /** Answers come so much later; 0 ends that. */
  delay(ms: number): void;
  /** Resets open connections, all or the chosen ones; new ones are taken. */
  cut(choice?: Choice): void;
  /** Passes nothing on any more in either direction, and says nothing: a cable that was pulled. */
  hold(choice?: Choice): void;
  /** Passes on what was held, and everything since. */
  release(): void;
  /** Takes no new connections; open ones stay. */
  refuse(): void;
  /** Takes new connections again, on the same port. */
  admit(): Promise<void>;
  close(): Promise<void>;
}

interface Passage extends ProxiedConnection {
  readonly commands: string[];
  readonly sockets: readonly [Socket, Socket];
  /** Resolves when it is released; absent while bytes pass. */
  held: PromiseWithResolvers<void> | undefined;
}

/** A connection says in its first commands what it is for. */
const COMMANDS_KEPT = 64;
const HOST = '127.0.0.1';
const ALL: Choice = () => true;

/**
 * Starts it in front of a port of this machine. Where no process listens there, clients are connected and
 * then reset.
 */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const passages = new Set<Passage>();
  let delayMs = 0;
  const server = createServer((client) => {
    const upstream = connect(target, HOST);
    const commands: string[] = [];
    const passage: Passage = { commands, sockets: [client, upstream], held: undefined };
    passages.add(passage);
    const read = createCommandReader((command) => {
      if (commands.length < COMMANDS_KEPT) commands.push(command);
    });
    client.on('data', read);
    passOn(client, upstream, passage, () => 0);
    passOn(upstream, client, passage, () => delayMs);
    for (const socket of passage.sockets) {
      socket.setNoDelay();
      socket.on('close', () => {
        if (passage.sockets.every((each) => each.closed)) passages.delete(passage);
      });
    }
  });
  const port = await listenOnFreePort(server);
  const chosen = (choice: Choice): Passage[] => [...passages].filter(choice);
  const cut = (choice: Choice = ALL): void => {
    for (const { sockets } of chosen(choice))
      for (const socket of sockets) socket.resetAndDestroy();
  };

  return {
    port,
    connections: () => [...passages],
    delay: (ms) => {
      delayMs = ms;
    },
    cut,
    hold(choice = ALL) {
      for (const passage of chosen(choice)) passage.held ??= Promise.withResolvers();
    },
    release() {
      for (const passage of passages) {
        passage.held?.resolve();
        passage.held = undefined;
      }
    },
    refuse: () => stopListening(server),
    admit: () => listenOn(server, port),
    async close() {
      cut();
      stopListening(server);
    },
  };
}

/** Passes bytes, the end and a reset on, in order, each when its time has come. */
function passOn(from: Socket, to: Socket, passage: Passage, delayMs: () => number): void {
  let last = Promise.resolve();
  const after = async (before: Promise<void>, dueAt: number, deliver: () => void) => {
    await before;
    const wait = dueAt - performance.now();
    if (wait > 0) await pause(wait);
    await passage.held?.promise;
    if (!to.destroyed) deliver();
  };
  const inTurn = (deliver: () => void): void => {
    last = after(last, performance.now() + delayMs(), deliver);
  };
  from.on('data', (chunk) => inTurn(() => to.write(chunk)));
  from.on('end', () => inTurn(() => to.end()));
  from.on('error', () => inTurn(() => to.resetAndDestroy()));
}

/** The port is free at once; the rest of a close only waits for open connections. */
function stopListening(server: Server): void {
  if (server.listening) server.close();
}
