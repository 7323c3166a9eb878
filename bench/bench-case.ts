/**
 * A case, and what it gets to work with.
 *
 * @module
 */

import type { Candidate, Plan } from './load/candidate.ts';
import { interleave } from './load/interleave.ts';
import { summarize } from './load/statistics.ts';
import type { PartName } from './parts.ts';
import type { Ends } from './process/ends.ts';
import type { CaseReport, Measured } from './report/report.ts';

/** What a case gets. */
export interface Bench {
  readonly plan: Plan;
  /** Whether it is only asked whether it works. */
  readonly isQuick: boolean;
  /** Carried out when the case is over, also when it fails. */
  readonly ends: Ends;
  /** The program oauth2-proxy, where there is one. */
  readonly peerPath: string | undefined;
  /** Prints a line about the progress. */
  readonly say: (line: string) => void;
}

/** A question, and how it is measured. */
export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly needs: readonly PartName[];
  /** @throws When something else than what was to be measured happened. */
  run(bench: Bench): Promise<Omit<CaseReport, 'name' | 'title'>>;
}

/** Puts candidates under the same load in turn, and prints each round. */
export async function measureInTurn(
  { plan, say }: Bench,
  candidates: readonly Candidate[],
  changes: Partial<Plan> = {},
): Promise<readonly Measured[]> {
  const all = await interleave(candidates, { ...plan, ...changes }, (name, number, round) => {
    const { requestsPerSecond, p99, cpuMicroseconds } = round;
    say(
      `  ${number === 0 ? 'warm-up' : `round ${number}`}  ${name}: ${requestsPerSecond.toFixed(0)} requests/s, p99 ${p99.toFixed(2)} ms, ${cpuMicroseconds.toFixed(1)} us CPU each`,
    );
  });
  return candidates.map(({ name }, index) => {
    const rounds = all[index] ?? [];
    const last = rounds.at(-1);
    return {
      name,
      rounds,
      requestsPerSecond: summarize(rounds.map((round) => round.requestsPerSecond)),
      p50: summarize(rounds.map((round) => round.p50)),
      p99: summarize(rounds.map((round) => round.p99)),
      cpuMicroseconds: summarize(rounds.map((round) => round.cpuMicroseconds)),
      rssBytes: last?.rssBytes ?? 0,
      largestBytes: last?.largestBytes ?? 0,
    };
  });
}
