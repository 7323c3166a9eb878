/**
 * `/me` with ten thousand, a hundred thousand and a million sessions in the local store.
 *
 * @module
 */

import { type Bench, type BenchCase, measureInTurn } from '../bench-case.ts';
import type { Candidate } from '../load/candidate.ts';
import { requestsScript } from '../load/scripts.ts';
import { summarize } from '../load/statistics.ts';
import { load } from '../load/wrk.ts';
import { p99Finding, workFinding } from '../report/findings.ts';
import type { Finding, Measured } from '../report/report.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { type Sallyport, startSallyport } from '../servers/sallyport.ts';
import { sallyportCandidate } from './check-comparison.ts';
import { assertCold, REMEMBERED } from './cold-reads.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
const SIZES_QUICK = [10_000, 100_000] as const;
/** At most so many of a store are asked about in turn, spread over all of it. */
const COLD_MOST = 60_000;
/** Asked about once before each round, to count. */
const COUNTED = 10_000;
/** A prime: every so manieth session, round and round, comes to each once. */
const STRIDE = 7_919;
const WARM_UP_SECONDS = 3;
const PROVED_SECONDS = 1;
const STARTS = 5;
const STARTS_QUICK = 1;
/** Of what the smallest store gives. */
const WARM_LEAST = 0.9;
const COLD_LEAST = 0.35;

/** A store of one size, remembered and read. */
interface Sized {
  readonly warm: Candidate;
  readonly cold: Candidate;
  readonly ready: Finding;
}

/** What a request costs must not depend on how many people are signed in. */
export const SESSIONS: BenchCase = {
  name: 'sessions',
  title: '`/me` by cookie, with up to a million sessions, local store',
  needs: ['taskset', 'wrk'],
  async run(bench) {
    const sized: Sized[] = [];
    for (const size of bench.isQuick ? SIZES_QUICK : SIZES) sized.push(await prepare(bench, size));
    const measured = await measureInTurn(
      bench,
      sized.flatMap(({ warm, cold }) => [warm, cold]),
    );
    return {
      notes: [
        'Warm is one cookie that is remembered; cold is another session each time, as in the case `cold`, of up to 60,000 spread over the whole store. Beside its number each store holds 22,000: those that fill what a process remembers, and those by which the metrics show before each round that every request reads its session. Sizes are compared by processor time; other programs of a machine count for less there than in rates.',
      ],
      measured,
      hasRatesToShow: false,
      findings: [...compare(measured), ...sized.map(({ ready }) => ready)],
    };
  },
};

async function prepare(bench: Bench, size: number): Promise<Sized> {
  const { ends, say, plan } = bench;
  const idp = await startIdentityProvider(ends);
  say(`  writing ${size + REMEMBERED + COUNTED} sessions`);
  const sallyport = await startSallyport(ends, { idp, sessions: REMEMBERED + COUNTED + size });
  const ready = await timeStarts(sallyport, size, bench);
  const cookies = { remembered: 0, counted: REMEMBERED, cold: REMEMBERED + COUNTED };
  const script = (from: number, count: number, of: number) =>
    requestsScript(
      ends,
      Array.from({ length: count }, (_, n) => {
        const cookie = sallyport.cookies[from + ((n * STRIDE) % of)] ?? '';
        return ['cookie', cookie] as const;
      }),
      'the first again',
    );
  const remembered = script(cookies.remembered, REMEMBERED, REMEMBERED);
  const counted = script(cookies.counted, COUNTED, COUNTED);
  const cold = script(cookies.cold, Math.min(size, COLD_MOST), size);
  const run = (chosen: string, seconds: number) =>
    load(sallyport.url, {
      ...{ seconds, connections: plan.connections, headers: {}, script: chosen },
    });
  const sampleOf = (cookie: string) => [{ headers: { cookie }, status: 200 }];
  let isWarm = false;
  return {
    ready,
    warm: sallyportCandidate(
      sallyport,
      { samples: sampleOf(sallyport.cookies[0] ?? '') },
      `${format(size)} sessions, warm`,
    ),
    cold: sallyportCandidate(
      sallyport,
      {
        samples: sampleOf(sallyport.cookies.at(-1) ?? ''),
        script: cold,
        async prepare() {
          if (!isWarm) {
            await run(remembered, WARM_UP_SECONDS);
            await run(cold, WARM_UP_SECONDS);
            isWarm = true;
          }
          await assertCold(sallyport, () => run(counted, PROVED_SECONDS));
        },
      },
      `${format(size)} sessions, cold`,
    ),
  };
}

async function timeStarts(
  sallyport: Sallyport,
  size: number,
  { isQuick, say }: Bench,
): Promise<Finding> {
  const times: number[] = [];
  for (let n = 0; n < (isQuick ? STARTS_QUICK : STARTS); n += 1) {
    await sallyport.restart();
    times.push(sallyport.readyMs);
    say(`  ready after ${sallyport.readyMs.toFixed(0)} ms`);
  }
  const text = `time to the ready line, ${format(size)} sessions`;
  return { text, unit: 'ms', value: summarize(times) };
}

/** The largest store beside the smallest one; each store gave two, warm and cold. */
function compare(measured: readonly Measured[]): readonly Finding[] {
  const [warm, cold] = measured;
  const [warmLast, coldLast] = measured.slice(-2);
  if (warm === undefined || cold === undefined) return [];
  if (warmLast === undefined || coldLast === undefined) return [];
  return [
    workFinding(warmLast, warm, WARM_LEAST),
    p99Finding(warmLast, warm),
    workFinding(coldLast, cold, COLD_LEAST),
  ];
}

function format(size: number): string {
  return size.toLocaleString('en');
}
