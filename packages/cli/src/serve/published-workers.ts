/**
 * Workers that listen on a Unix socket: it is in its place before one of them counts as listening.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { UnixSocket } from './unix-socket.ts';
import type { StartWorker, WorkerReport, WorkerStart } from './worker-process.ts';

/**
 * Wraps what starts workers. The primary binds the socket when the first of them asks for it, and binds it
 * anew when none was left meanwhile; each report that a worker listens may be one of a new socket.
 *
 * A worker whose socket cannot be shown has failed, and is ended.
 */
export function publishForWorkers(
  startWorker: StartWorker,
  { publish }: Pick<UnixSocket, 'publish'>,
): StartWorker {
  return (start) => {
    let hasEnded = false;
    const worker = startWorker({
      ...start,
      onReport(report) {
        if (report.kind !== 'listening') return start.onReport(report);
        void show(report, start.onReport);
      },
      onEnd(exit) {
        hasEnded = true;
        start.onEnd(exit);
      },
    });
    return worker;

    async function show(report: WorkerReport, onReport: WorkerStart['onReport']): Promise<void> {
      let said = report;
      try {
        await publish();
      } catch (cause) {
        const sentence =
          cause instanceof SallyportError ? cause.message : 'the socket cannot be put in its place';
        said = { kind: 'failed', sentence };
        worker.kill();
      }
      if (!hasEnded) onReport(said);
    }
  };
}
