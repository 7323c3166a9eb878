/**
 * Sessions, put together: the key ring, the cookie, and the store behind them.
 *
 * @module
 */

import type { AdminServerOptions } from './admin-server-options.ts';
import { NO_PRINCIPAL, NO_REQUEST } from './audit/audit.ts';
import { describeFailure } from './log/log.ts';
import { KeyRing } from './session/key-ring.ts';
import { type CookieSettings, createCookieSettings } from './session/session-cookie.ts';
import { Sessions } from './session/sessions.ts';
import { Generation } from './verdict/generation.ts';

/** What verdicts and sign-in share of sessions. */
export interface SessionPart {
  readonly cookies: CookieSettings;
  readonly ring: KeyRing;
  readonly sessions: Sessions;
  /** Moves with each change of the key ring: what was remembered before counts no longer. */
  readonly generation: Generation;
}

/** Reads no file yet. */
export function createSessionPart(options: AdminServerOptions): SessionPart {
  const { publicUrl, cookie, store, now, log, audit } = options;
  const generation = new Generation();
  let isRingKnown = false;
  const ring = new KeyRing(options.keyRing, {
    now,
    onChange: (change) => {
      generation.bump();
      const read = isRingKnown ? 'file_changed' : 'first_use';
      const reason = change === 'key_ended' ? change : read;
      isRingKnown = true;
      audit({
        event: 'key_ring_loaded',
        ...NO_PRINCIPAL,
        session: undefined,
        ...NO_REQUEST,
        reason,
      });
    },
    onProblem: (cause) => log('error', 'key_ring_unreadable', { failure: describeFailure(cause) }),
  });
  return {
    cookies: createCookieSettings(publicUrl, cookie.sameSite, cookie.domain),
    ring,
    sessions: new Sessions({ store, ring, now, lifetimes: options.lifetimes }),
    generation,
  };
}
