/**
 * Many sessions at once, sealed as a sign-in seals them and written as the stores write them.
 *
 * Imports the packages' sources: see `from-source.ts`.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { KeyRing } from '../../packages/server/src/session/key-ring.ts';
import { createKeyRingFile } from '../../packages/server/src/session/key-ring-file.ts';
import { openStoreFile } from '../../packages/server/src/session/local/local-store-file.ts';
import {
  prepareStatements,
  toColumns,
} from '../../packages/server/src/session/local/local-store-statements.ts';
import { openRedisSessionStore } from '../../packages/server/src/session/redis/redis-session-store.ts';
import {
  createSessionHandle,
  formatSessionHandle,
} from '../../packages/server/src/session/session-cookie.ts';
import { toStoredSession } from '../../packages/server/src/session/session-record.ts';
import type { StoredSession } from '../../packages/server/src/session/session-store.ts';

/** Which sessions, and where. */
export interface Seed {
  readonly issuer: string;
  /** Sessions, each of a person of its own. */
  readonly count: number;
  /** Holds the key ring, and the store where it is not Redis. */
  readonly stateDirectory: string;
  readonly redisPort: number | undefined;
}

/** Written in one transaction, or under way at a time: one by one would take minutes. */
const AT_ONCE = 500;
const HOUR_MS = 3_600_000;
/** As long as tokens of real identity providers are. */
const ID_TOKEN_BYTES = 700;
const ACCESS_TOKEN_BYTES = 600;

/**
 * Writes them, before the server starts.
 *
 * They count as used for the next hour, so that no use of them is noted while they are measured, and have
 * no refresh token: none is renewed.
 *
 * @returns Their cookie values.
 */
export async function seedSessions(seed: Seed): Promise<readonly string[]> {
  const ring = new KeyRing(
    createKeyRingFile(join(seed.stateDirectory, 'key-ring.json'), Date.now),
    {
      now: Date.now,
      onChange: () => {},
      onProblem: (cause) => {
        throw cause;
      },
    },
  );
  const cookies: string[] = [];
  const writer = await openWriter(seed);
  for (let first = 0; first < seed.count; first += AT_ONCE) {
    const part: StoredSession[] = [];
    for (let n = first; n < Math.min(first + AT_ONCE, seed.count); n += 1) {
      const { stored, cookie } = createSession(ring, seed.issuer, n);
      part.push(stored);
      cookies.push(cookie);
    }
    await writer.write(part);
  }
  await writer.close();
  return cookies;
}

function createSession(
  ring: KeyRing,
  issuer: string,
  n: number,
): { readonly stored: StoredSession; readonly cookie: string } {
  const handle = createSessionHandle();
  const now = Date.now();
  const subject = `user-${String(n).padStart(6, '0')}`;
  const stored = toStoredSession(
    ring,
    {
      id: handle.id,
      generation: 1,
      principal: { issuer, subject, kind: 'user' },
      user: {
        subject,
        name: `User ${subject}`,
        preferredUsername: subject,
        givenName: '',
        familyName: '',
        email: `${subject}@example.test`,
        picture: '',
        additionalClaims: {},
      },
      claims: {},
      sid: undefined,
      signInAt: now - 20_000,
      createdAt: now,
      absoluteEnd: now + 168 * HOUR_MS,
      idleTimeoutMs: HOUR_MS,
      lastUsedAt: now + HOUR_MS,
      revalidateAt: undefined,
      confirmedUntil: undefined,
      validUntil: undefined,
      address: '192.0.2.15',
      browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    },
    {
      idToken: randomBytes(ID_TOKEN_BYTES).toString('base64url').slice(0, ID_TOKEN_BYTES),
      accessToken: randomBytes(ACCESS_TOKEN_BYTES)
        .toString('base64url')
        .slice(0, ACCESS_TOKEN_BYTES),
      refreshToken: undefined,
    },
    handle,
  );
  return { stored, cookie: `core_session=${formatSessionHandle(handle)}` };
}

interface Writer {
  write(part: readonly StoredSession[]): Promise<void>;
  close(): Promise<void> | void;
}

async function openWriter({ stateDirectory, redisPort }: Seed): Promise<Writer> {
  if (redisPort === undefined) {
    const db = openStoreFile(join(stateDirectory, 'sessions.sqlite'), { busyTimeoutMs: 1_000 });
    const { insert } = prepareStatements(db);
    return {
      async write(part) {
        db.exec('BEGIN');
        for (const session of part) insert.run(...toColumns(session));
        db.exec('COMMIT');
      },
      close() {
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        db.close();
      },
    };
  }
  const store = await openRedisSessionStore({
    topology: { mode: 'standalone', address: { host: '127.0.0.1', port: redisPort } },
    access: { username: '', password: () => '', tls: undefined, database: 0 },
    keyPrefix: 'sallyport',
    replicas: 0,
    commandTimeoutMs: 10_000,
    allowWithoutAppendOnlyFile: false,
    now: Date.now,
    log: () => {},
    onExpired: () => {},
  });
  return {
    async write(part) {
      await Promise.all(part.map((session) => store.create(session, undefined)));
    },
    close: () => store.close(),
  };
}
