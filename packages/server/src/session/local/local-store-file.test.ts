import { createHash } from 'node:crypto';
import { on } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { ADA, ADA_SIGNS_IN, LIFETIMES, TOKENS } from '@sallyport/testing/server/people';
import { openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seal } from '../seal.ts';
import { formatSessionHandle, type SessionHandle } from '../session-cookie.ts';
import { ownerOfPrincipal, ownerOfSid } from '../session-record.ts';
import type { SessionStore } from '../session-store.ts';
import { Sessions } from '../sessions.ts';
import { createLocalSessionStore } from './local-session-store.ts';
import { openStoreFile } from './local-store-file.ts';

/** The tables of version 1, word for word as its release made them. */
const VERSION_1 = `
CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  metadata BLOB NOT NULL,
  tokens BLOB NOT NULL,
  last_used_at INTEGER NOT NULL,
  absolute_end INTEGER NOT NULL,
  idle_ms INTEGER NOT NULL,
  principal_key BLOB NOT NULL,
  sid_key BLOB
) STRICT;
CREATE INDEX session_by_principal ON session (principal_key);
CREATE INDEX session_by_sid ON session (sid_key) WHERE sid_key IS NOT NULL;
CREATE INDEX session_by_absolute_end ON session (absolute_end);
CREATE TABLE revocation (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL
) STRICT;
CREATE TABLE claimed (
  key BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
`;
const { principal, sid = '' } = ADA_SIGNS_IN;
const PRINCIPAL_KEY = ownerOfPrincipal(principal).key;
const SID_KEY = ownerOfSid(principal.issuer, sid).key;

function createPath(): string {
  return join(createTemporaryFolder(), 'sessions.sqlite');
}

function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

function openStore(path: string, clock: Clock): SessionStore {
  const store = createLocalSessionStore({ path, now: clock.now });
  onTestFinished(() => store.close());
  return store;
}

/** A file as version 1 left it: sessions 1 to `count`, a claim, and two revocations of which one was forgotten. */
function createVersion1(count: number): string {
  const path = createPath();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL;');
  db.exec(VERSION_1);
  for (let id = 1; id <= count; id += 1) insertVersion1(db, id, [Buffer.of(id), Buffer.of(0, id)]);
  db.prepare('INSERT INTO claimed VALUES (?, ?)').run(Buffer.from('once'), NOON + 60_000);
  const revoke = db.prepare('INSERT INTO revocation (session_id, revoked_at) VALUES (?, ?)');
  revoke.run(901, NOON - 2);
  revoke.run(902, NOON - 1);
  db.exec('DELETE FROM revocation WHERE session_id = 902');
  db.close();
  return path;
}

function insertVersion1(
  db: DatabaseSync,
  id: number,
  [metadata, tokens]: readonly [Uint8Array, Uint8Array],
  generation = 1,
): void {
  db.prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    ...[id, generation, metadata, tokens, NOON + id, NOON + LIFETIMES.absoluteMs],
    ...[LIFETIMES.idleTimeoutMs, PRINCIPAL_KEY, id % 2 === 0 ? SID_KEY : null],
  );
}

function versionOf(db: DatabaseSync): unknown {
  return db.prepare('PRAGMA user_version').get()?.['user_version'];
}

function tablesOf(db: DatabaseSync): readonly unknown[] {
  return db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);
}

