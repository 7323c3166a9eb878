/**
 * Names of the session store's operations, as metrics and traces tell them.
 *
 * @module
 */

import type { SessionStore } from '../session/session-store.ts';

/** What can be waited for; the rest of a store is synchronous and in memory. */
export type StoreOperation = Exclude<keyof SessionStore, 'revocations' | 'close'>;

/** Complete, or it does not compile: the label of the metrics, and the name within a span. */
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
