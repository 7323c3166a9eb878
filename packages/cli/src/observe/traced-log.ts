/**
 * Log lines that name the trace they belong to.
 *
 * @module
 */

import type { Log, Tracer } from '@sallyport/server/observe';

/**
 * Adds `trace_id` to lines written within a request that is traced.
 *
 * @param tracer - Absent where nothing is traced: the very same log is returned.
 */
export function traceLog(log: Log, tracer: Tracer | undefined): Log {
  if (tracer === undefined) return log;
  return (level, event, fields) => {
    const traceId = tracer.currentTraceId();
    log(level, event, traceId === undefined ? fields : { ...fields, trace_id: traceId });
  };
}
