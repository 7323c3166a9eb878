import { describe, expect, it } from 'vitest';
import type { CheckRequest } from '../../verdict/check-request.ts';
import type { Admitted, Refused, Verdict } from '../../verdict/verdict.ts';
import { createVerdictCounts, type VerdictCounts } from './metrics-verdicts.ts';

const REQUEST: CheckRequest = { method: 'GET', headers: {}, rawHeaders: [], transport: 'http' };
const IDENTITY: Admitted['identity'] = {
  principal: { issuer: 'https://idp.example.com', subject: 'ada', kind: 'user' },
  user: {
    subject: 'ada',
    name: '',
    preferredUsername: '',
    givenName: '',
    familyName: '',
    email: '',
    picture: '',
    additionalClaims: {},
  },
  headers: [],
  body: { camelCase: '{}', snakeCase: '{}' },
  claims: {},
};
const admitted = (session: Admitted['session']): Admitted => ({
  outcome: 'admitted',
  identity: IDENTITY,
  session,
  setCookie: undefined,
  renewal: undefined,
});
const SESSION = { id: 7, generation: 1, createdAt: 0, endsAt: 1, absoluteEnd: 1 };
const refused = (problem: string): Refused => ({
  outcome: 'refused',
  reason: 'bearer_not_accepted',
  token: { problem, issuer: undefined, subject: undefined, client: undefined },
});

const DOORS = ['me', 'gateway', 'service', 'status'];

/** Series that are not 0, as `door outcome reason` and `problem`. */
function counted(counts: VerdictCounts): Readonly<Record<string, number>> {
  return Object.fromEntries(
    counts
      .read()
      .flatMap(({ values }) => values)
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => [Object.values(labels).join(' '), value]),
  );
}

describe('Verdicts are counted', () => {
  it('by door, outcome and reason, an admission by what admitted the caller', () => {
    const counts = createVerdictCounts();
    const verdicts: readonly Verdict[] = [
      admitted(SESSION),
      admitted(SESSION),
      admitted(undefined),
      { outcome: 'refused', reason: 'no_credential' },
      { outcome: 'undecided', reason: 'store_unavailable', retryAfterSeconds: 1 },
    ];
    for (const verdict of verdicts) counts.observe('me', verdict, REQUEST);
    counts.observe('status', admitted(SESSION), REQUEST);
    expect(counted(counts)).toEqual({
      'me admitted session_cookie': 2,
      'me admitted bearer': 1,
      'me refused no_credential': 1,
      'me undecided store_unavailable': 1,
      'status admitted session_cookie': 1,
    });
  });

  it('and refused tokens by the check they did not pass; one that is in no list is other', () => {
    const counts = createVerdictCounts();
    for (const problem of ['exp', 'exp', 'tenant', '__proto__', 'exp\n', 'constructor'])
      counts.observe('gateway', refused(problem), REQUEST);
    expect(counted(counts)).toEqual({
      'gateway refused bearer_not_accepted': 6,
      exp: 2,
      tenant: 1,
      other: 3,
    });
  });

  it('of a further door too, with 0 before the first', () => {
    const counts = createVerdictCounts();
    counts.addDoors(DOORS);
    counts.observe('me', admitted(SESSION), REQUEST);
    counts.addDoors(['plain', 'me']);
    const [verdicts] = counts.read();
    const doors = new Set(verdicts?.values.map(({ labels }) => labels['door']));
    expect([...doors]).toEqual([...DOORS, 'plain']);
    expect(verdicts?.values).toHaveLength(5 * 18);
    expect(counted(counts)).toEqual({ 'me admitted session_cookie': 1 });
  });

  it('in as many series before the first as after thousands of any kind', () => {
    const counts = createVerdictCounts();
    counts.addDoors(DOORS);
    const size = () => counts.read().flatMap(({ values }) => values).length;
    const before = size();
    for (let index = 0; index < 5_000; index += 1) {
      const reason = `reason-${index}` as 'no_credential';
      counts.observe('me', { outcome: 'refused', reason }, REQUEST);
      counts.observe('service', refused(`problem-${index}`), REQUEST);
    }
    expect(size()).toBe(before);
    expect(before).toBe(4 * 18 + 28);
  });
});
