import type { IncomingHttpHeaders } from 'node:http';
import { ADA, ADA_SIGNS_IN } from '@sallyport/testing/server/people';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import { prepareIdentity } from '../verdict/identity.ts';
import type { Admitted, SessionView } from '../verdict/verdict.ts';
import { createVerdictCache } from './verdict-cache.ts';

const COOKIE = `core_session=AAAAAAAB.${'A'.repeat(43)}`;
const READ: IncomingHttpHeaders = {
  cookie: COOKIE,
  'x-sallyport-verdict-key': COOKIE,
  'x-original-method': 'GET',
};
const HOUR_MS = 3_600_000;
const SESSION: SessionView = {
  id: 1,
  generation: 1,
  createdAt: NOON,
  endsAt: NOON + HOUR_MS,
  absoluteEnd: NOON + HOUR_MS,
  confirmedUntil: NOON + HOUR_MS,
};

function admit(changes: Partial<Admitted> = {}): Admitted {
  const { principal, claims } = ADA_SIGNS_IN;
  const identity = prepareIdentity({ principal, user: ADA, claims }, []);
  if (identity === 'claims_overflow') throw new Error(identity);
  return {
    outcome: 'admitted',
    identity,
    session: SESSION,
    setCookie: undefined,
    renewal: undefined,
    ...changes,
  };
}

const keep = (longestMs: number, verdict = admit(), headers = READ) =>
  createVerdictCache(longestMs, () => NOON)?.(verdict, headers);

describe('for how many seconds nginx may keep an admission', () => {
  it.each([
    [2_000, 1],
    [2_999, 1],
    [3_000, 2],
    [5_000, 4],
  ])('%i ms: %i, because n of its seconds last for up to n + 1', (longestMs, seconds) => {
    expect(keep(longestMs)).toBe(seconds);
  });

  it.each([0, 999, 1_000, 1_999])('%i ms: nothing is kept at all', (longestMs) => {
    expect(createVerdictCache(longestMs, () => NOON)).toBeUndefined();
  });

  it('HEAD is a read as well', () => {
    expect(keep(5_000, admit(), { ...READ, 'x-original-method': 'HEAD' })).toBe(4);
  });

  it.each<[string, IncomingHttpHeaders]>([
    ['without a key', { cookie: COOKIE, 'x-original-method': 'GET' }],
    ['with neither key nor cookie', { 'x-original-method': 'GET' }],
    ['with the key of another cookie', { ...READ, cookie: `${COOKIE}x` }],
    ['with a cookie beside the key', { ...READ, cookie: `a=1; ${COOKIE}` }],
    [
      'with two cookies in the key',
      { ...READ, cookie: `${COOKIE}; a=1`, 'x-sallyport-verdict-key': `${COOKIE}; a=1` },
    ],
    ['by a key sent twice', { ...READ, 'x-sallyport-verdict-key': `${COOKIE}, ${COOKIE}` }],
    ['of a write', { ...READ, 'x-original-method': 'POST' }],
    ['of a method spelt otherwise', { ...READ, 'x-original-method': 'get' }],
    [
      'of a request whose method is not given',
      { cookie: COOKIE, 'x-sallyport-verdict-key': COOKIE },
    ],
    ['of an upgrade', { ...READ, upgrade: 'websocket' }],
    ['of a WebSocket', { ...READ, 'sec-websocket-key': 'AAAA' }],
  ])('not a verdict %s', (_, headers) => {
    expect(keep(5_000, admit(), headers)).toBe(0);
  });

  it.each<[string, Partial<Admitted>]>([
    ['on a bearer', { session: undefined }],
    ['with Set-Cookie', { setCookie: COOKIE }],
    ['due for its renewal', { renewal: 'due' }],
    ['on a session about to end', { session: { ...SESSION, endsAt: NOON + 4_999 } }],
    ['on one at the end of its life', { session: { ...SESSION, absoluteEnd: NOON + 4_999 } }],
    ['that the IdP has to confirm soon', { session: { ...SESSION, confirmedUntil: NOON + 4_999 } }],
  ])('not an admission %s', (_, changes) => {
    expect(keep(5_000, admit(changes))).toBe(0);
  });

  it('one that stands for just as long, and one that no IdP is asked about', () => {
    const { confirmedUntil: _, ...unasked } = SESSION;
    const end = NOON + 5_000;
    const brief = { ...SESSION, endsAt: end, absoluteEnd: end, confirmedUntil: end };
    for (const session of [brief, { ...unasked, endsAt: end }])
      expect(keep(5_000, admit({ session }))).toBe(4);
  });
});
