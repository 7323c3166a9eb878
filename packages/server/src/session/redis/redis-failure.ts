/**
 * Messages of the Redis store when it cannot answer: fixed sentences, never a server's or a password's own
 * words.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';

const COMPONENT = 'store:redis';

/** Refusals of a server that stand for more than this one command, by the word its reply has. */
const DETAIL_BY_WORD: ReadonlyMap<string, string> = new Map([
  ['READONLY', 'the server is a replica now'],
  ['UNBLOCKED', 'the server is a replica now'],
  ['MOVED', 'the keys are on another server of the cluster'],
  ['ASK', 'the keys are being moved to another server of the cluster'],
  ['TRYAGAIN', 'the keys are being moved to another server of the cluster'],
  ['CROSSSLOT', 'the keys are being moved to another server of the cluster'],
  ['CLUSTERDOWN', 'the cluster is down'],
  ['MASTERDOWN', 'the server has lost its master'],
  ['LOADING', 'the server is loading its data'],
  ['BUSY', 'the server is busy with a script'],
  ['OOM', 'the server is full (maxmemory)'],
  ['MISCONF', 'the server cannot write to its disk'],
  ['NOREPLICAS', 'the server has too few replicas'],
  ['WRONGPASS', 'the server refuses the user name or password'],
  ['NOAUTH', 'the server asks for a password'],
  ['NOPERM', 'the user of the server may not do this; see docs/redis.md for the rule it needs'],
  ['SALLYPORT', 'a record was written by another release'],
]);
/** After these the server is another one, or not the one to ask: look again which one is. */
const CHANGED_SERVER: ReadonlySet<string> = new Set([
  'READONLY',
  'UNBLOCKED',
  'MOVED',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'LOADING',
  'NOAUTH',
]);
/** Older servers put a script's refusal behind words of their own, so it is looked for anywhere. */
const WORD = new RegExp(`(?:^|[ -])(${[...DETAIL_BY_WORD.keys()].join('|')})(?: |$)`);

/** How a server's refusal begins, unlike an error of the system or the library. */
const REPLY = /^[A-Z]+ /;

/** The store cannot be used at present. */
export function storeUnavailable(detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_STORE_UNAVAILABLE', {
    component: COMPONENT,
    detail,
    retryAfterSeconds: 1,
    cause,
  });
}

/** The server is set up so that sessions or their end could be lost; it is not used. */
export function storeUnsuitable(detail: string): SallyportError {
  return new SallyportError('SP_STORE_UNSUITABLE', { component: COMPONENT, detail });
}

/** A server's refusal, or a broken connection, in our words. */
export function toStoreFailure(error: unknown): SallyportError {
  if (error instanceof SallyportError) return error;
  const detail = DETAIL_BY_WORD.get(findWord(error) ?? '');
  if (detail !== undefined) return storeUnavailable(detail);
  // A reply may quote what was sent, so it is not passed on.
  if (error instanceof Error && REPLY.test(error.message))
    return storeUnavailable('the server refused a command');
  return storeUnavailable('the server cannot be reached', error);
}

/** Whether the connection that gave this refusal leads to the wrong server. */
export function isFromChangedServer(error: unknown): boolean {
  return CHANGED_SERVER.has(findWord(error) ?? '');
}

/** Whether the server does not know a script by its digest. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

function findWord(error: unknown): string | undefined {
  return error instanceof Error ? WORD.exec(error.message)?.[1] : undefined;
}
