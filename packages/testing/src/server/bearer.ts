/**
 * The bearer verifier with everything it depends on under the hand of a test.
 *
 * @module
 */

import { onTestFinished } from 'vitest';
import type { BearerSettings } from '../../../server/src/bearer/bearer-settings.ts';
import {
  createBearerVerifier,
  type RunningBearerVerifier,
} from '../../../server/src/bearer/bearer-verifier.ts';
import type { TokenProblem } from '../../../server/src/bearer/jwt-verifier.ts';
import { createIssuerFetch } from '../../../server/src/issuer/issuer-request.ts';
import { createIssuers } from '../../../server/src/issuer/issuers.ts';
import type { AccessRules } from '../../../server/src/verdict/access.ts';
import { Generation } from '../../../server/src/verdict/generation.ts';
import type { Verdict } from '../../../server/src/verdict/verdict.ts';
import {
  ISSUER,
  ISSUER_SETTINGS,
  IssuersInMemory,
  NATIVE_CLIENT,
  WEB_CLIENT,
} from '../idp/forge.ts';
import { Clock } from '../time/clock.ts';
import { ClockTimers, settled } from '../time/clock-timers.ts';
import { OPEN_RULES } from './people.ts';

/** A verifier, and what it is made from. */
export interface BearerUnderTest {
  readonly clock: Clock;
  readonly timers: ClockTimers;
  readonly issuers: IssuersInMemory;
  readonly generation: Generation;
  readonly rules: { current: AccessRules };
  readonly verifier: RunningBearerVerifier;
  /** Why tokens were refused, oldest first. */
  readonly problems: TokenProblem[];
  readonly failures: unknown[];
  close(): void;
  /** Recalls, else decides: what the check does. */
  ask(token: string): Promise<Verdict>;
}

/** Settings of one honest issuer. */
export const BEARER_SETTINGS: BearerSettings = {
  issuers: [ISSUER_SETTINGS],
  requiredScopes: ['all'],
  sessionClientIds: [WEB_CLIENT],
  interactiveClientIds: [WEB_CLIENT, NATIVE_CLIENT],
};

/**
 * Creates a verifier for the running test, its first keys fetched already.
 *
 * @param keys - Keys that the honest issuer publishes, or a whole set of issuers.
 */
export async function createBearerUnderTest(
  keys: readonly object[] | IssuersInMemory,
  settings: Partial<BearerSettings> = {},
  claimHeaders: readonly string[] = [],
): Promise<BearerUnderTest> {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const issuers = keys instanceof IssuersInMemory ? keys : new IssuersInMemory({ [ISSUER]: keys });
  const generation = new Generation();
  const rules: { current: AccessRules } = { current: OPEN_RULES };
  const problems: TokenProblem[] = [];
  const failures: unknown[] = [];
  const asked = createIssuers({
    fetch: issuers.fetch,
    now: clock.now,
    schedule: timers.schedule,
    random: () => 0,
  });
  const verifier = createBearerVerifier({
    settings: { ...BEARER_SETTINGS, ...settings },
    issuers: asked,
    fetch: createIssuerFetch({ fetch: issuers.fetch }),
    access: () => rules.current,
    claimHeaders,
    generation,
    now: clock.now,
    schedule: timers.schedule,
    onRefused: (problem) => problems.push(problem),
    onKeysLoaded: () => {},
    onFailure: (_, cause) => failures.push(cause),
  });
  const close = () => {
    verifier.close();
    asked.close();
  };
  onTestFinished(close);
  await settled();
  return {
    ...{ clock, timers, issuers, generation, rules, verifier, problems, failures, close },
    ask: async (token) => verifier.recall(token) ?? verifier.decide(token),
  };
}
