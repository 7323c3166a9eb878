/**
 * How long `sallyport serve` takes until it answers, and how much memory it has then.
 *
 * @module
 */

import { join } from 'node:path';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import RUNTIME from '../../packages/cli/bin/runtime-options.json' with { type: 'json' };
import { buildCommand } from '../../tools/build/build-command.ts';
import { COMMAND_FOLDER } from '../../tools/build/layout.ts';
import type { BenchCase } from '../bench-case.ts';
import { summarize } from '../load/statistics.ts';
import { usageOf } from '../process/usage.ts';
import { type Finding, judge } from '../report/report.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { type Sallyport, type SallyportOptions, startSallyport } from '../servers/sallyport.ts';

const TIMES = 10;
const TIMES_QUICK = 3;
const WANTED_CHECKOUT_MS = 400;
const WANTED_RATIO = 0.6;
const WANTED_MB = 85;
const MB = 1_000_000;

/** One start. */
interface Start {
  readonly readyMs: number;
  /** Megabytes in memory once its metrics have been read. */
  readonly idleMb: number;
}

/** A way to start it. */
interface Variant {
  readonly name: string;
  readonly sallyport: Sallyport;
  readonly starts: Start[];
}

/** From the start of the process to its `ready` line: from the sources, from the bundle, and as the image starts that. */
export const START: BenchCase = {
  name: 'start',
  title: '`sallyport serve` from its start to its `ready` line',
  needs: ['taskset'],
  async run({ ends, isQuick, say }) {
    const built = temporaryFolder();
    ends.add(() => built.remove());
    await buildCommand(built.path, undefined);
    const file = join(built.path, COMMAND_FOLDER, 'bin/sallyport.js');

    const idp = await startIdentityProvider(ends);
    const prepare = async (
      name: string,
      options: Partial<SallyportOptions> = {},
    ): Promise<Variant> => {
      // The first start fills caches, the compiled code's among them.
      const sallyport = await startSallyport(ends, { idp, ...options });
      await sallyport.stop();
      return { name, sallyport, starts: [] };
    };
    const checkout = await prepare('the checkout');
    const bundle = await prepare('the bundle', { file });
    const image = await prepare("the image's process", { file, runtime: RUNTIME });

    for (let n = 0; n < (isQuick ? TIMES_QUICK : TIMES); n += 1)
      for (const { name, sallyport, starts } of [checkout, bundle, image]) {
        await sallyport.restart();
        const { readyMs } = sallyport;
        const idleMb = usageOf(sallyport.pids()).rssBytes / MB;
        await sallyport.stop();
        starts.push({ readyMs, idleMb });
        say(`  ${name} is ready after ${readyMs.toFixed(0)} ms, with ${idleMb.toFixed(0)} MB`);
      }

    const inTurn = `The middle of ${checkout.starts.length} starts of each, in turn.`;
    const runtime =
      "The image's process gets the runtime's options with its start, as the unit of systemd does; the others start themselves again to get them.";
    const { text, unit, value } = timeFinding(checkout);
    return {
      notes: [inTurn, runtime],
      measured: [],
      findings: [
        judge(text, unit, value, 'at most', WANTED_CHECKOUT_MS),
        ...[bundle, image].flatMap((variant) => [
          timeFinding(variant),
          ratioFinding(variant, checkout),
          memoryFinding(variant),
        ]),
      ],
    };
  },
};

function timeFinding({ name, starts }: Variant): Finding {
  const value = summarize(starts.map(({ readyMs }) => readyMs));
  return { text: `time to the ready line, ${name}`, unit: 'ms', value };
}

function ratioFinding({ name, starts }: Variant, other: Variant): Finding {
  const ratios = starts.map(({ readyMs }, n) => readyMs / (other.starts[n]?.readyMs ?? Number.NaN));
  const text = `time to the ready line, ${name}, in that of ${other.name}`;
  return judge(text, 'x', summarize(ratios), 'at most', WANTED_RATIO);
}

function memoryFinding({ name, starts }: Variant): Finding {
  const value = summarize(starts.map(({ idleMb }) => idleMb));
  return judge(`memory (RSS), idle, ${name}`, 'MB', value, 'at most', WANTED_MB);
}
