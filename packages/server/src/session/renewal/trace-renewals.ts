/**
 * A trace of its own for each renewal that a traced request has begun.
 *
 * @module
 */

import { errorType, type Tracer } from '../../trace/tracer.ts';
import type { RenewalOutcome } from './renewal.ts';

/**
 * Does a renewal, which belongs to no request: the one that began it is linked, does not wait for it as a
 * rule, and others may.
 *
 * @param tracer - Absent where nothing is traced.
 */
export function traceRenewal(
  renew: () => Promise<RenewalOutcome>,
  tracer: Tracer | undefined,
): Promise<RenewalOutcome> {
  if (tracer === undefined) return renew();
  return tracer.apart({ name: 'session renewal', attributes: {} }, async (span) => {
    const outcome = await renew();
    span?.set({ 'sallyport.outcome': nameOutcome(outcome) });
    if (outcome.kind === 'postponed' && outcome.cause !== undefined)
      span?.fail(errorType(outcome.cause));
    return outcome;
  });
}

/** As `sallyport_renewals_total` counts it, and a word of its own for what that does not count. */
function nameOutcome(outcome: RenewalOutcome): string {
  switch (outcome.kind) {
    case 'renewed':
      return 'renewed';
    case 'kept':
      return 'unverified';
    case 'ended':
      if (outcome.byUs === undefined) return 'gone';
      return outcome.byUs === 'renewal_lost' ? 'lost' : 'refused';
    case 'postponed':
      return outcome.cause === undefined ? 'postponed' : 'failed';
  }
}
