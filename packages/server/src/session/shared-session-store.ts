/**
 * One open store for several users of it in one process, each of which hears of every ended session.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { RevocationsSeen, SessionStore } from './session-store.ts';

/** A store that outlives its users. */
export interface SharedSessionStore {
  /**
   * The store for one more user. Its `close` ends this use alone: after that it does not know what was ended.
   *
   * What was ended before is not reported to it: it remembers nothing yet.
   */
  open(): SessionStore;
  /** Closes the store itself. */
  close(): void;
}

interface User {
  sessions: number[];
  all: boolean;
}

/** For a user that does not ask for long. */
const KEPT_MAX = 10_000;
const NOTHING_ENDED: RevocationsSeen = { sessions: [], all: false };

/**
 * Shares a store. A store reports each ended session once: what one user takes is kept here for the
 * others until they ask.
 */
export function shareSessionStore(store: SessionStore): SharedSessionStore {
  const users = new Set<User>();

  return {
    open() {
      const user: User = { sessions: [], all: false };
      users.add(user);
      return {
        ...store,
        revocations() {
          // Nothing is reported to it any more, which does not mean that nothing ended.
          if (!users.has(user)) throw closed();
          const seen = store.revocations();
          if (seen.all || seen.sessions.length > 0) addToAll(seen);
          if (!user.all && user.sessions.length === 0) return NOTHING_ENDED;
          const ended = { sessions: user.sessions, all: user.all };
          user.sessions = [];
          user.all = false;
          return ended;
        },
        close() {
          users.delete(user);
        },
      };
    },
    close: () => store.close(),
  };

  function addToAll({ sessions, all }: RevocationsSeen): void {
    for (const user of users) {
      user.all ||= all;
      // A user that forgets everything needs no ids, however long it does not ask.
      user.sessions = user.all ? [] : [...user.sessions, ...sessions];
      if (user.sessions.length > KEPT_MAX) Object.assign(user, { sessions: [], all: true });
    }
  }
}

function closed(): SallyportError {
  return new SallyportError('SP_STORE_UNAVAILABLE', {
    component: 'store:shared',
    detail: 'this use of the store is closed',
    retryAfterSeconds: 1,
  });
}
