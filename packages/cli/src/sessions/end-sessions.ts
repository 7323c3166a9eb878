/**
 * Ends sessions for an operator. Each is reported as ended once that is durable; for each other one there is a
 * reason.
 *
 * @module
 */

import {
  type EndReason,
  type PrincipalSessions,
  type SessionStore,
  sessionEnd,
} from '@sallyport/server';
import { PAGE_SIZE } from './open-sessions.ts';
import { type SessionRow, toSessionRow } from './session-row.ts';

/** A session that was ended; without a row when its record could not be read, or was not looked at. */
export interface EndedSession {
  readonly id: number;
  readonly row: SessionRow | undefined;
}

/** What became of the sessions that were to be ended. */
export interface EndReport {
  readonly ended: readonly EndedSession[];
  /** Were over before. */
  readonly over: readonly { readonly id: number; readonly reason: EndReason | 'expired' }[];
  /** There is no such session, and none is remembered. */
  readonly unknown: readonly number[];
  /** It is not known whether these ended. */
  readonly unclear: readonly number[];
  /** Ids that were not touched. */
  readonly untouched: readonly number[];
  /** Why there are unclear or untouched ones; `undefined` when all went through. */
  readonly failure: unknown;
}

/** The report of an ending that did not begin. */
export const NOTHING_ENDED: EndReport = {
  ended: [],
  over: [],
  unknown: [],
  unclear: [],
  untouched: [],
  failure: undefined,
};

/** What ending needs. */
export interface EndingPorts {
  readonly sessions: Pick<PrincipalSessions, 'find' | 'list' | 'endAll' | 'page'>;
  readonly store: Pick<SessionStore, 'read' | 'revoke' | 'endReason'>;
  readonly now: () => number;
  /** Called for each session as soon as its end is durable. */
  readonly onEnded: (ended: EndedSession) => void;
  readonly signal: AbortSignal;
}

/** Revocations that wait for the disk or for replicas together. */
const AT_ONCE = 32;
/** So many sessions of one principal are described; all are ended. */
const DESCRIBED_MAX = 1_000;

/** Ends sessions by their ids, one after the other; stops at the first failure. */
export async function endByIds(
  { sessions, store, now, onEnded, signal }: EndingPorts,
  ids: readonly number[],
): Promise<EndReport> {
  const ended: EndedSession[] = [];
  const over: { id: number; reason: EndReason | 'expired' }[] = [];
  const unknown: number[] = [];
  for (const [index, id] of ids.entries()) {
    const rest = ids.slice(index + 1);
    const report = { ended, over, unknown };
    let session: Awaited<ReturnType<PrincipalSessions['find']>>;
    try {
      signal.throwIfAborted();
      session = await sessions.find(id);
      if (session === undefined) {
        const stored = await store.read(id);
        const reason =
          stored === undefined
            ? await store.endReason(id)
            : now() < sessionEnd(stored)
              ? undefined
              : 'expired';
        if (reason !== undefined) over.push({ id, reason });
        else if (stored === undefined) unknown.push(id);
        if (reason !== undefined || stored === undefined) continue;
      }
    } catch (failure) {
      return { ...report, unclear: [], untouched: [id, ...rest], failure };
    }
    try {
      await store.revoke(id, 'session_revoked');
    } catch (failure) {
      return { ...report, unclear: [id], untouched: rest, failure };
    }
    const one = { id, row: session === undefined ? undefined : toSessionRow(session) };
    ended.push(one);
    onEnded(one);
  }
  return { ...NOTHING_ENDED, ended, over, unknown };
}

/** Ends every session of a principal, and those it is signing in to at this moment. */
export async function endOfPrincipal(
  { sessions, onEnded, signal }: EndingPorts,
  principal: { readonly issuer: string; readonly subject: string },
): Promise<EndReport> {
  let rows: readonly SessionRow[];
  try {
    signal.throwIfAborted();
    rows = (await sessions.list(principal, DESCRIBED_MAX)).map(toSessionRow);
  } catch (failure) {
    return { ...NOTHING_ENDED, failure };
  }
  try {
    const ids = await sessions.endAll(principal);
    const ended = ids.map((id) => ({ id, row: rows.find(({ session }) => session === id) }));
    for (const one of ended) onEnded(one);
    return { ...NOTHING_ENDED, ended };
  } catch (failure) {
    return { ...NOTHING_ENDED, unclear: rows.map(({ session }) => session), failure };
  }
}

/**
 * Ends all sessions that exist when they are read; stops at the first failure. A sign-in that
 * is finished later begins a session that stands.
 */
export async function endAllSessions({
  sessions,
  store,
  onEnded,
  signal,
}: EndingPorts): Promise<EndReport> {
  const ended = new Map<number, EndedSession>();
  const report = (unclear: readonly number[], failure: unknown): EndReport => ({
    ...NOTHING_ENDED,
    ended: [...ended.values()],
    unclear,
    failure,
  });
  let cursor: string | undefined;
  do {
    let targets: EndedSession[];
    try {
      signal.throwIfAborted();
      const page = await sessions.page(cursor, PAGE_SIZE);
      cursor = page.next;
      targets = [
        ...page.sessions.map((session) => ({ id: session.id, row: toSessionRow(session) })),
        ...page.sealed.map((id) => ({ id, row: undefined })),
      ].filter(({ id }) => !ended.has(id));
    } catch (failure) {
      return report([], failure);
    }
    for (let start = 0; start < targets.length; start += AT_ONCE) {
      if (signal.aborted) return report([], signal.reason);
      const some = targets.slice(start, start + AT_ONCE);
      const results = await Promise.allSettled(
        some.map(({ id }) => store.revoke(id, 'session_revoked')),
      );
      const unclear: number[] = [];
      let failure: unknown;
      for (const [index, one] of some.entries()) {
        const result = results[index];
        if (result?.status === 'fulfilled') {
          ended.set(one.id, one);
          onEnded(one);
        } else {
          unclear.push(one.id);
          failure ??= result?.reason;
        }
      }
      if (unclear.length > 0) return report(unclear, failure);
    }
  } while (cursor !== undefined);
  return report([], undefined);
}
