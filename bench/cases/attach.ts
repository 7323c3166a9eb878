/**
 * What a service pays for the token on each of its calls.
 *
 * @module
 */

import type { BenchCase } from '../bench-case.ts';
import { summarize } from '../load/statistics.ts';
import { type Finding, judge } from '../report/report.ts';
import { importFromSource } from '../seed/from-source.ts';

const ROUNDS = 15;
const ROUNDS_QUICK = 3;
const CALLS = 50_000;
const CALLS_QUICK = 2_000;
const WANTED_US = 2;

/** Beside the same calls without the token, with nothing behind them: neither reaches a network. */
export const ATTACH: BenchCase = {
  name: 'attach',
  title: 'A token on a call of a service',
  needs: [],
  async run({ ends, isQuick, say }) {
    importFromSource();
    const { openAttachedCalls } = await import('../seed/attached-calls.ts');
    const { calls, close } = await openAttachedCalls();
    ends.add(close);
    const count = isQuick ? CALLS_QUICK : CALLS;
    const findings: Finding[] = [];
    for (const { name, isWhole, plain, attached } of calls) {
      const more: number[] = [];
      // The first round finds code that is not compiled yet.
      for (let round = 0; round <= (isQuick ? ROUNDS_QUICK : ROUNDS); round += 1) {
        const microseconds = (await time(attached, count)) - (await time(plain, count));
        if (round > 0) more.push(microseconds);
      }
      const value = summarize(more);
      say(`  ${name}: ${value.median.toFixed(2)} us more a call`);
      const text = `time of a token on a call, ${name}`;
      findings.push(
        isWhole ? judge(text, 'us', value, 'at most', WANTED_US) : { text, unit: 'us', value },
      );
    }
    return {
      notes: [
        `What a call takes longer with a token at hand than without, ${count} calls one after the other, in turn; the token has 900 characters. Behind both is a function that answers at once.`,
      ],
      measured: [],
      findings,
    };
  },
};

/** Microseconds of processor time of one call. */
async function time(call: () => Promise<unknown>, count: number): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < count; n += 1) await call();
  return process.cpuUsage(before).user / count;
}
