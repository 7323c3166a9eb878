import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { ADA, ADA_SIGNS_IN, LIFETIMES } from '@sallyport/testing/server/people';
import { openRing, RingInMemory } from '@sallyport/testing/server/ring';
import {
  createStoredSession,
  testSessionStore,
} from '@sallyport/testing/store-contracts/session-store-contract';
import { testSessionStoreRenewal } from '@sallyport/testing/store-contracts/session-store-renewal-contract';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeFailure } from '../../log/log.ts';
import { parseSessionHandle } from '../session-cookie.ts';
import type { SessionStore } from '../session-store.ts';
import { Sessions } from '../sessions.ts';
import { createLocalSessionStore } from './local-session-store.ts';

/** One file for a test, opened as often as it likes. */
function createDeployment({ now }: Clock) {
  const path = createPath();
  return { open: () => createLocalSessionStore({ path, now, monotonicNow: now }) };
}

testSessionStore('local', createDeployment, 250);
testSessionStoreRenewal('local', createDeployment, 250);

const UNAVAILABLE: unknown = expect.objectContaining({
  code: 'SP_STORE_UNAVAILABLE',
  component: 'store:local',
  retryAfterSeconds: 1,
});

function createPath(): string {
  return join(createTemporaryFolder(), 'state', 'sessions.sqlite');
}

/** How often stores have tried to write since. */
function countAttempts(): () => number {
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
  onTestFinished(() => exec.mockRestore());
  return () => exec.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length;
}

function openStore(path: string, { now }: Clock, maxBytes?: number): SessionStore {
  const store = createLocalSessionStore({ path, now, ...(maxBytes ? { maxBytes } : {}) });
  onTestFinished(() => store.close());
  return store;
}

/** Another program at the file, with the database's own means. */
function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

describe('two processes on one file', () => {
  it('see each other’s revocations from 250 ms on, and do not look sooner', async () => {
    const clock = new Clock();
    const path = createPath();
    const [one, other] = [openStore(path, clock), openStore(path, clock)];
    await one.create(createStoredSession(1), undefined);
    await one.create(createStoredSession(2), undefined);
    one.revocations();
    other.revocations();
    await one.revoke(1);
    await other.revoke(2);
    clock.advance(249);
    expect(one.revocations()).toEqual({ sessions: [1], all: false });
    expect(other.revocations()).toEqual({ sessions: [2], all: false });
    clock.advance(1);
    expect(one.revocations().sessions).toContain(2);
    expect(other.revocations().sessions).toContain(1);
    clock.advance(250);
    expect(one.revocations()).toEqual({ sessions: [], all: false });
    expect(other.revocations()).toEqual({ sessions: [], all: false });
  });

  it('catch up with more revocations than one look takes, without waiting in between', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    await store.create(createStoredSession(1), undefined);
    store.revocations();
    openDatabase(path).exec(
      `WITH RECURSIVE counted(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM counted WHERE id < 2500)
       INSERT INTO revocation (session_id, revoked_at, reason) SELECT id, ${NOON}, 'signed_out' FROM counted`,
    );
    clock.advance(250);
    const seen = [1, 2, 3].map(() => store.revocations().sessions);
    expect(seen.map((sessions) => sessions.length)).toEqual([1_000, 1_000, 500]);
    expect(new Set(seen.flat()).size).toBe(2_500);
    clock.advance(250);
    expect(store.revocations().sessions).toEqual([]);
  });

  it('have everything forgotten at the first look, since what happened before is unknown', async () => {
    const clock = new Clock();
    const store = openStore(createPath(), clock);
    expect(store.revocations()).toEqual({ sessions: [], all: true });
    clock.advance(250);
    expect(store.revocations()).toEqual({ sessions: [], all: false });
  });

  it('wait for a write of another one that holds the file, and read meanwhile', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    await store.create(createStoredSession(1), undefined);
    const db = openDatabase(path);
    db.exec('BEGIN IMMEDIATE');
    const created = store.create(createStoredSession(2), undefined);
    expect(await store.read(1)).toBeDefined();
    expect(store.revocations().sessions).toEqual([]);
    db.exec('ROLLBACK');
    expect(await created).toBe(true);
  });

  it('do not stop the thread once for each write that waits for another process: one write tries for all', async () => {
    const path = createPath();
    const store = openStore(path, new Clock());
    const ids = Array.from({ length: 100 }, (_, index) => index + 1);
    await Promise.all(ids.map((id) => store.create(createStoredSession(id), undefined)));
    const db = openDatabase(path);
    db.exec('BEGIN IMMEDIATE');
    const attempts = countAttempts();
    const notes = ids.map((id) => store.touch(id, NOON + 60_000));
    await expect.poll(attempts, { interval: 1 }).toBeGreaterThan(1);
    expect(attempts()).toBeLessThan(ids.length);
    db.exec('ROLLBACK');
    await Promise.all(notes);
    for (const id of ids) expect((await store.read(id))?.lastUsedAt).toBe(NOON + 60_000);
  });

  it('let other work have its turn between two writes of many', async () => {
    const store = openStore(createPath(), new Clock());
    const ids = Array.from({ length: 50 }, (_, index) => index + 1);
    let isOver = false;
    const written = Promise.all(
      ids.map((id) => store.create(createStoredSession(id), undefined)),
    ).finally(() => {
      isOver = true;
    });
    let turns = 0;
    for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(await written).toEqual(ids.map(() => true));
    expect(turns).toBeGreaterThanOrEqual(ids.length - 1);
  });

  it('give up on a file that stays held, and write again once it is free', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    await store.create(createStoredSession(1), undefined);
    const db = openDatabase(path);
    db.exec('BEGIN IMMEDIATE');
    const attempts = countAttempts();
    const waiting = [
      store.revoke(1),
      store.touch(1, NOON + 60_000),
      store.claimOnce(Buffer.from('a'), NOON),
    ];
    await Promise.all(waiting.map((each) => expect(each).rejects.toEqual(UNAVAILABLE)));
    // Calls that waited with the first fail with it.
    const all = attempts();
    await expect(store.revoke(1)).rejects.toEqual(UNAVAILABLE);
    expect(attempts()).toBe(2 * all);
    expect(await store.read(1)).toBeDefined();
    db.exec('ROLLBACK');
    await store.revoke(1);
    expect(await store.read(1)).toBeUndefined();
  });
});

