/**
 * Waits until a new graph has what it needs to decide: the key ring, and the metadata and keys of the IdPs.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Schedule } from '@sallyport/server';
import type { Graph } from './replaceable-graph.ts';

const LOOK_EVERY_MS = 50;
/** The wait for issuers of bearer tokens beside the IdP is no longer than this. */
const FURTHER_MS = 5_000;

/**
 * Resolves when a graph is ready: it has the key ring, and the metadata and keys of the IdPs. A further issuer
 * that does not answer does not hold it up: that issuer's tokens are undecided meanwhile.
 *
 * @throws {SallyportError} `SP_NOT_READY` when it is not ready in time, or not wanted any more.
 */
export async function warmUp(
  graph: Pick<Graph, 'waitingFor' | 'knowledge'>,
  withinMs: number,
  { schedule, signal }: { readonly schedule: Schedule; readonly signal: AbortSignal | undefined },
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const waitingFor = await graph.waitingFor();
    const isComplete = [...graph.knowledge().values()].every((isKnown) => isKnown);
    if (waitingFor.length === 0 && (isComplete || waitedMs >= FURTHER_MS)) return;
    if (signal?.aborted === true || waitedMs >= withinMs) {
      throw new SallyportError('SP_NOT_READY', {
        component: 'serve',
        detail:
          signal?.aborted === true
            ? 'it is not wanted any more'
            : `not ready within ${withinMs / 1_000} s: still waits for ${waitingFor.join(' and ')}`,
      });
    }
    await new Promise<void>((resolve) => schedule(LOOK_EVERY_MS, resolve));
  }
}
