/**
 * Two URLs under the same load, round by round in turn, and the ratio of their rates.
 *
 * @module
 */

import { CONNECTIONS, LOAD_CORE, median } from './server-under-load.ts';
import { load } from './wrk.ts';

/** One of the two. */
export interface Candidate {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const ROUNDS = 7;
const SECONDS = 4;

/**
 * Prints both rates of each round, their medians and the median ratio.
 *
 * @param wanted - Least ratio; printed, not enforced, because a busy machine proves nothing.
 * @throws When a request fails.
 */
export async function compare(one: Candidate, base: Candidate, wanted: number): Promise<void> {
  const rates: { one: number; base: number }[] = [];
  console.log(`round  ${one.name} req/s  p99 ms   ${base.name} req/s  p99 ms   ratio`);
  // The first round warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [first, second] = [await measure(one), await measure(base)];
    if (round === 0) continue;
    rates.push({ one: first.requestsPerSecond, base: second.requestsPerSecond });
    const columns = [first, second].map(
      ({ requestsPerSecond, p99 }) =>
        `${requestsPerSecond.toFixed(0).padStart(10)}  ${p99.toFixed(2).padStart(6)}`,
    );
    const ratio = first.requestsPerSecond / second.requestsPerSecond;
    console.log(`${String(round).padStart(5)}  ${columns.join('  ')}  ${ratio.toFixed(3)}`);
  }
  const ratio = median(rates.map((rate) => rate.one / rate.base));
  const middle = (key: 'one' | 'base') => median(rates.map((rate) => rate[key])).toFixed(0);
  console.log(
    `median: ${one.name} ${middle('one')} req/s, ${base.name} ${middle('base')} req/s, ratio ${ratio.toFixed(3)} (wanted: at least ${wanted.toFixed(2)})`,
  );
}

async function measure({ url, headers }: Candidate): ReturnType<typeof load> {
  const result = await load(url, {
    core: LOAD_CORE,
    seconds: SECONDS,
    connections: CONNECTIONS,
    headers,
  });
  if (result.failures > 0) throw new Error(`${result.failures} requests to ${url} failed`);
  return result;
}
