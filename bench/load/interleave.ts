/**
 * Candidates under the same load in turn, round by round.
 *
 * @module
 */

import { usageOf } from '../process/usage.ts';
import type { Candidate, Plan } from './candidate.ts';
import { probe } from './probe.ts';
import { type Load, load } from './wrk.ts';

/** What one candidate did in one round. */
export interface Round {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time a request, of all its processes. */
  readonly cpuMicroseconds: number;
  /** After the load: of all its processes, and of the largest. */
  readonly rssBytes: number;
  readonly largestBytes: number;
}

/** Part of an answer's size by which the mean of all may differ: a minute's Set-Cookie, or a longer number. */
const SIZE_TOLERANCE = 0.05;

/**
 * Loads each candidate in turn, one round to warm up and then as many as planned.
 *
 * @param onRound - Called after each load; the loads that warm up are round 0.
 *
 * @returns The rounds of each candidate, in the order of the candidates.
 * @throws When a candidate answers anything but what its samples say.
 */
export async function interleave(
  candidates: readonly Candidate[],
  plan: Plan,
  onRound: (name: string, number: number, round: Round) => void,
): Promise<readonly (readonly Round[])[]> {
  const rounds: Round[][] = candidates.map(() => []);
  for (let number = 0; number <= plan.rounds; number += 1) {
    for (const [index, candidate] of candidates.entries()) {
      const round = await measure(candidate, plan);
      onRound(candidate.name, number, round);
      if (number > 0) rounds[index]?.push(round);
    }
  }
  return rounds;
}

async function measure(candidate: Candidate, plan: Plan): Promise<Round> {
  await candidate.prepare?.();
  const expected = await expectationOf(candidate);
  const { script, samples } = candidate;
  const headers = script === undefined ? (samples[0]?.headers ?? {}) : {};
  const before = usageOf(candidate.pids());
  const result = await (candidate.load?.(plan) ??
    load(candidate.url, { ...plan, headers, script }));
  const after = usageOf(candidate.pids());
  assertExpected(candidate, result, expected, plan.connections);
  await expectationOf(candidate);
  return {
    requestsPerSecond: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    cpuMicroseconds: ((after.cpuSeconds - before.cpuSeconds) * 1_000_000) / result.requests,
    rssBytes: after.rssBytes,
    largestBytes: after.largestBytes,
  };
}

interface Expectation {
  /** Part of all answers whose status is 400 or above. */
  readonly refusedShare: number;
  readonly meanBytes: number;
}

/** Each worker slides a session's cookie once a minute, perhaps just now: the shortest answer is as all others are. */
const ASKED = 4;

/** Asks each sample. @throws When one is answered with another status than it has to. */
async function expectationOf({ name, url, samples }: Candidate): Promise<Expectation> {
  let [refusedShare, meanBytes] = [0, 0];
  for (const { method, headers, status, share = 1 } of samples) {
    let bytes = Number.POSITIVE_INFINITY;
    for (let asked = 0; asked < ASKED; asked += 1) {
      const answer = await probe(url, headers, method);
      if (answer.status !== status)
        throw new Error(
          `${name} answers ${answer.status} where it has to be ${status}:\n${answer.text}`,
        );
      bytes = Math.min(bytes, answer.bytes);
    }
    if (status >= 400) refusedShare += share;
    meanBytes += bytes * share;
  }
  return { refusedShare, meanBytes };
}

/**
 * Counts instead of a look at each answer, which would cost the load generator more than the servers:
 * no connection broke, as many answers as expected were refusals, and all have the expected size
 * together, which a redirect or another page has not.
 */
function assertExpected(
  { name }: Candidate,
  { requests, refused, broken, bytes }: Load,
  { refusedShare, meanBytes }: Expectation,
  connections: number,
): void {
  if (requests === 0) throw new Error(`${name} answered nothing`);
  if (broken > 0) throw new Error(`${name}: ${broken} of ${requests} requests broke`);
  // With kinds of requests in a fixed order, only those under way can tip the balance.
  const allowance = refusedShare === 0 || refusedShare === 1 ? 0 : connections;
  if (Math.abs(refused - refusedShare * requests) > allowance)
    throw new Error(
      `${name} refused ${refused} of ${requests} requests, and had to refuse ${(refusedShare * 100).toFixed(0)} %`,
    );
  if (meanBytes === 0) return;
  const size = bytes / requests;
  if (Math.abs(size - meanBytes) > meanBytes * SIZE_TOLERANCE)
    throw new Error(`${name} answered ${size.toFixed(0)} bytes, and had to answer ${meanBytes}`);
}
