/**
 * The wrapper around a session store, for metrics and traces.
 *
 * @module
 */

import type { SessionStore } from '../session/session-store.ts';

/** Operations that return a promise; the rest of a store is synchronous and in memory. */
export type StoreOperation = Exclude<keyof SessionStore, 'revocations' | 'close'>;

/** Names of the operations in metrics and spans. Complete, or it does not compile. */
export const STORE_OPERATION_NAMES: Readonly<Record<StoreOperation, string>> = {
  create: 'create',
  read: 'read',
  readMetadata: 'read_metadata',
  touch: 'touch',
  replace: 'replace',
  noteRenewalSent: 'note_renewal_sent',
  withdrawRenewalSent: 'withdraw_renewal_sent',
  lease: 'lease',
  release: 'release',
  revoke: 'revoke',
  revokeGeneration: 'revoke_generation',
  revokeAll: 'revoke_all',
  endReason: 'end_reason',
  listByPrincipal: 'list_by_principal',
  list: 'list',
  takeTurn: 'take_turn',
  claimOnce: 'claim_once',
  sweep: 'sweep',
};

/** Runs one operation of a store and returns its promise. It MUST call `run` exactly once. */
export type StoreCall = <T>(run: () => Promise<T>) => Promise<T>;

/**
 * Wraps every asynchronous operation of a store; `revocations` and `close` pass untouched, because requests call them in memory.
 *
 * @param wrap - Called once for each operation, with its name in metrics and spans. Ids and keys of sessions are not passed.
 */
export function observeStore(
  store: SessionStore,
  wrap: (operationName: string) => StoreCall,
): SessionStore {
  const observed = <Arguments extends readonly unknown[], T>(
    operation: StoreOperation,
    run: (...call: Arguments) => Promise<T>,
  ) => {
    const around = wrap(STORE_OPERATION_NAMES[operation]);
    return (...call: Arguments) => around(() => run(...call));
  };
  return {
    create: observed('create', (...call) => store.create(...call)),
    read: observed('read', (...call) => store.read(...call)),
    readMetadata: observed('readMetadata', (...call) => store.readMetadata(...call)),
    touch: observed('touch', (...call) => store.touch(...call)),
    replace: observed('replace', (...call) => store.replace(...call)),
    noteRenewalSent: observed('noteRenewalSent', (...call) => store.noteRenewalSent(...call)),
    withdrawRenewalSent: observed('withdrawRenewalSent', (...call) =>
      store.withdrawRenewalSent(...call),
    ),
    lease: observed('lease', (...call) => store.lease(...call)),
    release: observed('release', (...call) => store.release(...call)),
    revoke: observed('revoke', (...call) => store.revoke(...call)),
    revokeGeneration: observed('revokeGeneration', (...call) => store.revokeGeneration(...call)),
    revokeAll: observed('revokeAll', (...call) => store.revokeAll(...call)),
    endReason: observed('endReason', (...call) => store.endReason(...call)),
    listByPrincipal: observed('listByPrincipal', (...call) => store.listByPrincipal(...call)),
    list: observed('list', (...call) => store.list(...call)),
    takeTurn: observed('takeTurn', (...call) => store.takeTurn(...call)),
    claimOnce: observed('claimOnce', (...call) => store.claimOnce(...call)),
    sweep: observed('sweep', (...call) => store.sweep(...call)),
    revocations: () => store.revocations(),
    close: () => store.close(),
  };
}
