/**
 * Times the operations of a session store.
 *
 * @module
 */

import type { SessionStore } from '../../session/session-store.ts';
import { STORE_OPERATION_NAMES, type StoreOperation } from '../store-operations.ts';
import { CounterFamily, HistogramFamily, type Metric } from './metrics-family.ts';

/** From a local file in memory to a server in trouble. */
const UPPER_BOUNDS_SECONDS = [
  0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5,
];

/** The times, and who takes them. */
export interface StoreTimes {
  /** The same store, timed. What is synchronous is passed on as it is. */
  measure(store: SessionStore): SessionStore;
  read(): readonly Metric[];
}

/**
 * Creates the times, none so far.
 *
 * @param monotonicMs - Milliseconds from any start, never set back.
 */
export function createStoreTimes(monotonicMs: () => number): StoreTimes {
  const series = Object.values(STORE_OPERATION_NAMES).map((label) => [label] as const);
  const durations = new HistogramFamily({
    name: 'sallyport_store_operation_duration_seconds',
    help: 'Time of operations of the session store, also of those that failed.',
    labels: ['operation'],
    series,
    upperBounds: UPPER_BOUNDS_SECONDS,
  });
  const failures = new CounterFamily({
    name: 'sallyport_store_failures_total',
    help: 'Operations of the session store that failed.',
    labels: ['operation'],
    series,
  });

  return {
    measure(store) {
      const read = timer('read');
      const readMetadata = timer('readMetadata');
      const touch = timer('touch');
      const create = timer('create');
      const replace = timer('replace');
      const noteRenewalSent = timer('noteRenewalSent');
      const withdrawRenewalSent = timer('withdrawRenewalSent');
      const lease = timer('lease');
      const release = timer('release');
      const revoke = timer('revoke');
      const revokeGeneration = timer('revokeGeneration');
      const revokeAll = timer('revokeAll');
      const endReason = timer('endReason');
      const listByPrincipal = timer('listByPrincipal');
      const list = timer('list');
      const takeTurn = timer('takeTurn');
      const claimOnce = timer('claimOnce');
      const sweep = timer('sweep');
      return {
        create: (session, replaces) => create(() => store.create(session, replaces)),
        read: (id) => read(() => store.read(id)),
        readMetadata: (id) => readMetadata(() => store.readMetadata(id)),
        touch: (id, lastUsedAt) => touch(() => store.touch(id, lastUsedAt)),
        replace: (session) => replace(() => store.replace(session)),
        noteRenewalSent: (id, generation, holder, forMs) =>
          noteRenewalSent(() => store.noteRenewalSent(id, generation, holder, forMs)),
        withdrawRenewalSent: (id, generation, holder) =>
          withdrawRenewalSent(() => store.withdrawRenewalSent(id, generation, holder)),
        lease: (id, holder, forMs) => lease(() => store.lease(id, holder, forMs)),
        release: (id, holder) => release(() => store.release(id, holder)),
        revoke: (id, reason) => revoke(() => store.revoke(id, reason)),
        revokeGeneration: (id, generation, reason) =>
          revokeGeneration(() => store.revokeGeneration(id, generation, reason)),
        revokeAll: (owner, reach, reason) => revokeAll(() => store.revokeAll(owner, reach, reason)),
        endReason: (id) => endReason(() => store.endReason(id)),
        listByPrincipal: (key, limit) => listByPrincipal(() => store.listByPrincipal(key, limit)),
        list: (cursor, limit) => list(() => store.list(cursor, limit)),
        takeTurn: (key, holder, forMs) => takeTurn(() => store.takeTurn(key, holder, forMs)),
        claimOnce: (key, expiresAt) => claimOnce(() => store.claimOnce(key, expiresAt)),
        sweep: (limit) => sweep(() => store.sweep(limit)),
        revocations: () => store.revocations(),
        close: () => store.close(),
      };
    },
    read: () => [durations.read(), failures.read()],
  };

  /** Looks on: whoever asked gets the store's own promise, and waits for nothing of this. */
  function timer(operation: StoreOperation): <T>(work: () => Promise<T>) => Promise<T> {
    const label = STORE_OPERATION_NAMES[operation];
    const [duration, failure] = [durations.slot(label), failures.slot(label)];
    return (work) => {
      const startedAt = monotonicMs();
      const result = work();
      const note = () => durations.observe(duration, (monotonicMs() - startedAt) / 1_000);
      result.then(note, () => {
        note();
        failures.add(failure);
      });
      return result;
    };
  }
}
