/**
 * What a session remembers, and how that becomes the two sealed parts of a stored session.
 *
 * @module
 */

import { hash, timingSafeEqual } from 'node:crypto';
import type { JsonValue, Principal, UserRecord } from '@sallyport/protocol';
import type { IssuedTokens } from '../issuer/token-refresh.ts';
import type { KeyRing } from './key-ring.ts';
import { open, seal } from './seal.ts';
import type { SessionHandle } from './session-cookie.ts';
import type { SessionOwner, StoredMetadata, StoredSession } from './session-store.ts';

/** Everything about a session but its tokens. Times in epoch milliseconds. */
export interface Session {
  readonly id: number;
  readonly generation: number;
  readonly principal: Principal;
  readonly user: UserRecord;
  /** Claims the access rules look at, kept by allow-list. */
  readonly claims: Readonly<Record<string, JsonValue>>;
  /** The IdP's session id, when it gave one (OIDC Back-Channel Logout). */
  readonly sid: string | undefined;
  /** When its sign-in was started, which is a while before it was finished. */
  readonly signInAt: number;
  readonly createdAt: number;
  readonly absoluteEnd: number;
  readonly idleTimeoutMs: number;
  readonly lastUsedAt: number;
  /** When the IdP is asked again whether the session stands; `undefined` without a refresh token. */
  readonly revalidateAt: number | undefined;
  /**
   * Until when the IdP has confirmed it: beyond that it is admitted unasked only while it is in steady use.
   * `undefined` without a refresh token.
   */
  readonly confirmedUntil: number | undefined;
  /** Until when it counts although the IdP did not answer; `undefined` without a refresh token. */
  readonly validUntil: number | undefined;
  /** Where the sign-in came from; empty when unknown. */
  readonly address: string;
  readonly browser: string;
}

/** Version of both sealed parts; the version before is opened for one release, any other is refused. */
const RECORD_VERSION = 2;
/**
 * Has no `signInAt`, `confirmedUntil` and `validUntil`: the session is confirmed until it is due, and its first
 * renewal writes all three.
 */
const FIRST_VERSION = 1;

/** Seals a session for the store. */
export function toStoredSession(
  ring: KeyRing,
  session: Session,
  tokens: IssuedTokens,
  handle: SessionHandle,
): StoredSession {
  const { id, generation, lastUsedAt, idleTimeoutMs, ...kept } = session;
  const secretHash = hashSecret(handle.secret).toString('base64url');
  return {
    id,
    generation,
    metadata: seal(
      ring,
      metadataContext(id, generation),
      JSON.stringify({ v: RECORD_VERSION, secretHash, idleMs: idleTimeoutMs, ...kept }),
    ),
    tokens: seal(
      ring,
      tokensContext(id, generation, handle.secret),
      JSON.stringify({ v: RECORD_VERSION, ...tokens }),
    ),
    lastUsedAt,
    absoluteEnd: session.absoluteEnd,
    idleTimeoutMs,
    principalKey: ownerOfPrincipal(session.principal).key,
    sidKey:
      session.sid === undefined ? undefined : ownerOfSid(session.principal.issuer, session.sid).key,
    signInAt: session.signInAt,
    renewalSent: false,
  };
}

/** Finds a principal's sessions. */
export function ownerOfPrincipal({
  issuer,
  subject,
}: Pick<Principal, 'issuer' | 'subject'>): SessionOwner {
  return { kind: 'principal', key: hashKey('principal', issuer, subject) };
}

/** Finds the sessions that belong to one session at the IdP. */
export function ownerOfSid(issuer: string, sid: string): SessionOwner {
  return { kind: 'sid', key: hashKey('sid', issuer, sid) };
}

/**
 * Opens a stored session for the holder of a cookie.
 *
 * Does not look at the time: an ended session opens as well.
 *
 * @returns `undefined` alike for a wrong secret, an unknown key, a changed or moved record and an
 *   unknown version.
 */
export function openSession(
  ring: KeyRing,
  stored: StoredMetadata,
  handle: SessionHandle,
): Session | undefined {
  const opened = openMetadata(ring, stored);
  return opened !== undefined && timingSafeEqual(opened.secretHash, hashSecret(handle.secret))
    ? opened.session
    : undefined;
}

/**
 * Opens a stored session with the key ring alone: to list sessions, never to admit a request.
 *
 * @returns `undefined` as in {@link openSession}.
 */
export function openWithoutSecret(ring: KeyRing, stored: StoredMetadata): Session | undefined {
  return openMetadata(ring, stored)?.session;
}

function openMetadata(
  ring: KeyRing,
  stored: StoredMetadata,
): { readonly session: Session; readonly secretHash: Buffer } | undefined {
  const plain = open(ring, metadataContext(stored.id, stored.generation), stored.metadata);
  if (plain === undefined) return undefined;
  // Authenticated by the seal, so its shape is what this file wrote.
  const kept = JSON.parse(plain) as { v: number; secretHash: string; idleMs: number } & Omit<
    Session,
    'id' | 'generation' | 'lastUsedAt' | 'idleTimeoutMs'
  >;
  if (!isKnownVersion(kept.v)) return undefined;
  const isFirst = kept.v === FIRST_VERSION;
  return {
    // Member by member: copying the whole object costs more than opening the seal.
    session: {
      id: stored.id,
      generation: stored.generation,
      principal: kept.principal,
      user: kept.user,
      claims: kept.claims,
      sid: kept.sid,
      signInAt: isFirst ? kept.createdAt : kept.signInAt,
      createdAt: kept.createdAt,
      absoluteEnd: kept.absoluteEnd,
      idleTimeoutMs: kept.idleMs,
      lastUsedAt: stored.lastUsedAt,
      revalidateAt: kept.revalidateAt,
      confirmedUntil: kept.confirmedUntil ?? kept.revalidateAt,
      validUntil: isFirst ? kept.absoluteEnd : kept.validUntil,
      address: kept.address,
      browser: kept.browser,
    },
    secretHash: Buffer.from(kept.secretHash, 'base64url'),
  };
}

/** Opens the tokens of a session; `undefined` as in {@link openSession}. */
export function openTokens(
  ring: KeyRing,
  stored: StoredSession,
  handle: SessionHandle,
): IssuedTokens | undefined {
  const plain = open(
    ring,
    tokensContext(stored.id, stored.generation, handle.secret),
    stored.tokens,
  );
  if (plain === undefined) return undefined;
  const { v, idToken, accessToken, refreshToken } = JSON.parse(plain) as {
    v: number;
  } & IssuedTokens;
  return isKnownVersion(v) ? { idToken, accessToken, refreshToken } : undefined;
}

/** Epoch milliseconds at which a session ends if it is not used again. */
export function sessionEnd({
  lastUsedAt,
  idleTimeoutMs,
  absoluteEnd,
}: Pick<Session, 'lastUsedAt' | 'idleTimeoutMs' | 'absoluteEnd'>): number {
  return Math.min(lastUsedAt + idleTimeoutMs, absoluteEnd);
}

function isKnownVersion(version: number): boolean {
  return version === RECORD_VERSION || version === FIRST_VERSION;
}

function metadataContext(id: number, generation: number) {
  return { purpose: 'session-metadata', binding: `${id}/${generation}` } as const;
}

function tokensContext(id: number, generation: number, secret: Buffer) {
  return { purpose: 'session-tokens', binding: `${id}/${generation}`, secret } as const;
}

function hashSecret(secret: Buffer): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** JSON keeps the parts apart: no two pairs of strings give the same text. */
function hashKey(...parts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(parts), 'buffer').subarray(0, 16);
}
