/**
 * A span for each operation of the session store that a traced request waits for.
 *
 * @module
 */

import type { SessionStore } from '../../session/session-store.ts';
import type { Tracer } from '../../trace/tracer.ts';
import { observeStore } from '../observe-store.ts';

/**
 * Wraps a store: each operation of it becomes a span. Spans hold no id and no key of a session.
 *
 * @param system - `db.system.name` of the store behind.
 * @param tracer - Absent where nothing is traced: the very same store is returned.
 */
export function traceStore(
  store: SessionStore,
  system: 'sqlite' | 'redis',
  tracer: Tracer | undefined,
): SessionStore {
  if (tracer === undefined) return store;
  return observeStore(store, (operation) => {
    const span = {
      name: `session_store ${operation}`,
      attributes: { 'db.system.name': system, 'db.operation.name': operation },
    };
    return (run) => tracer.call(span, run);
  });
}
