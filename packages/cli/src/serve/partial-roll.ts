/**
 * Whether a roll that went no further left workers that differ.
 *
 * @module
 */

import { type Result, refuse } from '@sallyport/protocol';
import type { ReloadRefusal } from './reloads.ts';
import type { Supervision } from './supervise-workers.ts';
import type { StartWorker } from './worker-process.ts';

/**
 * Rolls, and says in a refusal whether a worker was replaced until then: one whose successor listened.
 *
 * @param supervision - Of the workers that run.
 * @param startWorker - Starts the new ones.
 * @param signal - Aborts when this is not wanted any more.
 */
export async function rollPartially(
  supervision: Pick<Supervision, 'roll'>,
  startWorker: StartWorker,
  signal: AbortSignal,
): Promise<Result<undefined, Exclude<ReloadRefusal, { kind: 'problems' }>>> {
  let isPartial = false;
  const rolled = await supervision.roll(
    (start) =>
      startWorker({
        ...start,
        onReport(report) {
          if (report.kind === 'listening') isPartial = true;
          start.onReport(report);
        },
      }),
    signal,
  );
  return rolled.ok ? rolled : refuse({ ...rolled.error, isPartial });
}
