/**
 * Made-up sessions, and a store of them that can fail.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Session } from '@sallyport/server';
import type { EndingPorts } from '../../../cli/src/sessions/end-sessions.ts';
import type { SessionRow } from '../../../cli/src/sessions/session-row.ts';

/** Noon of the day everything happens on. */
export const NOON: number = Date.parse('2026-11-21T12:00:00Z');
/** Where the people sign in. */
export const ISSUER = 'https://idp.example';

/** A session of Ada, as it is shown. */
export function createRow(changes: Partial<SessionRow> = {}): SessionRow {
  return {
    id: 'AAAAAAAB',
    session: 1,
    issuer: ISSUER,
    subject: 'ada-subject',
    email: 'ada@corp.example',
    name: 'Ada Lovelace',
    preferredUsername: 'ada',
    createdAt: NOON - 3 * 3_600_000,
    lastUsedAt: NOON - 5 * 60_000,
    endsAt: NOON + 11 * 3_600_000,
    absoluteEnd: NOON + 6 * 86_400_000,
    address: '192.0.2.15',
    browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    ...changes,
  };
}

/** A session as the server's package gives it; its claims hold what must not be shown. */
export function createSession(id: number, changes: Partial<Session> = {}): Session {
  return {
    id,
    generation: 1,
    principal: { issuer: ISSUER, subject: 'ada-subject', kind: 'user' },
    user: {
      subject: 'ada-subject',
      name: 'Ada Lovelace',
      preferredUsername: 'ada',
      givenName: 'Ada',
      familyName: 'Lovelace',
      email: 'ada@corp.example',
      picture: '',
      additionalClaims: { salary: 'canary-claim' },
    },
    claims: { groups: ['canary-claim'] },
    sid: 'canary-sid',
    signInAt: NOON - 3 * 3_600_000 - 20_000,
    createdAt: NOON - 3 * 3_600_000,
    absoluteEnd: NOON + 6 * 86_400_000,
    idleTimeoutMs: 43_200_000,
    lastUsedAt: NOON - 5 * 60_000,
    revalidateAt: undefined,
    confirmedUntil: undefined,
    validUntil: undefined,
    address: '192.0.2.15',
    browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    ...changes,
  };
}

/** What a store that is down says. */
export const DOWN: SallyportError = new SallyportError('SP_STORE_UNAVAILABLE', {
  component: 'store:test',
  detail: 'the store is down',
});

/** Sessions 1 to `count` of Ada behind the ports of ending; what was called is written down. */
export class SessionsInMemory {
  readonly calls: string[] = [];
  /** Ids whose revocation fails. */
  readonly failing: Set<number> = new Set();
  isDown = false;
  readonly standing: Map<number, Session>;
  /** Ids of sessions that no key opens. */
  sealed: number[] = [];
  readonly pageSize: number;

  constructor(count: number, pageSize = 3) {
    this.standing = new Map(
      Array.from({ length: count }, (_, index) => [index + 1, createSession(index + 1)] as const),
    );
    this.pageSize = pageSize;
  }

  readonly sessions: EndingPorts['sessions'] = {
    find: async (id) => this.#up().standing.get(id),
    list: async ({ subject }, limit) =>
      [...this.#up().standing.values()]
        .filter(({ principal }) => principal.subject === subject)
        .slice(0, limit)
        .toSorted((one, other) => other.lastUsedAt - one.lastUsedAt),
    endAll: async ({ subject }) => {
      this.#up().calls.push(`endAll ${subject}`);
      const ids = [...this.standing.values()]
        .filter(({ principal }) => principal.subject === subject)
        .map(({ id }) => id);
      if (ids.some((id) => this.failing.has(id))) throw DOWN;
      for (const id of ids) this.standing.delete(id);
      return ids;
    },
    page: async (cursor) => {
      const after = Number(cursor ?? 0);
      const rest = [...this.#up().standing.values()].filter(({ id }) => id > after);
      const sessions = rest.slice(0, this.pageSize);
      const next = rest.length > this.pageSize ? String(sessions.at(-1)?.id) : undefined;
      return { sessions, sealed: cursor === undefined ? this.sealed : [], next };
    },
  };

  readonly store: EndingPorts['store'] = {
    read: async (id) => {
      const session = this.#up().standing.get(id);
      if (session === undefined) return undefined;
      const { lastUsedAt, absoluteEnd, idleTimeoutMs, signInAt } = session;
      const nothing = new Uint8Array();
      return {
        ...{ id, generation: 1, metadata: nothing, tokens: nothing, principalKey: nothing },
        ...{
          lastUsedAt,
          absoluteEnd,
          idleTimeoutMs,
          signInAt,
          sidKey: undefined,
          renewalSent: false,
        },
      };
    },
    revoke: async (id, reason) => {
      this.#up().calls.push(`revoke ${id} ${reason}`);
      if (this.failing.has(id)) throw DOWN;
      this.standing.delete(id);
    },
    endReason: async (id) => (this.#up() && id === 99 ? 'signed_out' : undefined),
  };

  #up(): this {
    if (this.isDown) throw DOWN;
    return this;
  }
}
