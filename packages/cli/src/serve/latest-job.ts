/**
 * Work of which only the newest counts.
 *
 * @module
 */

/** Something to do; `signal` aborts when newer work is waiting. Never rejects. */
export type Job = (signal: AbortSignal) => Promise<void>;

/** Runs jobs, one at a time. */
export interface LatestJob {
  /**
   * Aborts the job that runs, and runs this one when it has ended. A job that still waits is dropped.
   *
   * @param onDropped - Called when this one is dropped, by a newer one or by the close.
   * @param isPatient - Lets the job that runs finish: it has the same purpose.
   */
  run(job: Job, onDropped?: () => void, isPatient?: boolean): void;
  /** Takes no further job, and resolves when the one under way has ended. */
  close(): Promise<void>;
}

/** Creates a queue that holds one waiting job, the latest. */
export function createLatestJob(): LatestJob {
  let waiting: { readonly job: Job; readonly onDropped: (() => void) | undefined } | undefined;
  let running: Promise<void> | undefined;
  let underWay = new AbortController();
  let isClosed = false;

  return {
    run(job, onDropped, isPatient = false) {
      if (isClosed) return;
      drop();
      waiting = { job, onDropped };
      if (!isPatient) underWay.abort();
      running ??= runAll();
    },
    async close() {
      isClosed = true;
      drop();
      underWay.abort();
      await running;
    },
  };

  function drop(): void {
    const dropped = waiting;
    waiting = undefined;
    dropped?.onDropped?.();
  }

  async function runAll(): Promise<void> {
    while (waiting !== undefined) {
      const { job } = waiting;
      waiting = undefined;
      underWay = new AbortController();
      await job(underWay.signal);
    }
    running = undefined;
  }
}
