/**
 * The Redis session store as the contract suites need it: with a clock of theirs. What one process
 * ended is known to the others before the suite asks, because the suite does not wait.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import {
  type StoreUnderTest,
  testSessionStore,
} from '@sallyport/testing/store-contracts/session-store-contract';
import { testSessionStoreRenewal } from '@sallyport/testing/store-contracts/session-store-renewal-contract';
import type { Clock } from '@sallyport/testing/time/clock';
import type { RedisSessionStoreOptions } from '../../packages/server/src/session/redis/redis-session-store.ts';
import { openRedisSessionStore } from '../../packages/server/src/session/redis/redis-session-store.ts';
import type {
  RevocationsSeen,
  SessionStore,
} from '../../packages/server/src/session/session-store.ts';
import { ageKeys } from './key-ages.ts';
import type { RedisServer } from './redis-server.ts';

/** What a deployment's stores are opened with, but for what the suites bring. */
export type DeploymentSettings = Pick<RedisSessionStoreOptions, 'topology'> &
  Partial<RedisSessionStoreOptions>;

/** A process learns within this time what another one ended; twice a usual answer on a busy machine. */
const SEEN_WITHIN_MS = 1_000;

const LOOK_MS = 5;
const PATIENCE_MS = 20_000;
let deployments = 0;

/** Settings that fit a server of a test. */
export function createSettings(
  settings: DeploymentSettings,
  now: () => number,
): RedisSessionStoreOptions {
  return {
    access: { username: '', password: () => '', tls: undefined, database: 0 },
    keyPrefix: 'sallyport',
    replicas: 0,
    commandTimeoutMs: 1_000,
    allowWithoutAppendOnlyFile: true,
    log: () => {},
    ...settings,
    now,
  };
}

/**
 * An empty deployment: key names of its own on a server that tests share.
 *
 * @param serverOf - Finds the server that holds the keys of a prefix.
 */
export function createDeployment(
  settings: DeploymentSettings,
  clock: Clock,
  serverOf: (key: string) => Promise<RedisServer> | RedisServer,
): StoreUnderTest {
  deployments += 1;
  const keyPrefix = `deployment-${process.pid}-${deployments}`;
  const options = createSettings({ ...settings, keyPrefix }, clock.now);
  const opened: Following[] = [];
  return {
    open() {
      const following = new Following(openRedisSessionStore(options));
      opened.push(following);
      return createStore(following, opened);
    },
    elapse: async (ms) => ageKeys(await serverOf(`{${keyPrefix}}:`), ms, `{${keyPrefix}}:*`),
  };
}

/** Registers both contract suites. @param serverOf - Finds the server that holds a key. */
export function testStore(
  name: string,
  settings: () => DeploymentSettings,
  serverOf: (key: string) => Promise<RedisServer> | RedisServer,
): void {
  const create = (clock: Clock) => createDeployment(settings(), clock, serverOf);
  testSessionStore(name, create, SEEN_WITHIN_MS);
  testSessionStoreRenewal(name, create, SEEN_WITHIN_MS);
}

/** One process's store, and the revocations it has seen that the suite has not asked for yet. */
class Following {
  readonly opening: Promise<SessionStore>;
  readonly #ready: Promise<void>;
  #sessions: number[] = [];
  #all = false;
  isClosed = false;

  constructor(opening: Promise<SessionStore>) {
    this.opening = opening;
    this.#ready = this.#begin();
  }

  /** Resolves once it reads the log; what it did not know before that is not news. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Waits until it has seen that the given ids ended, for as long as that may take. */
  async learn(ids: readonly number[]): Promise<void> {
    const store = await this.opening;
    // Looks are counted, not time: while the machine stands still, this process sees nothing either.
    for (let looks = 0; looks < SEEN_WITHIN_MS / LOOK_MS && !this.isClosed; looks += 1) {
      this.#note(store.revocations());
      if (ids.every((id) => this.#sessions.includes(id))) return;
      await pause(LOOK_MS);
    }
  }

  take(): RevocationsSeen {
    const seen = { sessions: this.#sessions, all: this.#all };
    this.#sessions = [];
    this.#all = false;
    return seen;
  }

  async #begin(): Promise<void> {
    const store = await this.opening;
    const end = performance.now() + PATIENCE_MS;
    while (!this.isClosed && store.revocations().all) {
      if (performance.now() > end) throw new Error('the log is not being read');
      await pause(LOOK_MS);
    }
  }

  #note({ sessions, all }: RevocationsSeen): void {
    this.#sessions.push(...sessions);
    this.#all ||= all;
  }
}

function createStore(following: Following, opened: readonly Following[]): SessionStore {
  async function use<T>(work: (store: SessionStore) => Promise<T>): Promise<T> {
    for (const each of opened) if (!each.isClosed) await each.ready;
    return work(await following.opening);
  }
  const waitUntilSeen = async (ids: readonly number[]): Promise<void> => {
    await Promise.all(opened.filter(({ isClosed }) => !isClosed).map((each) => each.learn(ids)));
  };
  return {
    async create(session, replaces) {
      const isCreated = await use((store) => store.create(session, replaces));
      const hasEnded = isCreated && (await use((store) => store.read(session.id))) === undefined;
      const ended = [
        ...(replaces === undefined ? [] : [replaces]),
        ...(hasEnded ? [session.id] : []),
      ];
      if (isCreated) await waitUntilSeen(ended);
      return isCreated;
    },
    read: (id) => use((store) => store.read(id)),
    readMetadata: (id) => use((store) => store.readMetadata(id)),
    touch: (id, lastUsedAt) => use((store) => store.touch(id, lastUsedAt)),
    replace: (session) => use((store) => store.replace(session)),
    noteRenewalSent: (...call) => use((store) => store.noteRenewalSent(...call)),
    withdrawRenewalSent: (...call) => use((store) => store.withdrawRenewalSent(...call)),
    lease: (id, holder, forMs) => use((store) => store.lease(id, holder, forMs)),
    release: (id, holder) => use((store) => store.release(id, holder)),
    async revoke(id, reason) {
      await use((store) => store.revoke(id, reason));
      await waitUntilSeen([id]);
    },
    async revokeGeneration(id, generation, reason) {
      const isEnded = await use((store) => store.revokeGeneration(id, generation, reason));
      await waitUntilSeen(isEnded ? [id] : []);
      return isEnded;
    },
    async revokeAll(owner, reach, reason) {
      const ended = await use((store) => store.revokeAll(owner, reach, reason));
      await waitUntilSeen(ended);
      return ended;
    },
    endReason: (id) => use((store) => store.endReason(id)),
    listByPrincipal: (key, limit) => use((store) => store.listByPrincipal(key, limit)),
    list: (cursor, limit) => use((store) => store.list(cursor, limit)),
    takeTurn: (...call) => use((store) => store.takeTurn(...call)),
    claimOnce: (key, expiresAt) => use((store) => store.claimOnce(key, expiresAt)),
    revocations: () => following.take(),
    sweep: (limit) => use((store) => store.sweep(limit)),
    close() {
      following.isClosed = true;
      void following.opening.then((store) => store.close());
    },
  };
}
