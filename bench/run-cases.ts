/**
 * Runs cases one after the other, and ends what they have started, whatever becomes of them.
 *
 * @module
 */

import type { BenchCase } from './bench-case.ts';
import type { Options } from './options.ts';
import { describeMissing, type Parts } from './parts.ts';
import { Ends } from './process/ends.ts';
import type { CaseReport } from './report/report.ts';
import { startIdentityProvider } from './servers/identity-provider.ts';
import { compileCommand } from './servers/sallyport.ts';

/** What came of them. */
export interface Outcome {
  readonly cases: readonly CaseReport[];
  readonly leftOut: readonly string[];
}

/** Runs them. The failure of a case is written in its report, and the next case is run. */
export async function runCases(
  all: readonly BenchCase[],
  { plan, isQuick }: Options,
  parts: Parts,
  say: (line: string) => void,
): Promise<Outcome> {
  const cases: CaseReport[] = [];
  const leftOut: string[] = [];
  if (parts.peer === undefined)
    leftOut.push('everything against oauth2-proxy: it is not on the PATH, and `--peer` names none');
  if (parts.taskset !== undefined) await prepare(say);
  let ends = new Ends();
  const onSignal = () => void ends.run().finally(() => process.exit(130));
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  for (const [index, { name, title, needs, run }] of all.entries()) {
    const missing = describeMissing(parts, needs);
    if (missing !== undefined) {
      leftOut.push(`${name}: ${missing}`);
      say(`${name}: left out, ${missing}`);
      continue;
    }
    say(`${name} (${index + 1} of ${all.length}): ${title}`);
    ends = new Ends();
    try {
      const found = await run({ plan, isQuick, ends, peerPath: parts.peer, say });
      cases.push({ name, title, ...found });
    } catch (failure) {
      const message = failure instanceof Error ? failure.message : String(failure);
      say(`  FAILED: ${message}`);
      cases.push({ name, title, notes: [], measured: [], findings: [], failure: message });
    } finally {
      await ends.run();
    }
  }
  process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  return { cases, leftOut };
}

async function prepare(say: (line: string) => void): Promise<void> {
  say('starting sallyport once, so that its code is compiled');
  const ends = new Ends();
  try {
    await compileCommand(ends, await startIdentityProvider(ends));
  } finally {
    await ends.run();
  }
}
