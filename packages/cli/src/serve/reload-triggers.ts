/**
 * What makes a running service read its configuration again: SIGHUP, and a change of the file.
 *
 * @module
 */

import type { Schedule } from '@sallyport/server';
import { describeFile, watchFile } from '../admin/watch-file.ts';
import type { ReloadReason } from './reloads.ts';

/** What the triggers start. */
export interface Triggered {
  /** The configuration file, when there is one. */
  readonly file: string | undefined;
  /** How the file looked before it was read first, as `describeFile` says. */
  readonly known: string | undefined;
  readonly schedule: Schedule;
  readonly reload: (reason: ReloadReason) => void;
  /** Restarts every worker with the configuration in effect. */
  readonly restart: () => void;
}

/** Signals that are captured, so that none of them ends the process. */
export interface CapturedSignals {
  /** Connects the signals to their effects; those that came before take effect now. Returns what disconnects. */
  connect(triggered: Triggered): () => void;
}

/**
 * Captures SIGHUP and SIGUSR2. To be called first: one that comes while the service starts would end the
 * process.
 *
 * SIGHUP has the file read at once, whether or not it changed. The watch does not report the same change again.
 */
export function captureProcessSignals(): CapturedSignals {
  const early = new Set<NodeJS.Signals>();
  let handle = (signal: NodeJS.Signals): void => void early.add(signal);
  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => handle(signal));
  return {
    connect({ file, known, schedule, reload, restart }) {
      /** How the file looked before a signal had it read, until it is another one. */
      let answered: string | undefined;
      handle = (signal) => {
        if (signal !== 'SIGHUP') return restart();
        // Before it is read: what is written meanwhile is a change.
        answered = file === undefined ? undefined : describeFile(file);
        reload('signal');
      };
      for (const signal of early) handle(signal);
      const stopWatching =
        file === undefined
          ? ignore
          : watchFile({
              path: file,
              known,
              schedule,
              onChange() {
                const isAnswered = describeFile(file) === answered;
                answered = undefined;
                if (!isAnswered) reload('file_changed');
              },
            });
      return () => {
        stopWatching();
        handle = ignore;
      };
    },
  };
}

function ignore(): void {}
