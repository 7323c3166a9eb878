import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { ADA_SIGNS_IN, LIFETIMES, TOKENS } from '@sallyport/testing/server/people';
import { createRingKey, openRing } from '@sallyport/testing/server/ring';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import type { KeyRing } from './key-ring.ts';
import { addRingKey, createRing, parseRing, SEALS_AFTER_MS } from './key-ring-document.ts';
import { createKeyRingFile, rotateKeyRingFile } from './key-ring-file.ts';
import { createSessionHandle, type SessionHandle } from './session-cookie.ts';
import { openSession, openTokens, type Session, toStoredSession } from './session-record.ts';
import type { StoredSession } from './session-store.ts';

const WEEK_MS = LIFETIMES.absoluteMs;
const CANARY = 'canary-7f3a-canary-7f3a-canary-7f3a';

function createPath(): string {
  return join(createTemporaryFolder(), 'state', 'key-ring.json');
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

function kidsIn(path: string): string[] {
  return parseRing(readFileSync(path, 'utf8')).map((key) => key.kid);
}

/** The file as an operator would write it by hand. */
function ringText(...entries: readonly unknown[]): string {
  return JSON.stringify({ keys: entries });
}

const GOOD = {
  kid: 'aaaaaaaa',
  key: createRingKey('a').key,
  sealsFrom: '2026-01-05T12:00:00.000Z',
};

describe('createKeyRingFile', () => {
  it('makes the file at first use, with one key that seals at once', () => {
    const path = createPath();
    const source = createKeyRingFile(path, () => NOON);
    expect(source.version()).toBe('');
    const { version, keys } = source.read();
    expect(keys).toEqual([
      {
        kid: expect.stringMatching(/^[\w-]{8}$/),
        key: expect.stringMatching(/^[\w-]{43}$/),
        sealsFrom: NOON,
      },
    ]);
    expect(version).toBe(source.version());
    expect(version).not.toBe('');
    expect(openRing(source, new Clock()).ring.sealingKey('state').kid).toBe(keys[0]?.kid);
  });

  it('follows the ring of a mounted Secret, which the kubelet swaps as a whole folder', () => {
    const folder = createTemporaryFolder();
    const path = join(folder, 'key-ring.json');
    const mount = (name: string, text: string) => {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'key-ring.json'), text, { mode: 0o440 });
      symlinkSync(name, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    const first = createRing(NOON);
    mount('..first', first);
    symlinkSync('..data/key-ring.json', path);
    const clock = new Clock();
    const { ring } = openRing(createKeyRingFile(path, clock.now), clock);
    const { kid } = ring.sealingKey('state');

    const rotated = addRingKey(first, NOON, WEEK_MS);
    mount('..second', rotated.text);
    clock.advance(SEALS_AFTER_MS - 1);
    expect(ring.sealingKey('state').kid).toBe(kid);
    clock.advance(1_001);
    expect(ring.sealingKey('state').kid).toBe(rotated.kid);
    expect(ring.openingKey(kid, 'state')).toBeDefined();
    expect(ring.openingKey('aaaaaaaa', 'state')).toBeUndefined();
  });

  it('makes file and folder for their owner alone, and leaves nothing else behind', () => {
    const path = createPath();
    createKeyRingFile(path, () => NOON).read();
    expect(modeOf(path)).toBe(0o600);
    expect(modeOf(dirname(path))).toBe(0o700);
    rotateKeyRingFile(path, NOON, WEEK_MS);
    expect(modeOf(path)).toBe(0o600);
    expect(readdirSync(dirname(path))).toEqual(['key-ring.json']);
  });

  it('makes another key each time', () => {
    const keys = [createPath(), createPath()].map(
      (path) => createKeyRingFile(path, () => NOON).read().keys[0]?.key,
    );
    expect(keys[0]).not.toBe(keys[1]);
  });

  it('reads a file that is there and does not touch it', () => {
    const path = createPath();
    mkdirSync(dirname(path));
    writeFileSync(path, ringText(GOOD));
    expect(createKeyRingFile(path, () => NOON).read().keys).toEqual([
      createRingKey('a', { sealsFrom: NOON }),
    ]);
    expect(readFileSync(path, 'utf8')).toBe(ringText(GOOD));
  });

  it('does not replace a file it cannot parse', () => {
    const path = createPath();
    mkdirSync(dirname(path));
    writeFileSync(path, 'garbage');
    expect(() => createKeyRingFile(path, () => NOON).read()).toThrow(
      `${path} cannot be used: key ring: the file is not JSON`,
    );
    expect(readFileSync(path, 'utf8')).toBe('garbage');
  });

  it('fails when the folder cannot be made', () => {
    const path = createPath();
    writeFileSync(dirname(path), 'a file where the folder belongs');
    expect(() => createKeyRingFile(path, () => NOON).read()).toThrow();
  });

  it('gives another version after each swap: rename, rewrite in place, and the symlink of a mounted secret', () => {
    const folder = createTemporaryFolder();
    const path = join(folder, 'key-ring.json');
    for (const name of ['one', 'two']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'key-ring.json'), ringText(GOOD));
    }
    symlinkSync('one', join(folder, '..data'));
    symlinkSync('..data/key-ring.json', path);
    const source = createKeyRingFile(path, () => NOON);
    const versions = [source.version(), source.version()];
    expect(new Set(versions).size).toBe(1);
    unlinkSync(join(folder, '..data'));
    symlinkSync('two', join(folder, '..data'));
    versions.push(source.version());
    writeFileSync(
      join(folder, 'two', 'key-ring.json'),
      ringText(GOOD, { ...GOOD, kid: 'bbbbbbbb' }),
    );
    versions.push(source.version());
    rotateKeyRingFile(join(folder, 'two', 'key-ring.json'), NOON, WEEK_MS);
    versions.push(source.version());
    expect(new Set(versions).size).toBe(4);
  });

  it('agrees on one ring when 20 create it at the same time', async () => {
    const rounds = 5;
    const folder = createTemporaryFolder();
    const shared = new SharedArrayBuffer(4);
    const start = new Int32Array(shared);
    const workers = Array.from(
      { length: 20 },
      () =>
        new Worker(CREATE_AT_ONCE, {
          eval: true,
          workerData: {
            module: new URL('key-ring-file.ts', import.meta.url).href,
            folder,
            shared,
            rounds,
          },
        }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    for (let round = 1; round <= rounds; round += 1) {
      const answers = workers.map((worker) => once(worker, 'message'));
      Atomics.store(start, 0, round);
      Atomics.notify(start, 0);
      const seen = (await Promise.all(answers)).map(([answer]) => String(answer));
      const path = join(folder, String(round), 'key-ring.json');
      expect(new Set(seen)).toEqual(new Set(kidsIn(path)));
      expect(readdirSync(dirname(path))).toEqual(['key-ring.json']);
    }
    await Promise.all(workers.map((worker) => worker.terminate()));
  });
});

/** Waits for each round's start, then creates that round's file and says which key it read. */
const CREATE_AT_ONCE = `
  const { parentPort, workerData: { module, folder, shared, rounds } } = require('node:worker_threads');
  import(module).then(({ createKeyRingFile }) => {
    const start = new Int32Array(shared);
    parentPort.postMessage('ready');
    for (let round = 1; round <= rounds; round += 1) {
      Atomics.wait(start, 0, round - 1);
      const { keys } = createKeyRingFile(folder + '/' + round + '/key-ring.json', () => ${NOON}).read();
      parentPort.postMessage(keys.map((key) => key.kid).join());
    }
  });
`;

describe('rotateKeyRingFile', () => {
  it('where there is no ring yet says who makes it, and makes none', () => {
    const path = createPath();
    expect(() => rotateKeyRingFile(path, NOON, WEEK_MS)).toThrow(/first sign-in/);
    expect(() => readFileSync(path)).toThrow('ENOENT');
  });

  it('adds a key that seals after ten minutes and lets the older one open as long as what it seals may live', () => {
    const path = createPath();
    const [old] = createKeyRingFile(path, () => NOON).read().keys;
    const kid = rotateKeyRingFile(path, NOON + 1_000, WEEK_MS);
    const sealsFrom = NOON + 1_000 + SEALS_AFTER_MS;
    expect(parseRing(readFileSync(path, 'utf8'))).toEqual([
      { ...old, opensUntil: sealsFrom + WEEK_MS + SEALS_AFTER_MS },
      { kid, key: expect.any(String), sealsFrom },
    ]);
  });

  it('keeps the end a key has, and drops one whose end has come', () => {
    const path = createPath();
    const [old] = createKeyRingFile(path, () => NOON).read().keys;
    const second = rotateKeyRingFile(path, NOON, WEEK_MS);
    const end = NOON + 2 * SEALS_AFTER_MS + WEEK_MS;
    const third = rotateKeyRingFile(path, end - 1, WEEK_MS);
    expect(kidsIn(path)).toEqual([old?.kid, second, third]);
    expect(parseRing(readFileSync(path, 'utf8'))[0]?.opensUntil).toBe(end);
    const fourth = rotateKeyRingFile(path, end, WEEK_MS);
    expect(kidsIn(path)).toEqual([second, third, fourth]);
  });

  it.each([
    ['is not there', undefined],
    ['is no ring', 'garbage'],
  ])('throws and writes nothing when the file %s', (_, text) => {
    const path = createPath();
    mkdirSync(dirname(path));
    if (text !== undefined) writeFileSync(path, text);
    expect(() => rotateKeyRingFile(path, NOON, WEEK_MS)).toThrow();
    expect(readdirSync(dirname(path))).toEqual(text === undefined ? [] : ['key-ring.json']);
  });

  it('throws rather than write a ring with more keys than can be read', () => {
    const path = createPath();
    createKeyRingFile(path, () => NOON).read();
    for (let count = 1; count < 64; count += 1) rotateKeyRingFile(path, NOON + count, WEEK_MS);
    const full = readFileSync(path, 'utf8');
    expect(parseRing(full)).toHaveLength(64);
    expect(() => rotateKeyRingFile(path, NOON + 64, WEEK_MS)).toThrow('64 keys');
    expect(readFileSync(path, 'utf8')).toBe(full);
    expect(readdirSync(dirname(path))).toEqual(['key-ring.json']);
    // Once the first ones have ended there is room again.
    rotateKeyRingFile(path, NOON + 2 * WEEK_MS, WEEK_MS);
    expect(parseRing(readFileSync(path, 'utf8'))).toHaveLength(2);
  });
});

describe('parseRing', () => {
  it('reads keys with their times', () => {
    const text = ringText(GOOD, { ...GOOD, kid: '-_3Az9bQ', opensUntil: '2026-01-12T12:00:00Z' });
    expect(parseRing(text)).toEqual([
      createRingKey('a', { sealsFrom: NOON }),
      createRingKey('a', { kid: '-_3Az9bQ', sealsFrom: NOON, opensUntil: NOON + WEEK_MS }),
    ]);
  });

  it.each([
    ['not JSON', `{"keys":[${CANARY}`],
    ['not JSON', ''],
    ['no list', '{}'],
    ['no list', 'null'],
    ['no list', `"${CANARY}"`],
    ['no list', JSON.stringify({ keys: CANARY })],
    ['an empty list', ringText()],
    [
      'more than 64 keys',
      ringText(
        ...Array.from({ length: 65 }, (_, index) => ({ ...GOOD, kid: String(10_000_000 + index) })),
      ),
    ],
    ['too large', ringText(GOOD) + ' '.repeat(65_536)],
    ['an entry that is none', ringText(CANARY)],
    ['a null entry', ringText(null)],
    ['no kid', ringText({ ...GOOD, kid: undefined })],
    ['a kid too long', ringText({ ...GOOD, kid: CANARY })],
    ['a kid of other characters', ringText({ ...GOOD, kid: 'aaaa/aaa' })],
    ['a kid that is a number', ringText({ ...GOOD, kid: 12_345_678 })],
    ['no key', ringText({ ...GOOD, key: undefined })],
    [
      'a key of 31 bytes',
      ringText({ ...GOOD, key: Buffer.alloc(31, CANARY).toString('base64url') }),
    ],
    [
      'a key of 33 bytes',
      ringText({ ...GOOD, key: Buffer.alloc(33, CANARY).toString('base64url') }),
    ],
    ['a key that is no text', ringText({ ...GOOD, key: [CANARY] })],
    ['no sealsFrom', ringText({ ...GOOD, sealsFrom: undefined })],
    ['a sealsFrom that is no time', ringText({ ...GOOD, sealsFrom: CANARY })],
    ['a sealsFrom that is a number', ringText({ ...GOOD, sealsFrom: NOON })],
    ['an opensUntil that is no time', ringText({ ...GOOD, opensUntil: CANARY })],
    ['an opensUntil that is null', ringText({ ...GOOD, opensUntil: null })],
    ['a kid twice', ringText(GOOD, { ...GOOD, key: createRingKey('b').key })],
  ])('refuses %s, and never shows the content', (_, text) => {
    let message = '';
    try {
      parseRing(text);
    } catch (error) {
      message =
        error instanceof TypeError ? `${error.message} ${String(error.cause)}` : 'no TypeError';
    }
    expect(message).toMatch(/^key ring: /);
    expect(message).not.toContain(CANARY.slice(0, 6));
    expect(message).not.toContain(GOOD.key.slice(0, 6));
  });

  it('shows nothing of a file that cannot be read either', () => {
    const path = createPath();
    mkdirSync(join(path), { recursive: true });
    chmodSync(path, 0o700);
    expect(() => createKeyRingFile(path, () => NOON).read()).toThrow(/EISDIR/);
  });
});

interface Sealed {
  readonly stored: StoredSession;
  readonly handle: SessionHandle;
  readonly absoluteEnd: number;
}

/** Two rings, each with its own copy of the file; `deliver` brings the second copy up to date. */
function openTwoMachines() {
  const clock = new Clock();
  const [here, there] = [createPath(), createPath()];
  createKeyRingFile(here, clock.now).read();
  mkdirSync(dirname(there));
  const deliver = () => copyFileSync(here, there);
  deliver();
  const rings = [here, there].map(
    (path) => openRing(createKeyRingFile(path, clock.now), clock).ring,
  );
  return { clock, here, deliver, rings };
}

function sealSession(ring: KeyRing, now: number): Sealed {
  const handle = createSessionHandle();
  const session: Session = {
    principal: ADA_SIGNS_IN.principal,
    user: ADA_SIGNS_IN.user,
    claims: {},
    sid: undefined,
    id: handle.id,
    generation: 1,
    createdAt: now,
    lastUsedAt: now,
    absoluteEnd: now + WEEK_MS,
    idleTimeoutMs: LIFETIMES.idleTimeoutMs,
    revalidateAt: undefined,
    confirmedUntil: undefined,
    validUntil: undefined,
    signInAt: 0,
    address: '',
    browser: '',
  };
  return {
    stored: toStoredSession(ring, session, TOKENS, handle),
    handle,
    absoluteEnd: session.absoluteEnd,
  };
}

function opens(ring: KeyRing, { stored, handle }: Sealed): boolean {
  return (
    openSession(ring, stored, handle) !== undefined &&
    openTokens(ring, stored, handle) !== undefined
  );
}

describe('a rotation that two machines see 90 s apart', () => {
  it('ends no session: whatever either seals opens in both as long as it may live', () => {
    const { clock, here, deliver, rings } = openTwoMachines();
    const sealed = Array.from({ length: 100 }, (_, index) =>
      sealSession(rings[index % 2] as KeyRing, NOON),
    );
    const kids = new Set<string>();
    const rotatedAt = NOON + 60_000;
    const steps = [
      ...Array.from({ length: 40 }, (_, index) => index * 30_000),
      ...Array.from({ length: 48 }, (_, index) => 1_200_000 + index * 6 * 3_600_000),
      WEEK_MS - 1,
      SEALS_AFTER_MS + WEEK_MS,
      2 * WEEK_MS,
    ].toSorted((a, b) => a - b);
    for (const step of steps) {
      clock.set(NOON + step);
      if (clock.now() === rotatedAt) rotateKeyRingFile(here, clock.now(), WEEK_MS);
      if (clock.now() === rotatedAt + 90_000) deliver();
      for (const ring of rings) {
        sealed.push(sealSession(ring, clock.now()));
        kids.add(ring.sealingKey('session-metadata').kid);
      }
      for (const session of sealed.filter(({ absoluteEnd }) => clock.now() < absoluteEnd))
        for (const ring of rings) expect(opens(ring, session), `at ${step}`).toBe(true);
    }
    expect(kids.size).toBe(2);
  });

  it('would sign people out without the ten minutes: what a machine has not heard of it cannot open', () => {
    const { clock, here, rings } = openTwoMachines();
    rotateKeyRingFile(here, clock.now(), WEEK_MS);
    clock.advance(SEALS_AFTER_MS - 1);
    const [ring, late] = rings as [KeyRing, KeyRing];
    expect(opens(late, sealSession(ring, clock.now()))).toBe(true);
    clock.advance(1_001);
    expect(opens(late, sealSession(ring, clock.now()))).toBe(false);
  });

  it('ends at once what the old key sealed when that is taken out, and nothing else', () => {
    const { clock, here, deliver, rings } = openTwoMachines();
    const old = Array.from({ length: 100 }, (_, index) =>
      sealSession(rings[index % 2] as KeyRing, NOON),
    );
    const kid = rotateKeyRingFile(here, clock.now(), WEEK_MS);
    deliver();
    clock.advance(SEALS_AFTER_MS);
    const young = rings.map((ring) => sealSession(ring, clock.now()));
    for (const session of [...old, ...young])
      for (const ring of rings) expect(opens(ring, session)).toBe(true);

    const document = JSON.parse(readFileSync(here, 'utf8')) as { keys: { kid: string }[] };
    writeFileSync(here, JSON.stringify({ keys: document.keys.filter((key) => key.kid === kid) }));
    deliver();
    clock.advance(1_000);
    for (const ring of rings) {
      expect(old.filter((session) => opens(ring, session))).toEqual([]);
      expect(young.filter((session) => opens(ring, session))).toHaveLength(2);
    }
  });
});
