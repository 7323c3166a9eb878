/**
 * Keeps the token file in step with the token: written with each new one, removed before it can no longer be used.
 *
 * @module
 */

import { describeFailure, type Log, type Schedule } from '@sallyport/server/observe';
import { formatToken } from '../sign-in/format-token.ts';
import type { TokenFile } from './token-file.ts';
import type { HeldToken } from './token-keeper.ts';

/** No call may carry a token in its last seconds: programs then find no file, and not a token that is refused. */
const REMOVED_BEFORE_END_MS = 10_000;
const WRITE_AGAIN_MS = 5_000;
/** A timer waits no longer: the clock may have been set, or the machine have slept. */
const LOOK_MS = 60_000;

/** A copy on the disk. */
export interface KeptCopy {
  /** Writes it; tried again every five seconds while it cannot be written. */
  put(held: HeldToken): void;
  /** Ends the timer; the file stays. */
  close(): void;
}

/** Creates it. Failures are logged, once for each kind. */
export function createKeptCopy(
  file: TokenFile,
  isHeaderLine: boolean,
  schedule: Schedule,
  log: Log,
): KeptCopy {
  let held: HeldToken | undefined;
  let isWritten = false;
  let lastFailure = '';
  let cancel = ignore;

  return {
    put(next) {
      held = next;
      isWritten = false;
      keep();
    },
    close() {
      cancel();
    },
  };

  function keep(): void {
    cancel();
    if (held === undefined) return;
    const { tokens, header } = held;
    const restMs =
      (tokens.expiresAt ?? Number.POSITIVE_INFINITY) - REMOVED_BEFORE_END_MS - Date.now();
    if (restMs <= 0) {
      if (attempt(() => file.remove())) held = undefined;
      else cancel = schedule(WRITE_AGAIN_MS, keep);
      return;
    }
    if (!isWritten)
      isWritten = attempt(() =>
        file.write(formatToken(tokens, header, isHeaderLine ? { header: true } : {})),
      );
    cancel = schedule(Math.min(restMs, isWritten ? LOOK_MS : WRITE_AGAIN_MS), keep);
  }

  function attempt(act: () => void): boolean {
    try {
      act();
      lastFailure = '';
      return true;
    } catch (cause) {
      const failure = describeFailure(cause);
      if (failure !== lastFailure) log('error', 'token_file_failed', { file: file.path, failure });
      lastFailure = failure;
      return false;
    }
  }
}

function ignore(): void {}