describe('a file that cannot be opened', () => {
  it.each([
    [
      'is a folder',
      (path: string) => mkdirSync(path, { recursive: true }),
      (path: string) => rmSync(path, { recursive: true }),
    ],
    [
      'is something else',
      (path: string) => {
        mkdirSync(dirname(path));
        writeFileSync(path, 'no database at all, canary-7f3a\n'.repeat(500));
      },
      (path: string) => rmSync(path),
    ],
    [
      'lies below a file',
      (path: string) => writeFileSync(dirname(path), ''),
      (path: string) => rmSync(dirname(path)),
    ],
  ])('%s: SP_STORE_UNAVAILABLE, and in use again once that is mended', async (_, spoil, mend) => {
    const clock = new Clock();
    const path = createPath();
    spoil(path);
    const store = openStore(path, clock);
    await expect(store.read(1)).rejects.toEqual(UNAVAILABLE);
    await expect(store.create(createStoredSession(1), undefined)).rejects.toEqual(UNAVAILABLE);
    await expect(store.claimOnce(Buffer.from('a'), NOON)).rejects.toEqual(UNAVAILABLE);
    expect(() => store.revocations()).toThrow(
      expect.objectContaining({ code: 'SP_STORE_UNAVAILABLE' }),
    );
    mend(path);
    clock.advance(499);
    await expect(store.read(1)).rejects.toEqual(UNAVAILABLE);
    clock.advance(1);
    expect(await store.create(createStoredSession(1), undefined)).toBe(true);
    expect(store.revocations().all).toBe(true);
  });

  it.skipIf(process.platform !== 'linux')(
    'with other tables than its version has: no attempt leaves it open',
    async () => {
      const path = createPath();
      mkdirSync(dirname(path), { recursive: true });
      const db = openDatabase(path);
      db.exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 2');
      const openFiles = () =>
        readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith(path)).length;
      expect(openFiles()).toBeGreaterThan(0);
      db.close();
      const clock = new Clock();
      const store = openStore(path, clock);
      for (let attempt = 0; attempt < 20; attempt += 1) {
        await expect(store.read(1)).rejects.toEqual(UNAVAILABLE);
        clock.advance(1_000);
      }
      expect(openFiles()).toBe(0);
    },
  );

  it('does not touch a file that is no database', async () => {
    const path = createPath();
    mkdirSync(dirname(path));
    const text = 'the only copy\n'.repeat(500);
    writeFileSync(path, text);
    await expect(openStore(path, new Clock()).read(1)).rejects.toEqual(UNAVAILABLE);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it.each([3, 99, -1])(
    'refuses tables of version %d, which this release does not know, and keeps them',
    async (version) => {
      const clock = new Clock();
      const path = createPath();
      const before = createLocalSessionStore({ path, now: clock.now });
      await before.create(createStoredSession(1), undefined);
      before.close();
      const db = openDatabase(path);
      db.exec(`PRAGMA user_version = ${version}`);
      const store = openStore(path, clock);
      await expect(store.read(1)).rejects.toEqual(UNAVAILABLE);
      expect(db.prepare('SELECT count(*) AS count FROM session').get()?.['count']).toBe(1);
      db.exec('PRAGMA user_version = 2');
      clock.advance(500);
      expect(await store.read(1)).toBeDefined();
    },
  );

  it('goes on failing, and does not serve old answers, when it breaks while in use', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    await store.create(createStoredSession(1), undefined);
    store.revocations();
    openDatabase(path).exec('DROP TABLE session; DROP TABLE revocation');
    await expect(store.read(1)).rejects.toEqual(UNAVAILABLE);
    clock.advance(250);
    expect(() => store.revocations()).toThrow(
      expect.objectContaining({ code: 'SP_STORE_UNAVAILABLE' }),
    );
    expect(() => store.revocations()).toThrow(
      expect.objectContaining({ code: 'SP_STORE_UNAVAILABLE' }),
    );
  });

  it('has everything forgotten after it was away, also what was ended meanwhile', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    await store.create(createStoredSession(1), undefined);
    store.revocations();
    clock.advance(250);
    expect(store.revocations().all).toBe(false);
    const db = openDatabase(path);
    db.exec('ALTER TABLE session RENAME TO away');
    await expect(store.read(1)).rejects.toEqual(UNAVAILABLE);
    db.exec('ALTER TABLE away RENAME TO session');
    clock.advance(500);
    expect(store.revocations().all).toBe(true);
    expect(await store.read(1)).toBeDefined();
  });
});

