/**
 * The Redis session store as one process has it, for tests of what happens to it.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import {
  createStoredSession,
  UNAVAILABLE,
} from '@sallyport/testing/store-contracts/session-store-contract';
import { expect, onTestFinished } from 'vitest';
import type { LogFields } from '../../packages/server/src/log/log.ts';
import {
  openRedisSessionStore,
  type RedisSessionStoreOptions,
} from '../../packages/server/src/session/redis/redis-session-store.ts';
import type {
  RevocationReach,
  SessionOwner,
  SessionStore,
  StoredSession,
} from '../../packages/server/src/session/session-store.ts';
import { createSettings } from './redis-deployment.ts';

const HOST = '127.0.0.1';
/** Longest a call may take: three deadlines of a second, and what a busy machine adds. */
export const ANSWERED_MS = 6_000;
const RECOVERED_MS = 15_000;
/** Whose sessions {@link createSession} makes. */
export const OWNER: SessionOwner = { kind: 'principal', key: new Uint8Array(16).fill(1) };
/** What was given up on may be carried out all the same, so this one has no sessions. */
const WITHOUT_SESSIONS: SessionOwner = { kind: 'principal', key: new Uint8Array(16).fill(9) };
/** All sessions, and no sign-in under way. */
export const EVERY_ONE: RevocationReach = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: 0 };

/** A store in use, and what it logged. */
export interface Opened {
  readonly store: SessionStore;
  readonly log: readonly { readonly event: string; readonly fields: LogFields | undefined }[];
}

/** Opens the store on a port, as one process does. */
export async function open(
  port: number,
  options: Partial<RedisSessionStoreOptions> = {},
): Promise<Opened> {
  const log: { event: string; fields: LogFields | undefined }[] = [];
  const store = await openRedisSessionStore(
    createSettings(
      {
        topology: { mode: 'standalone', address: { host: HOST, port } },
        allowWithoutAppendOnlyFile: false,
        log: (_, event, fields) => log.push({ event, fields }),
        ...options,
      },
      Date.now,
    ),
  );
  onTestFinished(() => store.close());
  return { store, log };
}

/** A session of now. */
export function createSession(id: number): StoredSession {
  const now = Date.now();
  return createStoredSession(id, {
    lastUsedAt: now,
    absoluteEnd: now + 3_600_000,
    signInAt: now - 1_000,
  });
}

/** Asks until it is so. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + RECOVERED_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await pause(20);
  }
}

/** Whether the store answers, and with a session that stands. */
export async function knows(store: SessionStore, id: number): Promise<boolean> {
  try {
    return (await store.read(id)) !== undefined;
  } catch (error) {
    expect(error).toEqual(UNAVAILABLE);
    return false;
  }
}

/** Whether a call did not fail. */
export async function isDone(call: Promise<unknown>): Promise<boolean> {
  const [outcome] = await Promise.allSettled([call]);
  return outcome.status === 'fulfilled';
}

/** Ends a session once that can be done. */
export async function endAtLast(store: SessionStore, id: number): Promise<void> {
  await until('a session can be ended', () => isDone(store.revoke(id)));
}

/** Waits until what is remembered counts. */
export async function untilFresh(store: SessionStore): Promise<void> {
  await until('the log is read', () => !store.revocations().all);
}

/** Every call reports within its time that the store is unavailable. */
export async function expectUnavailable(store: SessionStore): Promise<void> {
  const begun = performance.now();
  const calls = [
    store.read(1),
    store.create(createSession(99), undefined),
    store.touch(1, Date.now() + 60_000),
    store.replace({ ...createSession(1), generation: 2 }),
    store.noteRenewalSent(1, 1, 'a', 60_000),
    store.lease(1, 'a', 1_000),
    store.release(1, 'a'),
    store.revoke(1),
    store.revokeGeneration(1, 1, 'renewal_refused'),
    store.revokeAll(WITHOUT_SESSIONS, EVERY_ONE, 'session_revoked'),
    store.endReason(1),
    store.listByPrincipal(OWNER.key, 10),
    store.list(undefined, 10),
    store.claimOnce(Buffer.from('x'), Date.now() + 1_000),
    store.sweep(10),
  ];
  for (const outcome of await Promise.allSettled(calls)) {
    expect(outcome).toMatchObject({ status: 'rejected' });
    if (outcome.status === 'rejected') expect(outcome.reason).toEqual(UNAVAILABLE);
  }
  expect(performance.now() - begun).toBeLessThan(ANSWERED_MS);
}
