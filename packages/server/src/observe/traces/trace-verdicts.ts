/**
 * Says in the span of a request what was decided about it.
 *
 * @module
 */

import type { Tracer } from '../../trace/tracer.ts';
import type { VerdictObserver } from '../verdict-observer.ts';

/**
 * Creates the observer. It records the door, the outcome and the reason, never the principal.
 *
 * Undecided fails the span, also where the answer's status does not show it, as in gRPC.
 *
 * @param tracer - Absent where nothing is traced: then there is no observer either.
 */
export function traceVerdicts(tracer: Tracer | undefined): VerdictObserver | undefined {
  if (tracer === undefined) return undefined;
  return (door, verdict) => {
    const span = tracer.current();
    if (span === undefined) return;
    span.set({
      'sallyport.door': door,
      'sallyport.outcome': verdict.outcome,
      ...(verdict.outcome === 'admitted' ? {} : { 'sallyport.reason': verdict.reason }),
    });
    if (verdict.outcome === 'undecided') span.fail(verdict.reason);
  };
}
