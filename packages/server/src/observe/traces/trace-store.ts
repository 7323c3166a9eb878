/**
 * A span for each operation of the session store that a traced request waits for.
 *
 * @module
 */

import type { SessionStore } from '../../session/session-store.ts';
import type { Tracer } from '../../trace/tracer.ts';
import { STORE_OPERATION_NAMES, type StoreOperation } from '../store-operations.ts';

/**
 * Stands in front of a store. What is asked in memory, on the way of every request, passes untouched; ids
 * and keys of sessions are not told.
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
  const within = <T>(operation: StoreOperation, work: () => Promise<T>): Promise<T> => {
    const name = STORE_OPERATION_NAMES[operation];
    return tracer.call(
      {
        name: `session_store ${name}`,
        attributes: { 'db.system.name': system, 'db.operation.name': name },
      },
      work,
    );
  };
  return {
    create: (...call) => within('create', () => store.create(...call)),
    read: (id) => within('read', () => store.read(id)),
    readMetadata: (id) => within('readMetadata', () => store.readMetadata(id)),
    touch: (...call) => within('touch', () => store.touch(...call)),
    replace: (session) => within('replace', () => store.replace(session)),
    noteRenewalSent: (...call) => within('noteRenewalSent', () => store.noteRenewalSent(...call)),
    withdrawRenewalSent: (...call) =>
      within('withdrawRenewalSent', () => store.withdrawRenewalSent(...call)),
    lease: (...call) => within('lease', () => store.lease(...call)),
    release: (...call) => within('release', () => store.release(...call)),
    revoke: (...call) => within('revoke', () => store.revoke(...call)),
    revokeGeneration: (...call) =>
      within('revokeGeneration', () => store.revokeGeneration(...call)),
    revokeAll: (...call) => within('revokeAll', () => store.revokeAll(...call)),
    endReason: (id) => within('endReason', () => store.endReason(id)),
    listByPrincipal: (...call) => within('listByPrincipal', () => store.listByPrincipal(...call)),
    list: (...call) => within('list', () => store.list(...call)),
    takeTurn: (...call) => within('takeTurn', () => store.takeTurn(...call)),
    claimOnce: (...call) => within('claimOnce', () => store.claimOnce(...call)),
    sweep: (limit) => within('sweep', () => store.sweep(limit)),
    revocations: () => store.revocations(),
    close: () => store.close(),
  };
}
