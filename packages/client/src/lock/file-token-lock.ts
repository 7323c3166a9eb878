/**
 * The lock of all processes of one user that share a folder.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { SallyportError } from '@sallyport/protocol';
import { openPrivateFolder } from '../store/private-folder.ts';
import { LockFile, type LockNote } from './lock-file.ts';
import { createProcessTable, type ProcessTable } from './process-identity.ts';
import { releaseAtExit } from './release-at-exit.ts';
import type { LockLease, LockWait, TokenLock } from './token-lock.ts';

/** What {@link createFileTokenLock} needs; all but the folder and the clock have a default. */
export interface FileTokenLockOptions {
  /** Absolute; made with mode 0700 when first used. The folder of the file store will do. */
  readonly folder: string;
  /** Epoch milliseconds; for the files' times only, and need not be right. */
  readonly now: () => number;
  readonly processes?: ProcessTable;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed?: () => number;
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Calls at an interval without keeping the process alive; the result ends it. */
  readonly every?: (ms: number, beat: () => void) => () => void;
  readonly releaseAtExit?: (release: () => void) => () => void;
}

const POLL_MS = 50;
const BEAT_MS = 2_000;
/** A holder of whom nothing was heard for so long is taken over from. */
const SILENCE_MS = 15_000;

/**
 * Creates the lock.
 *
 * A holder that has ended is noticed at the next look, by its process number and start time. Of one
 * that cannot be judged so (in another container, or on a system without `/proc` whose numbers were
 * reused), or that is suspended, 15 seconds without a sign of life are enough. The silence is measured
 * by the one who waits, while it runs itself: neither a clock that is set nor a machine that sleeps
 * makes a living holder look silent.
 */
export function createFileTokenLock(options: FileTokenLockOptions): TokenLock {
  const { folder, now } = options;
  const processes = options.processes ?? createProcessTable();
  const elapsed = options.elapsed ?? (() => performance.now());
  const wait = options.wait ?? ((ms, signal) => sleep(ms, undefined, signal ? { signal } : {}));
  const every = options.every ?? unrefInterval;
  const atExit = options.releaseAtExit ?? releaseAtExit;

  return { acquire };

  async function acquire(name: string, { waitMs, signal }: LockWait): Promise<LockLease> {
    signal?.throwIfAborted();
    const file = attempt(() => {
      openPrivateFolder(folder);
      return new LockFile(folder, name);
    });
    const start = elapsed();
    const silence = createSilence(elapsed);
    for (;;) {
      const holder = attempt(() => file.holder());
      const isFree = holder === undefined || hasEnded(holder) || silence(holder.beat) >= SILENCE_MS;
      const note = isFree ? attempt(() => file.take(holder, processes.self)) : undefined;
      if (note !== undefined) return hold(file, note);
      if (elapsed() - start >= waitMs) throw timedOut(holder);
      await wait(POLL_MS, signal).catch((failure: unknown) => {
        signal?.throwIfAborted();
        throw failure;
      });
    }
  }

  function hasEnded({ holder }: LockNote): boolean {
    return holder !== undefined && processes.hasEnded(holder);
  }

  function hold(file: LockFile, note: LockNote): LockLease {
    let isReleased = false;
    let beatAt = now();
    const stopBeating = every(BEAT_MS, () => {
      // The path of a lost note may be the note of another holder by now, which would seem alive by this.
      if (!isHeld()) return stopBeating();
      beatAt = Math.max(now(), beatAt + 1);
      orElse(undefined, () => file.beat(note, beatAt));
    });
    const takeBack = atExit(release);
    // Rubbish that cannot be removed is no reason to give the lock back.
    orElse(undefined, () => file.sweep(now()));
    return { isHeld, release };

    /** `false` if unknown: a holder must not write then. */
    function isHeld(): boolean {
      return !isReleased && orElse(undefined, () => file.holder())?.id === note.id;
    }

    /** What was done under the lock is done; a lock that cannot be freed falls silent. */
    function release(): void {
      if (isReleased) return;
      isReleased = true;
      stopBeating();
      takeBack();
      orElse(undefined, () => file.free(note, processes.self));
    }
  }

  function attempt<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof SallyportError) throw cause;
      const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
      throw new SallyportError('SP_TOKEN_STORE_UNUSABLE', {
        component: 'token-lock',
        detail: `no lock can be made in ${folder}${code}`,
        cause,
      });
    }
  }
}

function timedOut(holder: LockNote | undefined): SallyportError {
  const who = holder?.holder === undefined ? '' : ` (process ${holder.holder.pid})`;
  return new SallyportError('SP_TOKEN_LOCK_TIMEOUT', {
    component: 'token-lock',
    detail: `another process${who} is changing the stored tokens and has not finished`,
  });
}

function orElse<T>(instead: T, work: () => T): T {
  try {
    return work();
  } catch {
    return instead;
  }
}

/**
 * Measures how long the same sign of life is the last one.
 *
 * Counts at most the time of a look between two looks, because the waiting process may have been suspended
 * together with the holder.
 */
function createSilence(elapsed: () => number): (beat: string) => number {
  let last: { readonly beat: string; readonly at: number } | undefined;
  let silentMs = 0;
  return (beat) => {
    const at = elapsed();
    silentMs = last?.beat === beat ? silentMs + Math.min(at - last.at, 4 * POLL_MS) : 0;
    last = { beat, at };
    return silentMs;
  };
}

function unrefInterval(ms: number, beat: () => void): () => void {
  const timer = setInterval(beat, ms);
  timer.unref();
  return () => clearInterval(timer);
}
