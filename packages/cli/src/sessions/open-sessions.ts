/**
 * The sessions of a deployment, opened with its own configuration beside its running servers.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import type { Config } from '@sallyport/config';
import { SallyportError } from '@sallyport/protocol';
import {
  createKeyRingFile,
  KeyRing,
  PrincipalSessions,
  type SessionStore,
  unusableKeyRing,
} from '@sallyport/server';
import { localStorePath, openSessionStore } from '../admin/open-session-store.ts';
import type { Ports } from '../process/ports.ts';

/** Store and key ring in use. */
export interface OpenedSessions {
  readonly sessions: PrincipalSessions;
  readonly store: SessionStore;
  close(): void;
}

/** A part of all sessions, when all are read. */
export const PAGE_SIZE = 500;

/**
 * Opens store and key ring, and nothing else: no listener, no identity provider. Makes neither: a file
 * made here would belong to the user of this command, and the server could not open it.
 *
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` or `SP_STORE_UNAVAILABLE` when one is missing or
 *   cannot be read.
 */
export async function openSessions(
  config: Config,
  ports: Pick<Ports, 'now' | 'log'>,
): Promise<OpenedSessions> {
  const ring = openRing(config.session.keyRingFile, ports.now);
  const path = localStorePath(config);
  if (config.session.store === 'local' && !existsSync(path))
    throw new SallyportError('SP_STORE_UNAVAILABLE', {
      component: 'store:local',
      detail: `there is no session store ${path}; there was no sign-in yet, or the server has another state directory`,
    });
  const store = await openSessionStore(config, ports);
  return {
    sessions: new PrincipalSessions({ store, ring, now: ports.now }),
    store,
    close: () => store.close(),
  };
}

/**
 * Makes sure that the ring is this store's: where sessions stand, it opens one of them.
 *
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when sessions stand and it opens none.
 */
export async function assertRingOpens(
  sessions: Pick<PrincipalSessions, 'page'>,
  keyRingFile: string,
): Promise<void> {
  let cursor: string | undefined;
  let sealed = 0;
  do {
    const page = await sessions.page(cursor, PAGE_SIZE);
    if (page.sessions.length > 0) return;
    sealed += page.sealed.length;
    cursor = page.next;
  } while (cursor !== undefined);
  if (sealed > 0) throw otherRing(keyRingFile, sealed);
}

/** The ring opens none of the sessions that stand. */
export function otherRing(keyRingFile: string, sealed: number): SallyportError {
  return new SallyportError('SP_KEY_RING_UNUSABLE', {
    component: 'key-ring',
    detail: `${keyRingFile} opens none of the ${sealed} sessions in the store; is it the key ring that the server uses?`,
  });
}

function openRing(file: string, now: () => number): KeyRing {
  if (!existsSync(file))
    throw new SallyportError('SP_KEY_RING_UNUSABLE', {
      component: 'key-ring',
      detail: `there is no key ring ${file}; there was no sign-in yet, or the server uses another one`,
    });
  let problem: unknown;
  const ring = new KeyRing(createKeyRingFile(file, now), {
    now,
    onChange: () => {},
    onProblem: (cause) => {
      problem = cause;
    },
  });
  ring.poll();
  if (problem !== undefined) throw unusableKeyRing(file, problem);
  return ring;
}
