/**
 * The server of `sallyport serve`, in whichever process it runs.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Config, ConfigProblem } from '@sallyport/config';
import { accept, type Result } from '@sallyport/protocol';
import { type ListenerHandlers, Readiness } from '@sallyport/server';
import { type Listener, openListeners } from '@sallyport/server/listener';
import type { Log, Metrics } from '@sallyport/server/observe';
import { openServerSecrets, type ServerSecrets } from '../admin/client-secret.ts';
import { traceLog } from '../observe/traced-log.ts';
import { openTraces } from '../observe/traces.ts';
import { createSystemPorts } from '../process/ports.ts';
import { prepareToServe } from '../process/serving-runtime.ts';
import { openGraphSource } from './graph-source.ts';
import { LISTEN_KEYS } from './listen-keys.ts';
import { createReplaceableGraph } from './replaceable-graph.ts';
import { warmUp } from './warm-up.ts';

/** How a server is to start. */
export interface ServerStart {
  /**
   * Milliseconds within which the metadata and keys of the IdPs have to be read before it listens; by default
   * it listens at once, and reads them meanwhile.
   */
  readonly warmUpWithinMs?: number;
  /** Aborts when it should not start any more. */
  readonly signal?: AbortSignal;
  /** Where to bind a Unix socket, in place of a port; to show it in its place is the caller's. */
  readonly socketPath?: string | undefined;
  /** Where everything is counted; absent where no metrics are served. */
  readonly metrics?: Metrics | undefined;
}

/** How a server is to stop. */
export interface ServerStop {
  /** Says at `/readyz` that it drains, and takes connections for so long after that. */
  readonly drainDelayMs: number;
  /** Called in the moment before it stops listening. */
  readonly onClosing?: () => void;
}

/** A server that listens. */
export interface RunningServer {
  readonly port: number;
  /**
   * Answers by another configuration from now on, once that knows what the present one does.
   *
   * @param secrets - Of that configuration; closed with it, also when it does not come to answer.
   * @param signal - Aborts when it is not wanted any more.
   *
   * @returns Whether it answers; `false` only after an abort.
   */
  replace(
    config: Config,
    secrets: ServerSecrets | undefined,
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * Stops listening and resolves when what was under way is answered, or its ten seconds are over.
   *
   * @param stop - Absent when other processes go on taking connections on the same port: then `/readyz` does
   *   not say that it drains.
   */
  stop(stop?: ServerStop): Promise<void>;
}

/** Opens the secrets a configuration needs: none while `useAuth` is false. */
export function openSecrets(
  config: Config,
  log: Log,
): Result<ServerSecrets | undefined, readonly ConfigProblem[]> {
  return config.server.security.useAuth ? openServerSecrets(config, log) : accept(undefined);
}

/**
 * Starts the server. What is opened here lives as long as the process: the port, the store, metrics and
 * traces.
 *
 * @param secrets - Absent while `useAuth` is false.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE` when the port is taken, `SP_LISTEN_FAILED` when it cannot be had; `SP_STORE_UNSUITABLE`,
 *   `SP_CONFIG_INVALID` and `SP_THREAD_FAILED` as `openServingSessionStore`; `SP_NOT_READY` when they were not read in time.
 */
export async function startServer(
  config: Config,
  secrets: ServerSecrets | undefined,
  log: Log,
  { warmUpWithinMs, signal, socketPath, metrics }: ServerStart = {},
): Promise<RunningServer> {
  const traces = await openTraces(config.observe.traces, createSystemPorts(log));
  const tracer = traces?.tracer;
  const ports = { ...createSystemPorts(traceLog(log, tracer)), tracer, metrics };
  const readiness = new Readiness();
  /** What has to be closed when the rest does not come about: it would keep a process that serves nothing. */
  const opened: (() => Promise<void> | void)[] = [() => traces?.close()];
  const { source, graph, listeners } = await open().catch(async (cause: unknown) => {
    for (const close of opened.toReversed()) await close();
    throw cause;
  });
  return {
    port: listeners.ports.http,
    replace: (next, nextSecrets, signal) => graph.replace(source.create(next, nextSecrets), signal),
    async stop(stop) {
      // Timers of renewals do not keep the process, and with the store away nothing else would.
      const hold = setInterval(() => {}, 60_000);
      try {
        if (stop !== undefined) {
          readiness.drain();
          await pause(stop.drainDelayMs);
        }
        readiness.stop();
        graph.stopping();
        stop?.onClosing?.();
        await listeners.close();
        await graph.close();
        source.close();
        await traces?.close();
      } finally {
        clearInterval(hold);
      }
    },
  };

  async function open() {
    const source = await openGraphSource(config, readiness, ports);
    opened.push(() => source.close());
    const first = source.create(config, secrets);
    opened.push(() => first.close());
    const graph = createReplaceableGraph(first, { readiness, ...ports });
    if (warmUpWithinMs !== undefined) await warmUp(first, warmUpWithinMs, { ...ports, signal });
    const listeners = await openListeners(listListeners(graph.handlers, config, socketPath));
    prepareToServe();
    return { source, graph, listeners };
  }
}

/** Every listener of the process, one for each handler of the graph. */
function listListeners(
  handlers: ListenerHandlers,
  { listen }: Config,
  socketPath: string | undefined,
): Readonly<Record<keyof ListenerHandlers, Listener>> {
  return {
    http: { handler: handlers.http, ...listen, path: socketPath, keys: LISTEN_KEYS },
  };
}
