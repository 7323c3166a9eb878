/**
 * Counts every verdict, by door, outcome and reason, and what was wrong with refused tokens.
 *
 * @module
 */

import type { TokenProblem } from '../../bearer/jwt-verifier.ts';
import type { AccessRefusal } from '../../verdict/access.ts';
import type { RefusalReason, UndecidedReason, Verdict } from '../../verdict/verdict.ts';
import type { DoorName, VerdictObserver } from '../verdict-observer.ts';
import { CounterFamily, type Metric } from './metrics-family.ts';

/** Complete, or it does not compile. */
const REFUSALS: Readonly<Record<RefusalReason, true>> = {
  no_credential: true,
  session_unknown: true,
  session_expired: true,
  signed_out: true,
  session_replaced: true,
  session_revoked: true,
  renewal_refused: true,
  renewal_lost: true,
  ambiguous_credentials: true,
  bearer_not_accepted: true,
  insufficient_scope: true,
  cross_site: true,
  not_allowed: true,
};
const UNDECIDED: Readonly<Record<UndecidedReason, true>> = {
  store_unavailable: true,
  issuer_unavailable: true,
  renewal_unavailable: true,
};
const TOKEN_PROBLEMS: Readonly<
  Record<TokenProblem | AccessRefusal | 'subject' | 'claims_overflow', true>
> = {
  size: true,
  form: true,
  header: true,
  payload: true,
  iss: true,
  aud: true,
  exp: true,
  nbf: true,
  iat: true,
  sub: true,
  client: true,
  not_an_access_token: true,
  bound_to_a_key: true,
  unknown_issuer: true,
  algorithm: true,
  unknown_key: true,
  signature: true,
  inactive: true,
  token_type: true,
  opaque: true,
  scope: true,
  subject: true,
  tenant: true,
  group: true,
  email_domain: true,
  client_id: true,
  claims_overflow: true,
};
/** A problem that is not in the list. */
const OTHER = 'other';
/** What admitted the caller; stands where the others have their reason. */
const SESSION_COOKIE = 'session_cookie';
const BEARER = 'bearer';

/** The counters of one door. */
interface DoorCounts {
  readonly family: CounterFamily<readonly ['door', 'outcome', 'reason']>;
  readonly sessionCookie: number;
  readonly bearer: number;
  readonly byReason: ReadonlyMap<string, number>;
}

/** The counts, and who counts. */
export interface VerdictCounts {
  /** In the path of every protected request: two lookups and an addition. */
  readonly observe: VerdictObserver;
  /** Shows the series of these doors from now on, with 0. */
  addDoors(names: Iterable<DoorName>): void;
  read(): readonly Metric[];
}

/** Creates the counts, all 0. */
export function createVerdictCounts(): VerdictCounts {
  const problems = Object.keys(TOKEN_PROBLEMS);
  const tokens = new CounterFamily({
    name: 'sallyport_bearer_refusals_total',
    help: 'Verdicts on bearer tokens that were refused, by the check they did not pass.',
    labels: ['problem'],
    series: [...problems, OTHER].map((problem) => [problem] as const),
  });
  const slotByProblem = new Map(problems.map((problem) => [problem, tokens.slot(problem)]));
  const otherProblem = tokens.slot(OTHER);
  const countsByDoor = new Map<DoorName, DoorCounts>();

  return {
    observe(door, verdict) {
      const { family, sessionCookie, bearer, byReason } = countsByDoor.get(door) ?? addDoor(door);
      if (verdict.outcome === 'admitted') {
        family.add(verdict.session === undefined ? bearer : sessionCookie);
        return;
      }
      const slot = byReason.get(verdict.reason);
      if (slot !== undefined) family.add(slot);
      if (verdict.outcome === 'refused' && verdict.token !== undefined)
        tokens.add(slotByProblem.get(verdict.token.problem) ?? otherProblem);
    },
    addDoors(names) {
      for (const name of names) if (!countsByDoor.has(name)) addDoor(name);
    },
    read: () => [readDoors([...countsByDoor.values()]), tokens.read()],
  };

  function addDoor(door: DoorName): DoorCounts {
    const counts = createDoorCounts(door);
    countsByDoor.set(door, counts);
    return counts;
  }
}

const NAMING = {
  name: 'sallyport_verdicts_total',
  help: 'Verdicts, by the door that asked for them. The reason of an admission is what admitted the caller.',
};
/** Outcome and reason of each series of a door. */
const REASONS: readonly (readonly [Verdict['outcome'], string])[] = [
  ['admitted', SESSION_COOKIE],
  ['admitted', BEARER],
  ...Object.keys(REFUSALS).map((reason) => ['refused', reason] as const),
  ...Object.keys(UNDECIDED).map((reason) => ['undecided', reason] as const),
];

function createDoorCounts(door: DoorName): DoorCounts {
  const family = new CounterFamily({
    ...NAMING,
    labels: ['door', 'outcome', 'reason'],
    series: REASONS.map(([outcome, reason]) => [door, outcome, reason] as const),
  });
  return {
    family,
    sessionCookie: family.slot(door, 'admitted', SESSION_COOKIE),
    bearer: family.slot(door, 'admitted', BEARER),
    byReason: new Map(
      REASONS.filter(([outcome]) => outcome !== 'admitted').map(([outcome, reason]) => [
        reason,
        family.slot(door, outcome, reason),
      ]),
    ),
  };
}

/** The families of all doors as one. */
function readDoors(doors: readonly DoorCounts[]): Metric {
  return {
    ...NAMING,
    type: 'counter',
    aggregator: 'sum',
    values: doors.flatMap(({ family }) => family.read().values),
  };
}
