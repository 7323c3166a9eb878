/**
 * How long `sallyport serve` takes until it answers.
 *
 * @module
 */

import type { BenchCase } from '../bench-case.ts';
import { summarize } from '../load/statistics.ts';
import { judge } from '../report/report.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startSallyport } from '../servers/sallyport.ts';

const TIMES = 10;
const TIMES_QUICK = 3;
const WANTED_MS = 400;

/** From the start of the process to its `ready` line. */
export const START: BenchCase = {
  name: 'start',
  title: '`sallyport serve` from its start to its `ready` line',
  needs: ['taskset'],
  async run({ ends, isQuick, say }) {
    const idp = await startIdentityProvider(ends);
    // The first start fills caches, the compiled code's among them.
    const sallyport = await startSallyport(ends, { idp });
    const times: number[] = [];
    for (let n = 0; n < (isQuick ? TIMES_QUICK : TIMES); n += 1) {
      await sallyport.restart();
      times.push(sallyport.readyMs);
      say(`  ready after ${sallyport.readyMs.toFixed(0)} ms`);
    }
    const text = 'time to the ready line';
    return {
      notes: [`The middle of ${times.length} starts.`],
      measured: [],
      findings: [judge(text, 'ms', summarize(times), 'at most', WANTED_MS)],
    };
  },
};
