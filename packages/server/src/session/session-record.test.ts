import { createHash } from 'node:crypto';
import { ADA_SIGNS_IN, LIFETIMES, TOKENS } from '@sallyport/testing/server/people';
import { createRingKey, openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import type { KeyRing } from './key-ring.ts';
import { seal } from './seal.ts';
import { createSessionHandle, type SessionHandle } from './session-cookie.ts';
import {
  openSession,
  openTokens,
  openWithoutSecret,
  type Session,
  sessionEnd,
  toStoredSession,
} from './session-record.ts';

const HANDLE: SessionHandle = { id: 7, secret: Buffer.alloc(32, 1) };
/** What a record of version 1 held. */
const FIRST = {
  principal: ADA_SIGNS_IN.principal,
  user: ADA_SIGNS_IN.user,
  claims: ADA_SIGNS_IN.claims,
  sid: 'sid-1',
  createdAt: NOON,
  absoluteEnd: NOON + LIFETIMES.absoluteMs,
  idleTimeoutMs: LIFETIMES.idleTimeoutMs,
  revalidateAt: NOON + 480_000,
  address: '192.0.2.1',
  browser: 'Example/1.0',
};
const SESSION: Session = {
  ...FIRST,
  id: 7,
  generation: 3,
  lastUsedAt: NOON + 5,
  confirmedUntil: NOON + 600_000,
  validUntil: NOON + 900_000,
  signInAt: NOON - 30_000,
};

function setup() {
  const { ring } = openRing(new RingInMemory(), new Clock());
  return { ring, stored: toStoredSession(ring, SESSION, TOKENS, HANDLE) };
}

/** Both parts as some release wrote them: `idleMs` is the member's name in each. */
function sealByHand(
  ring: KeyRing,
  v: number,
  { idleTimeoutMs: idleMs, ...kept }: Partial<Session>,
  tokens = TOKENS,
) {
  const secretHash = createHash('sha256').update(HANDLE.secret).digest('base64url');
  return {
    metadata: seal(
      ring,
      { purpose: 'session-metadata', binding: '7/3' },
      JSON.stringify({ v, secretHash, idleMs, ...kept }),
    ),
    tokens: seal(
      ring,
      { purpose: 'session-tokens', binding: '7/3', secret: HANDLE.secret },
      JSON.stringify({ v, ...tokens }),
    ),
  };
}

describe('a stored session', () => {
  it('opens for the holder of its cookie as the session and the tokens it was made from', () => {
    const { ring, stored } = setup();
    expect(openSession(ring, stored, HANDLE)).toEqual(SESSION);
    expect(openTokens(ring, stored, HANDLE)).toEqual(TOKENS);
  });

  it('keeps what is absent absent', () => {
    const { ring } = setup();
    const session: Session = {
      ...SESSION,
      sid: undefined,
      revalidateAt: undefined,
      confirmedUntil: undefined,
      validUntil: undefined,
    };
    const stored = toStoredSession(ring, session, { ...TOKENS, refreshToken: undefined }, HANDLE);
    expect(stored.sidKey).toBeUndefined();
    expect(openSession(ring, stored, HANDLE)).toEqual(session);
    expect(openTokens(ring, stored, HANDLE)).toEqual({ ...TOKENS, refreshToken: undefined });
  });

  it('opens neither for another secret', () => {
    const { ring, stored } = setup();
    const other = { id: 7, secret: Buffer.alloc(32, 2) };
    expect(openSession(ring, stored, other)).toBeUndefined();
    expect(openTokens(ring, stored, other)).toBeUndefined();
  });

  it.each([
    ['id', { id: 8 }],
    ['generation', { generation: 4 }],
  ])('opens neither when moved to another %s', (_, moved) => {
    const { ring, stored } = setup();
    expect(openSession(ring, { ...stored, ...moved }, HANDLE)).toBeUndefined();
    expect(openTokens(ring, { ...stored, ...moved }, HANDLE)).toBeUndefined();
  });

  it('opens neither with its two parts exchanged or taken from another session', () => {
    const { ring, stored } = setup();
    const exchanged = { ...stored, metadata: stored.tokens, tokens: stored.metadata };
    expect(openSession(ring, exchanged, HANDLE)).toBeUndefined();
    expect(openTokens(ring, exchanged, HANDLE)).toBeUndefined();
    const handle = createSessionHandle();
    const other = toStoredSession(ring, { ...SESSION, id: handle.id }, TOKENS, handle);
    expect(openSession(ring, { ...stored, metadata: other.metadata }, HANDLE)).toBeUndefined();
    expect(openTokens(ring, { ...stored, tokens: other.tokens }, HANDLE)).toBeUndefined();
  });

  it('does not open the tokens with store and key ring without the cookie', () => {
    const { ring, stored } = setup();
    expect(openTokens(ring, stored, { id: 7, secret: Buffer.alloc(0) })).toBeUndefined();
    expect(Buffer.from(stored.tokens).includes('token-of-ada')).toBe(false);
  });

  it('takes its idle time and its end from the sealed part, not from the columns beside it', () => {
    const { ring, stored } = setup();
    const edited = { ...stored, absoluteEnd: NOON + 1e12, idleTimeoutMs: 1e12 };
    expect(openSession(ring, edited, HANDLE)).toMatchObject({
      absoluteEnd: SESSION.absoluteEnd,
      idleTimeoutMs: SESSION.idleTimeoutMs,
    });
  });

  it.each([
    [2, true],
    [1, true],
    [3, false],
    [0, false],
  ])('of version %d opens: %s', (v, isOpened) => {
    const { ring, stored } = setup();
    const { metadata, tokens } = sealByHand(ring, v, SESSION);
    expect(openSession(ring, { ...stored, metadata }, HANDLE) !== undefined).toBe(isOpened);
    expect(openWithoutSecret(ring, { ...stored, metadata }) !== undefined).toBe(isOpened);
    expect(openTokens(ring, { ...stored, tokens }, HANDLE) !== undefined).toBe(isOpened);
  });

  it.each([
    ['with', NOON + 480_000, TOKENS],
    ['without', undefined, { ...TOKENS, refreshToken: undefined }],
  ])(
    'of version 1, %s a refresh token, opens as one whose sign-in started when it was created, and that counts unasked to its absolute end',
    (_, revalidateAt, tokens) => {
      const { ring, stored } = setup();
      const first = { ...FIRST, revalidateAt };
      const sealed = { ...stored, ...sealByHand(ring, 1, first, tokens) };
      const session = {
        ...first,
        ...{ id: 7, generation: 3, lastUsedAt: NOON + 5 },
        signInAt: FIRST.createdAt,
        confirmedUntil: revalidateAt,
        validUntil: FIRST.absoluteEnd,
      };
      expect(openSession(ring, sealed, HANDLE)).toEqual(session);
      expect(openWithoutSecret(ring, sealed)).toEqual(session);
      expect(openTokens(ring, sealed, HANDLE)).toEqual(tokens);
      expect(openSession(ring, sealed, { id: 7, secret: Buffer.alloc(32, 2) })).toBeUndefined();
    },
  );

  it('of version 2 takes its times as they were sealed', () => {
    const { ring, stored } = setup();
    expect(openSession(ring, stored, HANDLE)).toMatchObject({
      signInAt: SESSION.signInAt,
      confirmedUntil: SESSION.confirmedUntil,
      validUntil: SESSION.validUntil,
    });
    expect(stored).toMatchObject({ signInAt: SESSION.signInAt, renewalSent: false });
  });

  it('opens for an operator without the secret, its tokens do not', () => {
    const { ring, stored } = setup();
    expect(openWithoutSecret(ring, stored)).toEqual(SESSION);
    const { ring: other } = openRing(new RingInMemory([createRingKey('b')]), new Clock());
    expect(openWithoutSecret(other, stored)).toBeUndefined();
    expect(openWithoutSecret(ring, { ...stored, generation: 4 })).toBeUndefined();
  });

  it('does not open once its key has left the ring', () => {
    const { stored } = setup();
    const { ring } = openRing(new RingInMemory([createRingKey('b')]), new Clock());
    expect(openSession(ring, stored, HANDLE)).toBeUndefined();
    expect(openTokens(ring, stored, HANDLE)).toBeUndefined();
  });
});

function keysOf(issuer: string, subject: string, sid: string | undefined) {
  const { ring } = setup();
  const principal = { issuer, subject, kind: 'user' } as const;
  const { principalKey, sidKey } = toStoredSession(
    ring,
    { ...SESSION, principal, sid },
    TOKENS,
    HANDLE,
  );
  return [principalKey, sidKey].map((key) =>
    key === undefined ? '' : Buffer.from(key).toString('hex'),
  );
}

describe('what the store searches by', () => {
  it('is the same for the same person, whatever the session', () => {
    expect(keysOf('https://idp.example', 'ada', 'one')[0]).toBe(
      keysOf('https://idp.example', 'ada', 'two')[0],
    );
  });

  it('distinguishes issuers, also where issuer and subject join to the same text', () => {
    const keys = [
      keysOf('https://idp.example', 'ada', 's'),
      keysOf('https://other.example', 'ada', 's'),
      keysOf('https://idp.example/', 'ada', 's'),
      keysOf('https://idp.example/a', 'da', 's'),
      keysOf('https://idp.example","', 'ada', 's'),
    ].flat();
    expect(new Set(keys).size).toBe(10);
  });

  it('distinguishes a subject from a session id of the same text', () => {
    const [principalKey, sidKey] = keysOf('https://idp.example', 'same', 'same');
    expect(principalKey).not.toBe(sidKey);
  });
});

describe('sessionEnd', () => {
  it('is the idle time after the last use, and never later than the absolute end', () => {
    expect(sessionEnd({ lastUsedAt: 100, idleTimeoutMs: 50, absoluteEnd: 1_000 })).toBe(150);
    expect(sessionEnd({ lastUsedAt: 100, idleTimeoutMs: 950, absoluteEnd: 1_000 })).toBe(1_000);
    expect(sessionEnd({ lastUsedAt: 2_000, idleTimeoutMs: 50, absoluteEnd: 1_000 })).toBe(1_000);
  });
});
