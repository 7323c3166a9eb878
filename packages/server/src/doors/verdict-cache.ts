/**
 * How long a proxy may keep an admission, for an installation that wants that (`doors.me.verdictCache`).
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import { VERDICT_KEY_HEADER } from '@sallyport/protocol';
import type { Admitted } from '../verdict/verdict.ts';

/**
 * For how many whole seconds nginx may keep an admission; 0: not at all.
 *
 * @param headers - Of the request that was admitted. Untrusted.
 */
export type VerdictCache = (verdict: Admitted, headers: IncomingHttpHeaders) => number;

const SECOND_MS = 1_000;

/**
 * Creates the rule by which admissions may be kept.
 *
 * Only that of a read by a session cookie, asked about under a key that is this cookie and with nothing
 * else to decide on: no bearer, no second cookie, no upgrade. A forged key affects only
 * the session whose cookie the client has. Never one that comes with a Set-Cookie, that is due for its
 * renewal, or that would not stand for the whole time.
 *
 * @param longestMs - How long an ended session may still be admitted. nginx counts whole seconds from the
 *   one it is in, so that n of them last for up to n + 1.
 *
 * @returns `undefined` when nothing may be kept at all.
 */
export function createVerdictCache(longestMs: number, now: () => number): VerdictCache | undefined {
  const seconds = Math.floor(longestMs / SECOND_MS) - 1;
  if (seconds < 1) return undefined;

  return ({ session, setCookie, renewal }, headers) => {
    const key = headers[VERDICT_KEY_HEADER];
    if (key === undefined || key !== headers.cookie || key.includes(';')) return 0;
    if (session === undefined || setCookie !== undefined || renewal !== undefined) return 0;
    if (!isPlainRead(headers)) return 0;
    const until = now() + longestMs;
    const { endsAt, absoluteEnd, confirmedUntil = absoluteEnd } = session;
    return until <= endsAt && until <= absoluteEnd && until <= confirmedUntil ? seconds : 0;
  };
}

/** Whether the cross-site rule has nothing to look at: it concerns writes and upgrades. */
function isPlainRead(headers: IncomingHttpHeaders): boolean {
  const method = headers['x-original-method'];
  return (
    (method === 'GET' || method === 'HEAD') &&
    headers.upgrade === undefined &&
    headers['sec-websocket-key'] === undefined
  );
}
