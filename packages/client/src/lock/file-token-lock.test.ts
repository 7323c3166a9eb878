import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { Clock } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import { createFileTokenLock } from './file-token-lock.ts';
import { LockFile } from './lock-file.ts';
import type { ProcessIdentity, ProcessTable } from './process-identity.ts';
import type { TokenLock } from './token-lock.ts';

const NAME = 'a'.repeat(64);

/** Processes that live and die by a test's word, waiting in a time that only it moves. */
class Processes {
  readonly folder: string = join(createTemporaryFolder(), 'tokens');
  readonly clock = new Clock();
  /** Milliseconds of a monotonic clock. */
  elapsed = 0;
  readonly #ended = new Set<number>();
  readonly #beats = new Map<number, Set<() => void>>();
  readonly #releases = new Map<number, Set<() => void>>();
  /** Called for each look that found the lock held. */
  onWait: (pid: number) => void = () => undefined;

  /** The lock as a process has it. */
  create(pid: number, place = 'here', startTime = '1'): TokenLock {
    const self: ProcessIdentity = { pid, place, startTime };
    const beats = new Set<() => void>();
    const releases = new Set<() => void>();
    this.#beats.set(pid, beats);
    this.#releases.set(pid, releases);
    const processes: ProcessTable = {
      self,
      hasEnded: (other) =>
        other.place === place &&
        (this.#ended.has(other.pid) || (other.pid === pid && other.startTime !== startTime)),
    };
    return createFileTokenLock({
      folder: this.folder,
      now: this.clock.now,
      processes,
      elapsed: () => this.elapsed,
      wait: async (ms, signal) => {
        this.clock.advance(ms);
        this.elapsed += ms;
        this.onWait(pid);
        signal?.throwIfAborted();
      },
      every: (_ms, beat) => {
        beats.add(beat);
        return () => beats.delete(beat);
      },
      releaseAtExit: (release) => {
        releases.add(release);
        return () => releases.delete(release);
      },
    });
  }

  /** Every living process gives a sign of life. */
  beat(...pids: number[]): void {
    for (const pid of pids) for (const beat of this.#beats.get(pid) ?? []) beat();
  }

  /** As SIGKILL does: nothing is released. */
  kill(pid: number): void {
    this.#ended.add(pid);
  }

  /** As `process.exit` does. */
  exit(pid: number): void {
    for (const release of this.#releases.get(pid) ?? []) release();
    this.#ended.add(pid);
  }

  files(): string[] {
    return readdirSync(this.folder);
  }
}

const WAIT = { waitMs: 60_000 };
const NO_WAIT = { waitMs: 0 };
const TIMEOUT: unknown = expect.objectContaining({ code: 'SP_TOKEN_LOCK_TIMEOUT' });

describe('Token lock across processes', () => {
  it('keeps a second process out until the first releases it', async () => {
    const all = new Processes();
    const lease = await all.create(1).acquire(NAME, NO_WAIT);
    await expect(all.create(2).acquire(NAME, NO_WAIT)).rejects.toEqual(TIMEOUT);
    lease.release();
    expect((await all.create(2).acquire(NAME, NO_WAIT)).isHeld()).toBe(true);
  });

  it('the locks of two names do not hold each other up', async () => {
    const lock = new Processes().create(1);
    await lock.acquire(NAME, NO_WAIT);
    expect((await lock.acquire('b'.repeat(64), NO_WAIT)).isHeld()).toBe(true);
  });

  it('keeps a second user in the same process out too', async () => {
    const lock = new Processes().create(1);
    await lock.acquire(NAME, NO_WAIT);
    await expect(lock.acquire(NAME, NO_WAIT)).rejects.toEqual(TIMEOUT);
  });

  it('leaves no file behind once it is free', async () => {
    const all = new Processes();
    const lease = await all.create(1).acquire(NAME, NO_WAIT);
    expect(all.files()).toHaveLength(1);
    lease.release();
    lease.release();
    expect(all.files()).toEqual([]);
    expect(lease.isHeld()).toBe(false);
  });

  it('a second release does not free the lock of the next holder', async () => {
    const all = new Processes();
    const first = await all.create(1).acquire(NAME, NO_WAIT);
    first.release();
    const second = await all.create(2).acquire(NAME, NO_WAIT);
    first.release();
    expect(second.isHeld()).toBe(true);
  });

  it('is taken over at once from a process that was killed, and freed completely afterwards', async () => {
    const all = new Processes();
    await all.create(1).acquire(NAME, NO_WAIT);
    all.kill(1);
    const second = await all.create(2).acquire(NAME, NO_WAIT);
    await expect(all.create(3).acquire(NAME, NO_WAIT)).rejects.toEqual(TIMEOUT);
    all.kill(2);
    const third = await all.create(3).acquire(NAME, NO_WAIT);
    expect([second.isHeld(), third.isHeld()]).toEqual([false, true]);
    third.release();
    expect(all.files()).toEqual([]);
  });

  it('is taken over at once when the number of the holder is another process by now', async () => {
    const all = new Processes();
    await all.create(1, 'here', '1').acquire(NAME, NO_WAIT);
    expect((await all.create(1, 'here', '2').acquire(NAME, NO_WAIT)).isHeld()).toBe(true);
  });

  it('is free at once after an exit', async () => {
    const all = new Processes();
    await all.create(1).acquire(NAME, NO_WAIT);
    all.exit(1);
    expect(all.files()).toEqual([]);
  });

  it('is taken over after 15 seconds from a holder elsewhere that gives no sign of life', async () => {
    const all = new Processes();
    await all.create(1, 'another container').acquire(NAME, NO_WAIT);
    all.kill(1);
    const lease = await all.create(2).acquire(NAME, WAIT);
    expect(lease.isHeld()).toBe(true);
    expect(all.elapsed).toBe(15_000);
  });

  it('is never taken over from a holder elsewhere that gives signs of life', async () => {
    const all = new Processes();
    const held = await all.create(1, 'another container').acquire(NAME, NO_WAIT);
    let looks = 0;
    all.onWait = () => {
      looks += 1;
      if (looks % 40 === 0) all.beat(1);
    };
    await expect(all.create(2).acquire(NAME, WAIT)).rejects.toEqual(TIMEOUT);
    expect(looks).toBe(1_200);
    expect(held.isHeld()).toBe(true);
  });

  it.each([-86_400_000, 86_400_000])(
    'a clock that is set by %i ms makes no holder look silent',
    async (jump) => {
      const all = new Processes();
      const held = await all.create(1, 'another container').acquire(NAME, NO_WAIT);
      let looks = 0;
      all.onWait = () => {
        looks += 1;
        if (looks === 10) all.clock.advance(jump);
        if (looks % 40 === 0) all.beat(1);
      };
      await expect(all.create(2).acquire(NAME, WAIT)).rejects.toEqual(TIMEOUT);
      expect(held.isHeld()).toBe(true);
    },
  );

  it('a waiting process that slept itself does not take a holder for silent that slept with it', async () => {
    const all = new Processes();
    const held = await all.create(1, 'another container').acquire(NAME, NO_WAIT);
    let looks = 0;
    all.onWait = () => {
      looks += 1;
      if (looks === 10) all.elapsed += 3_600_000;
      if (looks % 40 === 0) all.beat(1);
    };
    await expect(all.create(2).acquire(NAME, { waitMs: 3_630_000 })).rejects.toEqual(TIMEOUT);
    expect(held.isHeld()).toBe(true);
  });

  it('a holder that lost the lock knows it, gives no signs of life for the next one, and frees nothing', async () => {
    const all = new Processes();
    const lost = await all.create(1, 'another container').acquire(NAME, NO_WAIT);
    const next = await all.create(2).acquire(NAME, WAIT);
    expect([lost.isHeld(), next.isHeld()]).toEqual([false, true]);
    all.beat(1);
    lost.release();
    expect(next.isHeld()).toBe(true);
    await expect(all.create(3).acquire(NAME, NO_WAIT)).rejects.toEqual(TIMEOUT);
  });

  it.each(['', '{', '{"version":2}', '{"version":1,"pid":-1,"startTime":"","place":""}'])(
    'a lock file that holds %j is waited for, and then taken over',
    async (text) => {
      const all = new Processes();
      mkdirSync(all.folder, { mode: 0o700 });
      writeFileSync(join(all.folder, `${NAME}.lock`), text, { mode: 0o600 });
      await expect(all.create(1).acquire(NAME, NO_WAIT)).rejects.toEqual(TIMEOUT);
      const lease = await all.create(1).acquire(NAME, WAIT);
      lease.release();
      expect(all.files()).toEqual([]);
    },
  );

  it('an abort ends the wait with its reason, and takes nothing', async () => {
    const all = new Processes();
    await all.create(1).acquire(NAME, NO_WAIT);
    const controller = new AbortController();
    all.onWait = () => controller.abort(new Error('enough'));
    await expect(
      all.create(2).acquire(NAME, { ...WAIT, signal: controller.signal }),
    ).rejects.toThrow('enough');
    await expect(
      all.create(3).acquire(NAME, { ...WAIT, signal: controller.signal }),
    ).rejects.toThrow('enough');
    expect(all.files()).toHaveLength(1);
  });

  it('a holder that lost the lock makes no later holder look alive', async () => {
    const all = new Processes();
    await all.create(1, 'another container').acquire(NAME, NO_WAIT);
    (await all.create(2).acquire(NAME, WAIT)).release();
    await all.create(3, 'another container').acquire(NAME, NO_WAIT);
    all.onWait = () => all.beat(1);
    expect((await all.create(4).acquire(NAME, WAIT)).isHeld()).toBe(true);
  });

  it('a folder that vanishes under the lock is no error of its holder, who has lost it', async () => {
    const all = new Processes();
    const lease = await all.create(1).acquire(NAME, NO_WAIT);
    rmSync(all.folder, { recursive: true });
    all.beat(1);
    expect(lease.isHeld()).toBe(false);
    expect(() => lease.release()).not.toThrow();
  });

  it('says which process holds it', async () => {
    const all = new Processes();
    await all.create(4_711).acquire(NAME, NO_WAIT);
    await expect(all.create(2).acquire(NAME, NO_WAIT)).rejects.toThrow('(process 4711)');
  });

  it('a folder that cannot be used is an error that says so', async () => {
    const file = join(createTemporaryFolder(), 'file');
    writeFileSync(file, '');
    const lock = createFileTokenLock({ folder: join(file, 'tokens'), now: () => 0 });
    await expect(lock.acquire(NAME, NO_WAIT)).rejects.toMatchObject({
      code: 'SP_TOKEN_STORE_UNUSABLE',
    });
  });

  it('sweeps away what processes left that died half way, and nothing else', async () => {
    const all = new Processes();
    mkdirSync(all.folder, { mode: 0o700 });
    for (const name of [`${NAME}.dead.draft`, `${NAME}.0123.next`, `${NAME}.json`, 'b.dead.draft'])
      writeFileSync(join(all.folder, name), '', { mode: 0o600 });
    await all.create(1).acquire(NAME, NO_WAIT);
    expect(all.files().sort()).toEqual([`${NAME}.json`, `${NAME}.lock`, 'b.dead.draft']);
  });
});

describe('Lock file', () => {
  const self: ProcessIdentity = { pid: 1, startTime: '1', place: 'here' };

  it('of 20 that take over from the same holder one succeeds', () => {
    const file = new LockFile(createTemporaryFolder(), NAME);
    const dead = file.take(undefined, self);
    const winners = Array.from({ length: 20 }, () => file.take(dead, self)).filter(
      (note) => note !== undefined,
    );
    expect(winners).toHaveLength(1);
    expect(file.holder()?.id).toBe(winners[0]?.id);
  });

  it('of 20 that take a free lock one succeeds', () => {
    const file = new LockFile(createTemporaryFolder(), NAME);
    const notes = Array.from({ length: 20 }, () => file.take(undefined, self));
    expect(notes.filter((note) => note !== undefined)).toHaveLength(1);
  });

  it('no process takes over from a holder that freed it meanwhile, nor from the one after', () => {
    const folder = createTemporaryFolder();
    const file = new LockFile(folder, NAME);
    const first = file.take(undefined, self);
    if (first === undefined) throw new Error('not taken');
    file.free(first, self);
    expect(file.take(first, self)).toBeUndefined();
    const second = file.take(undefined, self);
    expect(file.take(first, self)).toBeUndefined();
    expect(file.holder()?.id).toBe(second?.id);
    expect(readdirSync(folder)).toEqual([`${NAME}.lock`]);
  });

  it('what is written down holds no more than which process it is', () => {
    const folder = createTemporaryFolder();
    new LockFile(folder, NAME).take(undefined, self);
    const note = JSON.parse(readFileSync(join(folder, `${NAME}.lock`), 'utf8')) as object;
    expect(Object.keys(note).sort()).toEqual(['pid', 'place', 'random', 'startTime', 'version']);
  });
});
