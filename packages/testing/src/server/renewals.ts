/**
 * The renewals of one process, and what they say.
 *
 * @module
 */

import { createAudit, NO_REQUEST } from '../../../server/src/audit/audit.ts';
import type { Log, LogFields } from '../../../server/src/log/log.ts';
import type {
  RenewalDependencies,
  SeenSession,
} from '../../../server/src/session/renewal/renewal.ts';
import { Renewals, type RenewalsOptions } from '../../../server/src/session/renewal/renewals.ts';
import { formatSessionId } from '../../../server/src/session/session-id.ts';
import type { Session } from '../../../server/src/session/session-record.ts';
import { createRenewalBench, type RenewalBench, type SignedIn } from './renewal.ts';

type Line = readonly [level: string, event: string, fields: LogFields | undefined];

/** Everything of them that a test looks at. */
export interface RenewalsUnderTest extends RenewalBench {
  readonly dependencies: RenewalDependencies;
  readonly sent: readonly Session[];
  /** Ids of sessions of which nothing remembered counts. */
  readonly changed: number[];
  readonly lines: Line[];
  readonly log: Log;
  readonly renewals: Renewals;
  /** Has the IdP answer after a while. */
  takeTime(ms: number): void;
}

/** The renewals of one process, its budget wide unless a test narrows it. */
export function setupRenewals(overrides: Partial<RenewalsOptions> = {}): RenewalsUnderTest {
  const bench = createRenewalBench();
  const { clock, timers } = bench;
  const { dependencies, sent } = bench.createProcess();
  const changed: number[] = [];
  const lines: Line[] = [];
  const log: Log = (...line) => lines.push([line[0], line[1], line[2]]);
  const renewals = new Renewals({
    ...dependencies,
    random: () => 0,
    onChanged: (id) => changed.push(id),
    originOf: ({ requestId }) => ({ ...NO_REQUEST, request_id: requestId }),
    log,
    audit: createAudit(log),
    ...overrides,
  });
  /** Has the IdP answer after a while. */
  const takeTime = (ms: number) => {
    bench.idp.deliver = async (answer) => {
      await new Promise<void>((wake) => timers.schedule(ms, wake));
      return answer;
    };
  };
  return { ...bench, log, dependencies, sent, changed, lines, renewals, takeTime, clock };
}

/** The fixed fields of a line about a session, of no request. */
export function lineOf({ id, session }: SignedIn, reason: string): LogFields {
  const { issuer, subject } = session.principal;
  const noRequest = { address: null, browser: null, request_id: null };
  return { issuer, subject, session: formatSessionId(id), ...noRequest, reason };
}

/** The session as a request has seen it. */
export function seen(
  { id, session }: SignedIn,
  generation: number = session.generation,
): SeenSession {
  return { id, generation };
}