async function fill(store: SessionStore): Promise<number> {
  for (let id = 1; ; id += 1) {
    try {
      await store.create(createStoredSession(id), undefined);
    } catch (error) {
      expect(error).toEqual(UNAVAILABLE);
      expect(error).toMatchObject({ message: expect.stringContaining('the store is full') });
      return id - 1;
    }
  }
}

describe('a full store', () => {
  it('refuses new sessions and keeps the old ones: reads, uses and sign-outs go on', async () => {
    const clock = new Clock();
    const store = openStore(createPath(), clock, 320 * 1_024);
    const count = await fill(store);
    expect(count).toBeGreaterThan(20);
    for (let id = 1; id <= count; id += 1) expect((await store.read(id))?.id).toBe(id);
    await store.touch(1, NOON + 60_000);
    expect((await store.read(1))?.lastUsedAt).toBe(NOON + 60_000);
    await store.revoke(1);
    expect(await store.read(1)).toBeUndefined();
  });

  it('takes new sessions again after a sweep', async () => {
    const clock = new Clock();
    const store = openStore(createPath(), clock, 320 * 1_024);
    const count = await fill(store);
    clock.advance(604_800_000);
    expect(await store.sweep(1_000)).toBe(count);
    expect(await store.create(createStoredSession(count + 1), undefined)).toBe(true);
  });

  it('has no bound of its own: the same number fits where none is set', async () => {
    const store = openStore(createPath(), new Clock());
    for (let id = 1; id <= 150; id += 1)
      expect(await store.create(createStoredSession(id), undefined)).toBe(true);
  });
});

