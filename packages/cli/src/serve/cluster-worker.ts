/**
 * Workers on node:cluster: processes of this command that share one listening socket.
 *
 * @module
 */

import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { locateInPackage } from '../process/package-root.ts';
import type { FromWorker, SourcesToSend, ToWorker, WorkerPlace } from './primary-channel.ts';
import type { StartWorker, WorkerExit, WorkerStop } from './worker-process.ts';

const COMMAND = fileURLToPath(locateInPackage('bin/sallyport.js'));

/**
 * Creates what starts workers.
 *
 * They accept connections from the shared socket themselves. Node's other way, to accept in the primary
 * and hand over one connection at a time, leaves the one under way open and unanswered when its worker is
 * killed, and puts the primary into the path of every connection.
 *
 * @param sources - Where the configuration comes from, as the primary read it: a replacement worker
 *   must not get another configuration.
 * @param place - Where the workers listen. Not port 0: a worker started after all others ended would get another port.
 */
export function createClusterWorkers(sources: SourcesToSend, place: WorkerPlace): StartWorker {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: COMMAND, args: ['serve'] });

  return ({ number, isReplacement, onReport, onEnd }) => {
    let worker: ReturnType<typeof cluster.fork>;
    try {
      worker = cluster.fork();
    } catch {
      // No memory or no process left.
      queueMicrotask(() => onEnd({}));
      return { pid: undefined, stop: ignore, kill: ignore };
    }
    const { process: child } = worker;
    let stopping: WorkerStop | undefined;
    worker.on('message', (message: FromWorker) => {
      // For the collector of metrics.
      if (message.kind === 'metrics') return;
      if (message.kind !== 'asking') return onReport(message);
      send({ kind: 'assignment', number, place, isReplacement, sources });
      // It may have missed a stop that was sent before.
      if (stopping !== undefined) send({ kind: 'stop', ...stopping });
    });
    // Without a process there will be no end of one. Whatever else fails shows in its end.
    worker.on('error', () => {
      if (child.pid === undefined) end({});
    });
    // After its exit and its last message.
    child.once('close', (code: number | null, signal: string | null) =>
      end({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) }),
    );
    return {
      pid: child.pid,
      stop(stop) {
        stopping ??= stop;
        send({ kind: 'stop', ...stopping });
      },
      kill: () => child.kill('SIGKILL'),
    };

    function send(message: ToWorker): void {
      if (worker.isConnected()) child.send(message, ignore);
    }

    function end(exit: WorkerExit): void {
      child.removeAllListeners('close');
      onEnd(exit);
    }
  };
}

/** A message that cannot be delivered was for a process that has ended: its end is reported. */
function ignore(): void {}
