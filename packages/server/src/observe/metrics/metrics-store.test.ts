import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../session/session-store.ts';
import { createStoreTimes } from './metrics-store.ts';

const KEY = new Uint8Array([1]);
const STORED = {
  id: 7,
  generation: 1,
  metadata: KEY,
  tokens: KEY,
  lastUsedAt: 0,
  absoluteEnd: 1,
  idleTimeoutMs: 1,
  principalKey: KEY,
  sidKey: undefined,
  signInAt: 0,
  renewalSent: false,
};

/** Every operation once, each with arguments of its own. */
const CALLS: readonly [string, keyof SessionStore, readonly unknown[]][] = [
  ['create', 'create', [STORED, 3]],
  ['read', 'read', [7]],
  ['read_metadata', 'readMetadata', [8]],
  ['touch', 'touch', [7, 1]],
  ['replace', 'replace', [STORED]],
  ['note_renewal_sent', 'noteRenewalSent', [7, 1, 'holder', 20]],
  ['withdraw_renewal_sent', 'withdrawRenewalSent', [7, 1, 'holder']],
  ['lease', 'lease', [7, 'holder', 10]],
  ['release', 'release', [7, 'holder']],
  ['revoke', 'revoke', [7, 'signed_out']],
  ['revoke_generation', 'revokeGeneration', [7, 1, 'renewal_lost']],
  [
    'revoke_all',
    'revokeAll',
    [{ kind: 'sid', key: KEY }, { sessionsUpTo: 1, signInsUpTo: 2 }, 'session_revoked'],
  ],
  ['end_reason', 'endReason', [7]],
  ['list_by_principal', 'listByPrincipal', [KEY, 5]],
  ['list', 'list', ['cursor', 5]],
  ['take_turn', 'takeTurn', [KEY, 'holder', 10]],
  ['claim_once', 'claimOnce', [KEY, 9]],
  ['sweep', 'sweep', [32]],
];

/** A store that answers every call with itself, after a while by its own clock. */
function createStore(fails: boolean) {
  let nowMs = 0;
  const calls: unknown[][] = [];
  const answer =
    (operation: string) =>
    (...args: unknown[]) => {
      calls.push([operation, ...args]);
      nowMs += 2;
      return fails ? Promise.reject(new Error(operation)) : Promise.resolve(operation);
    };
  const store = Object.fromEntries(CALLS.map(([, name]) => [name, answer(name)]));
  const synchronous = { revocations: () => 'revocations', close: () => calls.push(['close']) };
  const times = createStoreTimes(() => nowMs);
  const measured = times.measure({ ...store, ...synchronous } as unknown as SessionStore);
  const call = (name: keyof SessionStore, args: readonly unknown[]) =>
    (measured[name] as (...all: readonly unknown[]) => Promise<unknown>)(...args);
  const sampleOf = (metric: string, operation: string) =>
    times
      .read()
      .flatMap(({ name, values }) =>
        values.map((sample) => ({ ...sample, name: sample.metricName ?? name })),
      )
      .find(({ name, labels }) => name === metric && labels['operation'] === operation)?.value;
  return { measured, calls, call, sampleOf };
}

const COUNT = 'sallyport_store_operation_duration_seconds_count';
const SUM = 'sallyport_store_operation_duration_seconds_sum';
const FAILURES = 'sallyport_store_failures_total';

describe('Operations of the session store', () => {
  it.each(CALLS)('%s is passed on as it is, and timed', async (operation, name, args) => {
    const { call, calls, sampleOf } = createStore(false);
    expect(await call(name, args)).toBe(name);
    expect(calls).toEqual([[name, ...args]]);
    expect([
      sampleOf(COUNT, operation),
      sampleOf(SUM, operation),
      sampleOf(FAILURES, operation),
    ]).toEqual([1, 0.002, 0]);
  });

  it.each(CALLS)('%s that fails is timed and counted, and fails', async (operation, name, args) => {
    const { call, sampleOf } = createStore(true);
    await expect(call(name, args)).rejects.toThrow(name);
    expect([sampleOf(COUNT, operation), sampleOf(FAILURES, operation)]).toEqual([1, 1]);
  });

  it('that are synchronous are passed on and not timed', () => {
    const { measured, calls, sampleOf } = createStore(false);
    expect(measured.revocations()).toBe('revocations');
    measured.close();
    expect(calls).toEqual([['close']]);
    for (const [operation] of CALLS) expect(sampleOf(COUNT, operation)).toBe(0);
  });
});