describe('a file of version 1', () => {
  it('keeps every session as it was, found by its owner and its sid as well', async () => {
    const store = openStore(createVersion1(20), new Clock());
    for (let id = 1; id <= 20; id += 1) {
      expect(await store.read(id)).toEqual({
        id,
        generation: 1,
        metadata: new Uint8Array([id]),
        tokens: new Uint8Array([0, id]),
        lastUsedAt: NOON + id,
        absoluteEnd: NOON + LIFETIMES.absoluteMs,
        idleTimeoutMs: LIFETIMES.idleTimeoutMs,
        principalKey: new Uint8Array(PRINCIPAL_KEY),
        sidKey: id % 2 === 0 ? new Uint8Array(SID_KEY) : undefined,
        signInAt: NOON + id,
        renewalSent: false,
      });
    }
    expect(await store.read(21)).toBeUndefined();
    expect(await store.listByPrincipal(PRINCIPAL_KEY, 100)).toHaveLength(20);
    const reach = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: NOON };
    const ended = await store.revokeAll({ kind: 'sid', key: SID_KEY }, reach, 'session_revoked');
    expect(ended).toHaveLength(10);
    expect(await store.listByPrincipal(PRINCIPAL_KEY, 100)).toHaveLength(10);
  });

  it('ends no session: a cookie of then is the session of then, and can be renewed', async () => {
    const clock = new Clock();
    const path = createVersion1(0);
    const { ring } = openRing(new RingInMemory(), clock);
    const handle: SessionHandle = { id: 4_711, secret: Buffer.alloc(32, 7) };
    const kept = {
      ...{ principal, user: ADA, claims: ADA_SIGNS_IN.claims, sid },
      ...{
        createdAt: NOON - 5_000,
        absoluteEnd: NOON + 1_000_000,
        idleTimeoutMs: LIFETIMES.idleTimeoutMs,
      },
      ...{ revalidateAt: NOON + 480_000, address: '192.0.2.1', browser: 'Example/1.0' },
    };
    const secretHash = createHash('sha256').update(handle.secret).digest('base64url');
    const { idleTimeoutMs: idleMs, ...written } = kept;
    const sealed = [
      seal(
        ring,
        { purpose: 'session-metadata', binding: '4711/3' },
        JSON.stringify({ v: 1, secretHash, idleMs, ...written }),
      ),
      seal(
        ring,
        { purpose: 'session-tokens', binding: '4711/3', secret: handle.secret },
        JSON.stringify({ v: 1, ...TOKENS }),
      ),
    ] as const;
    const db = openDatabase(path);
    insertVersion1(db, handle.id, sealed, 3);
    db.close();
    const store = openStore(path, clock);
    const sessions = new Sessions({ store, ring, now: clock.now, lifetimes: LIFETIMES });
    const session = {
      ...kept,
      ...{ id: 4_711, generation: 3, lastUsedAt: NOON + 4_711 },
      ...{ signInAt: NOON - 5_000, confirmedUntil: NOON + 480_000, validUntil: NOON + 1_000_000 },
    };
    expect(await sessions.openWithTokens(formatSessionHandle(handle))).toEqual({
      session,
      tokens: TOKENS,
    });
    expect(await sessions.find(formatSessionHandle(handle))).toEqual(session);
    const other = formatSessionHandle({ ...handle, secret: Buffer.alloc(32, 8) });
    expect(await sessions.find(other)).toBe('session_unknown');
    expect(await store.noteRenewalSent(4_711, 3, 'a', 60_000)).toBe(true);
    expect(await store.noteRenewalSent(4_711, 2, 'a', 60_000)).toBe(false);
  });

  it('keeps single use: what was claimed stays claimed, to its end', async () => {
    const clock = new Clock();
    const store = openStore(createVersion1(1), clock);
    expect(await store.claimOnce(Buffer.from('once'), NOON + 60_000)).toBe(false);
    expect(await store.claimOnce(Buffer.from('other'), NOON + 60_000)).toBe(true);
    clock.set(NOON + 60_000);
    await store.sweep(10);
    expect(await store.claimOnce(Buffer.from('once'), NOON + 120_000)).toBe(true);
  });

  it('loses no revocation: what was ended stays ended, and a process that opens it forgets what it remembered', async () => {
    const clock = new Clock();
    const store = openStore(createVersion1(2), clock);
    expect(await store.read(901)).toBeUndefined();
    expect(store.revocations()).toEqual({ sessions: [], all: true });
    clock.advance(250);
    expect(store.revocations()).toEqual({ sessions: [], all: false });
  });

  it('goes on with the numbers of the log: a process of version 1 that still runs looks behind those it has seen', async () => {
    const path = createVersion1(2);
    const before = openDatabase(path);
    const logAfter = before.prepare('SELECT session_id FROM revocation WHERE sequence > ?');
    expect(logAfter.all(2)).toEqual([]);
    const store = openStore(path, new Clock());
    await store.revoke(1);
    expect(logAfter.all(2).map((row) => row['session_id'])).toEqual([1]);
    expect(logAfter.all(3)).toEqual([]);
  });

  it('has nothing of version 1 left, and is opened as it is from then on', () => {
    const path = createVersion1(3);
    openStoreFile(path, { busyTimeoutMs: 3 }).close();
    const db = openDatabase(path);
    const tables = ['claimed', 'lease', 'owner_revocation', 'revocation', 'session'];
    expect(tablesOf(db)).toEqual(tables);
    expect(versionOf(db)).toBe(2);
    db.close();
    const before = readFileSync(path);
    openStoreFile(path, { busyTimeoutMs: 3 }).close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('stays as it is when bringing it over fails halfway, and is brought over the next time', () => {
    const path = createVersion1(3);
    const db = openDatabase(path);
    // In the way of a table that the new version makes last.
    db.exec('CREATE TABLE lease (other TEXT)');
    expect(() => openStoreFile(path, { busyTimeoutMs: 3 })).toThrow('lease');
    expect(versionOf(db)).toBe(1);
    expect(tablesOf(db)).toEqual(['claimed', 'lease', 'revocation', 'session']);
    expect(db.prepare('SELECT count(*) AS count FROM session').get()?.['count']).toBe(3);
    db.exec('DROP TABLE lease');
    const opened = openStoreFile(path, { busyTimeoutMs: 3 });
    expect(opened.prepare('SELECT count(*) AS count FROM session').get()?.['count']).toBe(3);
    opened.close();
  });

  it('is brought over once by two processes that open it at the same time', async () => {
    const path = createVersion1(50);
    const db = openDatabase(path);
    const openers = await Promise.all([startOpener(), startOpener()]);
    // Neither can begin before both are at the door.
    db.exec('BEGIN IMMEDIATE');
    const openings = openers.map(({ open }) => open(path));
    await Promise.all(openings.map(({ begun }) => begun));
    db.exec('ROLLBACK');
    expect(await Promise.all(openings.map(({ opened }) => opened))).toEqual([
      { version: 2, count: 50 },
      { version: 2, count: 50 },
    ]);
    expect(versionOf(db)).toBe(2);
    expect(db.prepare('SELECT count(*) AS count FROM session').get()?.['count']).toBe(50);
    expect(db.prepare('SELECT count(*) AS count FROM claimed').get()?.['count']).toBe(1);
  });

  it('is given up within seconds while another process holds it, and left as it is', () => {
    const path = createVersion1(1);
    const db = openDatabase(path);
    db.exec('BEGIN IMMEDIATE');
    expect(() => openStoreFile(path, { busyTimeoutMs: 3 })).toThrow('locked');
    db.exec('ROLLBACK');
    expect(versionOf(db)).toBe(1);
    openStoreFile(path, { busyTimeoutMs: 3 }).close();
    expect(versionOf(db)).toBe(2);
  });
});

/** A thread with a connection of its own, as another process has one. */
async function startOpener(): Promise<{
  /** `begun` resolves when it is about to open the file, `opened` with what it found there. */
  open(path: string): { readonly begun: Promise<unknown>; readonly opened: Promise<unknown> };
}> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ openStoreFile }) => {
      parentPort.on('message', (path) => {
        parentPort.postMessage('opening');
        try {
          const db = openStoreFile(path, { busyTimeoutMs: 3 });
          const version = db.prepare('PRAGMA user_version').get().user_version;
          const count = db.prepare('SELECT count(*) AS count FROM session').get().count;
          db.close();
          parentPort.postMessage({ version, count });
        } catch (error) {
          parentPort.postMessage(error.message);
        }
      });
      parentPort.postMessage('ready');
    });
  `;
  const module = new URL('./local-store-file.ts', import.meta.url).href;
  const thread = new Worker(code, { eval: true, workerData: { module } });
  onTestFinished(async () => void (await thread.terminate()));
  const messages = on(thread, 'message');
  await messages.next();
  const said = async (): Promise<unknown> => {
    const { value } = await messages.next();
    return (value as readonly unknown[])[0];
  };
  return {
    open(path) {
      const begun = said();
      const opened = begun.then(said);
      thread.postMessage(path);
      return { begun, opened };
    },
  };
}

describe('any file', () => {
  it('that is new is made once by two processes that open it at the same time, and both have it', async () => {
    const openers = await Promise.all([startOpener(), startOpener()]);
    // Which of them comes first, and how far it is when the other comes, differs each time.
    for (let round = 0; round < 40; round += 1) {
      const path = createPath();
      const openings = openers.map(({ open }) => open(path));
      expect(await Promise.all(openings.map(({ opened }) => opened))).toEqual([
        { version: 2, count: 0 },
        { version: 2, count: 0 },
      ]);
    }
  });

  it('that is new is given up within seconds while another process holds it', () => {
    const path = createPath();
    const db = openDatabase(path);
    db.exec('BEGIN IMMEDIATE; CREATE TABLE other (value)');
    expect(() => openStoreFile(path, { busyTimeoutMs: 3 })).toThrow('locked');
    db.exec('ROLLBACK');
    openStoreFile(path, { busyTimeoutMs: 3 }).close();
    expect(versionOf(db)).toBe(2);
  });

  it.each([3, 99, -1])('of version %d is refused, and not a byte of it changes', (version) => {
    const path = createPath();
    openStoreFile(path, { busyTimeoutMs: 3 }).close();
    const db = openDatabase(path);
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
    const before = readFileSync(path);
    expect(() => openStoreFile(path, { busyTimeoutMs: 3 })).toThrow(
      `the store has schema version ${version}, this release knows 2`,
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('that is new has the current version, mode 0600 and a folder of mode 0700, whatever the umask', async () => {
    const mask = process.umask(0);
    onTestFinished(() => void process.umask(mask));
    const path = join(createTemporaryFolder(), 'state', 'sessions.sqlite');
    // The store makes the folder, when it is used first.
    await openStore(path, new Clock()).read(1);
    const db = openStoreFile(path, { busyTimeoutMs: 3 });
    onTestFinished(() => db.close());
    expect(versionOf(db)).toBe(2);
    for (const file of [path, `${path}-wal`, `${path}-shm`])
      expect(statSync(file).mode & 0o777, file).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it('is bounded in bytes for the connection that asks for it, whatever its page size', () => {
    for (const path of [createVersion1(1), createPath()]) {
      const plain = openStoreFile(path, { busyTimeoutMs: 3 });
      const pageBytes = Number(plain.prepare('PRAGMA page_size').get()?.['page_size']);
      const unbounded = Number(plain.prepare('PRAGMA max_page_count').get()?.['max_page_count']);
      plain.close();
      const bounded = openStoreFile(path, { busyTimeoutMs: 3, maxBytes: 1_048_576 });
      const count = Number(bounded.prepare('PRAGMA max_page_count').get()?.['max_page_count']);
      bounded.close();
      expect(count * pageBytes).toBe(1_048_576);
      expect(unbounded * pageBytes).toBeGreaterThan(1_000_000_000);
    }
  });
});
