/**
 * The graph that answers, and the one that takes its place when the configuration changes.
 *
 * @module
 */

import type {
  AdminServer,
  ListenerHandlers,
  Readiness,
  Schedule,
  WaitingFor,
} from '@sallyport/server';
import type { Log, Metrics } from '@sallyport/server/observe';

/** What answers requests: the authentication made from one configuration. */
export interface Graph {
  /** As of `AdminServer`. */
  readonly handlers: ListenerHandlers;
  readonly waitingFor: WaitingFor;
  /** As of `AdminServer`. */
  knowledge(): ReadonlyMap<string, boolean>;
  /** As of `AdminServer`; absent where nothing is authenticated. */
  readonly readings?: AdminServer['readings'];
  /** As of `AdminServer`. */
  stopping(): void;
  /** As of `AdminServer`. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Ports of {@link createReplaceableGraph}. */
export interface ReplaceableGraphOptions {
  /** Follows whichever graph answers. */
  readonly readiness: Readiness;
  /** Follows it too; absent where no metrics are served. */
  readonly metrics?: Metrics | undefined;
  readonly schedule: Schedule;
  readonly log: Log;
}

/** The graphs of a process: one that answers, and those that finish what they have under way. */
export interface ReplaceableGraph {
  /** Those of the graph that answers at the time. */
  readonly handlers: ListenerHandlers;
  /**
   * Lets another graph answer from now on, once it knows what the present one knows.
   *
   * @param signal - Aborts when this one is not wanted any more.
   *
   * @returns `false` when it was not wanted in time; it is closed then.
   */
  replace(next: Graph, signal: AbortSignal): Promise<boolean>;
  /** As of `AdminServer`, for all of them. */
  stopping(): void;
  close(): Promise<void>;
}

/** Longer than anything a request waits for. */
const FINISH_MS = 30_000;
const LOOK_EVERY_MS = 50;
/** A wait of this length is logged. */
const LOG_AFTER_MS = 2_000;

/** Begins with a graph that answers at once. */
export function createReplaceableGraph(
  first: Graph,
  { readiness, metrics, schedule, log }: ReplaceableGraphOptions,
): ReplaceableGraph {
  let current = first;
  /** Each with what calls off its closing. */
  const replaced = new Map<Graph, () => void>();
  /** Of those whose time is over. They still use what is closed after the graphs, so their end is waited for. */
  const closings = new Set<Promise<void>>();
  letAnswer(first);

  return {
    handlers: { http: (req, res) => current.handlers.http(req, res) },
    async replace(next, signal) {
      if (!(await isWarm(next, signal))) {
        await next.close();
        return false;
      }
      const before = current;
      letAnswer(next);
      const finish = async (): Promise<void> => {
        // The IdP may still carry out a renewal that this graph sent: its answer is waited for.
        await before.settle().catch(ignore);
        // The process ended meanwhile, and with it this one.
        if (!replaced.delete(before)) return;
        const closing = before
          .close()
          .catch(ignore)
          .finally(() => closings.delete(closing));
        closings.add(closing);
      };
      replaced.set(
        before,
        schedule(FINISH_MS, () => void finish()),
      );
      return true;
    },
    stopping() {
      for (const graph of [current, ...replaced.keys()]) graph.stopping();
    },
    async close() {
      for (const callOff of replaced.values()) callOff();
      const graphs = [current, ...replaced.keys()];
      replaced.clear();
      await Promise.all([...graphs.map((graph) => graph.close()), ...closings]);
    },
  };

  function letAnswer(graph: Graph): void {
    current = graph;
    readiness.follow(graph.waitingFor);
    metrics?.follow(graph.readings);
  }

  async function isWarm(next: Graph, signal: AbortSignal): Promise<boolean> {
    let waitedMs = 0;
    for (;;) {
      if (signal.aborted) return false;
      const missing = listMissing(current, next);
      if (missing.length === 0) return true;
      if (waitedMs === LOG_AFTER_MS) log('warn', 'configuration_waits', { waiting_for: missing });
      await new Promise<void>((resolve) => schedule(LOOK_EVERY_MS, resolve));
      waitedMs += LOOK_EVERY_MS;
    }
  }
}

/** What `next` needs, does not know yet, and `current` knows. */
function listMissing(current: Graph, next: Graph): readonly string[] {
  const known = current.knowledge();
  return [...next.knowledge()]
    .filter(([name, isKnown]) => !isKnown && known.get(name) === true)
    .map(([name]) => name);
}

/** The graph answers no requests any more, and has logged its own failures. */
function ignore(): void {}
