/**
 * Logouts of the IdP that the store could not take, kept until it can.
 *
 * @module
 */

import type { LogoutToken } from '../issuer/relying-party/logout-token.ts';
import type { Log } from '../log/log.ts';
import type { Schedule } from '../time/schedule.ts';

/** Keeps logouts in the memory of this process. */
export interface KeptLogouts {
  /**
   * Keeps a verified logout, and carries it out as soon as that succeeds.
   *
   * @param carryOut - Resolves once there is nothing left to do; rejects while it fails.
   *
   * @returns `false` where there is no room: it is not kept.
   */
  keep(token: LogoutToken, carryOut: () => Promise<unknown>): boolean;
  /**
   * Whether this very token was kept and has been carried out since: once, so that the IdP's next attempt
   * gets success, and a replay does not.
   */
  takeDone(token: LogoutToken): boolean;
  /** Forgets all, and says in the log how many were still to be done. */
  close(): void;
}

/** Dependencies of {@link createKeptLogouts}. */
export interface KeptLogoutsOptions {
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly log: Log;
}

interface Kept {
  readonly carryOut: () => Promise<unknown>;
  /** Until when the token is accepted: the result is not needed after that. */
  readonly acceptedUntil: number;
  until: number;
  isDone: boolean;
}

/** Only what the IdP has signed comes in here; some kilobytes each at most. */
const KEPT_MAX = 1_000;
/** Longer than any outage that goes unnoticed; what is not renewed by then counts no more either. */
const KEPT_MS = 3_600_000;
const RETRY_MS = 1_000;

/**
 * Creates the keeper. Most IdPs send a logout token once, whatever they are answered, so that the sender
 * cannot be relied on to try again. What is kept here is lost with the process, which is why the sender
 * still gets the answer that the logout has failed.
 */
export function createKeptLogouts({ schedule, now, log }: KeptLogoutsOptions): KeptLogouts {
  const kept = new Map<string, Kept>();
  let cancel: (() => void) | undefined;
  let isClosed = false;

  return {
    keep(token, carryOut) {
      const name = nameOf(token);
      if (isClosed) return false;
      if (!kept.has(name)) {
        forgetOld();
        if (kept.size >= KEPT_MAX) return false;
        kept.set(name, {
          carryOut,
          acceptedUntil: token.acceptedUntil,
          until: now() + KEPT_MS,
          isDone: false,
        });
      }
      tryLater();
      return true;
    },

    takeDone(token) {
      const name = nameOf(token);
      return kept.get(name)?.isDone === true && kept.delete(name);
    },

    close() {
      isClosed = true;
      cancel?.();
      noteLost([...kept.values()].filter(({ isDone }) => !isDone).length);
      kept.clear();
    },
  };

  function tryLater(): void {
    if (isClosed) return;
    cancel ??= schedule(RETRY_MS, () => {
      cancel = undefined;
      void tryAll();
    });
  }

  /** One after the other, and none after one that fails: the store is still down. */
  async function tryAll(): Promise<void> {
    forgetOld();
    for (const each of [...kept.values()].filter(({ isDone }) => !isDone)) {
      try {
        await each.carryOut();
        each.isDone = true;
        each.until = each.acceptedUntil;
      } catch {
        // Logged when it was kept.
        tryLater();
        return;
      }
    }
  }

  function forgetOld(): void {
    let lost = 0;
    for (const [name, { until, isDone }] of kept) {
      if (now() < until) continue;
      kept.delete(name);
      if (!isDone) lost += 1;
    }
    noteLost(lost);
  }

  function noteLost(count: number): void {
    if (count > 0) log('error', 'backchannel_logouts_lost', { count });
  }
}

/** Key: the whole token, because another token with the same `jti` is a different logout. */
function nameOf({ issuer, jti, subject, sid, issuedAt }: LogoutToken): string {
  return JSON.stringify([issuer, jti, subject, sid, issuedAt]);
}
