/**
 * The check over a real local store, with everything it depends on under the hand of a test.
 *
 * @module
 */

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { KeyRing } from '../../../server/src/session/key-ring.ts';
import { createLocalSessionStore } from '../../../server/src/session/local/local-session-store.ts';
import { createCookieSettings } from '../../../server/src/session/session-cookie.ts';
import type { SessionStore } from '../../../server/src/session/session-store.ts';
import {
  type NewSession,
  type SessionLifetimes,
  Sessions,
} from '../../../server/src/session/sessions.ts';
import type { AccessRules } from '../../../server/src/verdict/access.ts';
import {
  type BearerVerifier,
  type Check,
  type CheckDependencies,
  createCheck,
} from '../../../server/src/verdict/check.ts';
import type { CheckRequest } from '../../../server/src/verdict/check-request.ts';
import { selectBearerHeaders } from '../../../server/src/verdict/credential.ts';
import { Generation } from '../../../server/src/verdict/generation.ts';
import {
  createSessionVerifier,
  type SessionVerifierDependencies,
} from '../../../server/src/verdict/session-verifier.ts';
import type { Verdict } from '../../../server/src/verdict/verdict.ts';
import { createTemporaryFolder } from '../files/temporary-folder.ts';
import { Clock } from '../time/clock.ts';
import { ADA_SIGNS_IN, LIFETIMES, OPEN_RULES } from './people.ts';
import { RingInMemory } from './ring.ts';
import { WatchedStore } from './watched-store.ts';

/** The origin that is checked for. */
export const PUBLIC = 'https://flow.example';
/** The session cookie's name there. */
export const COOKIE = '__Host-core_session';

/** A check, and what it is made from. */
export interface CheckUnderTest {
  readonly clock: Clock;
  readonly source: RingInMemory;
  readonly generation: Generation;
  /** The check's own store. */
  readonly store: WatchedStore;
  /** The same sessions as another process has them. */
  readonly elsewhere: SessionStore;
  readonly sessions: Sessions;
  /** To be replaced as a reload would. */
  readonly rules: { current: AccessRules };
  readonly outages: unknown[];
  readonly dependencies: CheckDependencies;
  readonly sessionDependencies: SessionVerifierDependencies;
  readonly check: Check;
  /** Asks with this session cookie, or with none. */
  ask(cookie: string | undefined, more?: Partial<CheckRequest>): Promise<Verdict>;
  /** Signs Ada in, in another process. */
  signIn(signedIn?: Partial<NewSession>): Promise<{ readonly id: number; readonly cookie: string }>;
}

/** Creates a check for the running test. */
export function createCheckUnderTest(
  options: {
    readonly bearer?: BearerVerifier;
    readonly claimHeaders?: readonly string[];
    readonly lifetimes?: SessionLifetimes;
  } = {},
): CheckUnderTest {
  const { bearer, claimHeaders = [], lifetimes = LIFETIMES } = options;
  const clock = new Clock();
  const source = new RingInMemory();
  const generation = new Generation();
  const ring = new KeyRing(source, {
    now: clock.now,
    onChange: () => generation.bump(),
    onProblem: () => {},
  });
  const path = join(createTemporaryFolder(), 'sessions.sqlite');
  const store = new WatchedStore(
    createLocalSessionStore({ path, now: clock.now, monotonicNow: clock.now }),
  );
  const elsewhere = createLocalSessionStore({ path, now: clock.now, monotonicNow: clock.now });
  onTestFinished(() => {
    store.close();
    elsewhere.close();
  });
  const sessions = new Sessions({ store, ring, now: clock.now, lifetimes });
  // Reads of the check's store are those of checks alone.
  const begunElsewhere = new Sessions({ store: elsewhere, ring, now: clock.now, lifetimes });
  const rules: { current: AccessRules } = { current: OPEN_RULES };
  const outages: unknown[] = [];
  const sessionDependencies: SessionVerifierDependencies = {
    cookies: createCookieSettings(new URL(PUBLIC), 'Lax', ''),
    sessions,
    store,
    ring,
    generation,
    access: () => rules.current,
    claimHeaders,
    now: clock.now,
    onOutage: (cause) => outages.push(cause),
  };
  const dependencies: CheckDependencies = {
    publicOrigin: PUBLIC,
    credentials: {
      sessionCookieName: COOKIE,
      bearerHeaders: selectBearerHeaders({
        httpAuthorizationHeader: 'core-authorization',
        grpcAuthorizationHeader: 'core-authorization',
        onlyConfiguredHeader: false,
      }),
    },
    sessions: createSessionVerifier(sessionDependencies),
    ...(bearer === undefined ? {} : { bearer }),
    onOutage: (cause) => outages.push(cause),
  };
  const check = createCheck(dependencies);
  return {
    ...{
      clock,
      source,
      generation,
      store,
      elsewhere,
      sessions,
      rules,
      outages,
      dependencies,
      sessionDependencies,
      check,
    },
    ask: async (cookie, more = {}) =>
      check(toRequest(cookie === undefined ? {} : { cookie: `${COOKIE}=${cookie}` }, more)),
    signIn: async (signedIn = {}) => {
      const begun = await begunElsewhere.begin({ ...ADA_SIGNS_IN, ...signedIn }, []);
      return { id: begun.session.id, cookie: begun.cookieValue };
    },
  };
}

/** A GET with these headers. */
export function toRequest(
  headers: Readonly<Record<string, string>>,
  more: Partial<CheckRequest> = {},
): CheckRequest {
  const rawHeaders = Object.entries(headers).flat();
  return { method: 'GET', headers, rawHeaders, transport: 'http', ...more };
}