describe('sweep', () => {
  it('that fails says why by the code of the cause, which a thread found', async () => {
    const folder = join(createTemporaryFolder(), 'state');
    writeFileSync(folder, '');
    const store = openStore(join(folder, 'sessions.sqlite'), new Clock());
    const failed = await store.sweep(10).catch(describeFailure);
    expect(failed).toMatch(/^SallyportError SP_STORE_UNAVAILABLE\b.* <- Error EEXIST: /);
  });

  it('forgets claims and revocations once no process can need them', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    await store.claimOnce(Buffer.from('a'), NOON + 1_000);
    await store.revoke(1);
    const db = openDatabase(path);
    const countOf = (table: string) =>
      db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'];
    clock.set(NOON + 999);
    await store.sweep(10);
    expect([countOf('claimed'), countOf('revocation')]).toEqual([1, 1]);
    clock.set(NOON + 1_000);
    await store.sweep(10);
    expect([countOf('claimed'), countOf('revocation')]).toEqual([0, 1]);
    clock.set(NOON + 43_199_999);
    await store.sweep(10);
    expect([countOf('claimed'), countOf('revocation')]).toEqual([0, 1]);
    clock.set(NOON + 43_200_000);
    await store.sweep(10);
    expect([countOf('claimed'), countOf('revocation')]).toEqual([0, 0]);
  });

  it('keeps an owner’s revocation for an hour, longer than any sign-in takes', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    const owner = { kind: 'principal', key: Buffer.alloc(16, 1) } as const;
    await store.revokeAll(owner, { sessionsUpTo: NOON, signInsUpTo: NOON }, 'session_revoked');
    const db = openDatabase(path);
    const countOf = (table: string) =>
      db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'];
    clock.set(NOON + 3_599_999);
    await store.sweep(10);
    expect(countOf('owner_revocation')).toBe(1);
    clock.set(NOON + 3_600_000);
    await store.sweep(10);
    expect(countOf('owner_revocation')).toBe(0);
  });

  it('leaves the lease of a session that stands, however old, and forgets it once the session is gone', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    for (const id of [1, 2]) {
      await store.create(createStoredSession(id), undefined);
      await store.lease(id, 'holder', 8_000);
    }
    const db = openDatabase(path);
    const leased = () => db.prepare('SELECT session_id AS id FROM lease').all();
    clock.set(NOON + 3_600_000);
    await store.sweep(10);
    expect(leased()).toEqual([{ id: 1 }, { id: 2 }]);
    await store.revoke(1);
    await store.sweep(10);
    expect(leased()).toEqual([{ id: 2 }]);
  });

  it('never gives a later revocation the number of a forgotten one, which no process would read', async () => {
    const clock = new Clock();
    const path = createPath();
    const [one, other] = [openStore(path, clock), openStore(path, clock)];
    await one.revoke(1);
    clock.advance(250);
    other.revocations();
    clock.advance(250);
    other.revocations();
    clock.advance(43_200_000);
    await one.sweep(10);
    await one.revoke(2);
    expect(other.revocations().sessions).toContain(2);
  });
});

describe('the files', () => {
  it('are for their owner alone, whatever the umask, and so is their folder', async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const path = createPath();
    const store = openStore(path, new Clock());
    await store.create(createStoredSession(1), undefined);
    const files = readdirSync(dirname(path));
    expect(files.toSorted()).toEqual([
      'sessions.sqlite',
      'sessions.sqlite-shm',
      'sessions.sqlite-wal',
    ]);
    for (const file of files)
      expect(statSync(join(dirname(path), file)).mode & 0o777, file).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it('leave the mode of a folder alone that was there', async () => {
    const path = createPath();
    mkdirSync(dirname(path));
    chmodSync(dirname(path), 0o750);
    await openStore(path, new Clock()).create(createStoredSession(1), undefined);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o750);
  });

  it('hold no subject, issuer, e-mail address, name, address, cookie or token, in any of them', async () => {
    const clock = new Clock();
    const path = createPath();
    const store = openStore(path, clock);
    const { ring } = openRing(new RingInMemory(), clock);
    const sessions = new Sessions({ store, ring, now: clock.now, lifetimes: LIFETIMES });
    const cookies: string[] = [];
    for (let count = 0; count < 20; count += 1)
      cookies.push((await sessions.begin(ADA_SIGNS_IN, [])).cookieValue);
    await sessions.end(cookies[0] ?? '');
    const { issuer, subject } = ADA_SIGNS_IN.principal;
    const texts = [issuer, subject, ADA.email, ADA.name, 'Lovelace', 'engineers', 'sid-1'];
    const raw = Buffer.concat(
      readdirSync(dirname(path)).map((file) => readFileSync(join(dirname(path), file))),
    );
    const secrets = cookies.map((cookie) => cookie.slice(9));
    for (const text of [...texts, '192.0.2.1', 'Example/1.0', 'token-of-ada', ...secrets]) {
      expect(raw.includes(text), text).toBe(false);
      expect(raw.includes(Buffer.from(text, 'utf16le')), text).toBe(false);
    }
    for (const secret of secrets)
      expect(raw.includes(Buffer.from(secret, 'base64url'))).toBe(false);
    // The files were looked at indeed: what may stand there in the clear does.
    const stored = await store.read(parseSessionHandle(cookies[2] ?? '')?.id ?? 0);
    expect(raw.includes(stored?.principalKey ?? 'missing')).toBe(true);
    expect(raw.includes(stored?.metadata ?? 'missing')).toBe(true);
  });
});

/** Where an open file is; empty for one that has been closed since it was listed. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
