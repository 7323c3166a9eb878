import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { SallyportError } from '@sallyport/protocol';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Append, type AuditFileOptions, openAuditFile } from './audit-file.ts';

function setup(overrides: Partial<AuditFileOptions> = {}) {
  const path = join(createTemporaryFolder(), 'audit.jsonl');
  const timers = new ClockTimers(new Clock());
  const failures: unknown[] = [];
  const recoveries: number[] = [];
  const instead: string[] = [];
  const open = () =>
    openAuditFile({
      path,
      schedule: timers.schedule,
      onFailure: (cause) => failures.push(cause),
      onRecovery: (elsewhere) => recoveries.push(elsewhere),
      ...overrides,
    });
  const file = open();
  const write = (...names: readonly string[]) => {
    for (const name of names) file.write(`${name}\n`, () => instead.push(name));
  };
  return { path, timers, failures, recoveries, instead, file, open, write };
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const has = (path: string, line: string) =>
  expect.poll(() => (existsSync(path) ? linesOf(path) : []), { timeout: 10_000 }).toContain(line);

describe('the file', () => {
  it('may be a pipe that a process reads; one without a reader is refused and delays nothing', async () => {
    const path = join(createTemporaryFolder(), 'audit.pipe');
    execFileSync('mkfifo', [path]);
    expect(() => setup({ path })).toThrow(
      expect.objectContaining({
        code: 'SP_AUDIT_UNUSABLE',
        cause: expect.objectContaining({ code: 'ENXIO' }) as unknown,
      }),
    );
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(reader));
    const { file, write } = setup({ path });
    write('one', 'two');
    await file.close();
    expect(readFileSync(reader, 'utf8')).toBe('one\ntwo\n');
  });

  it('is made for its owner alone, and appended to where it is there', async () => {
    const { path, file, open, write } = setup();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    write('one', 'two');
    await file.close();
    chmodSync(path, 0o640);
    const again = open();
    again.write('three\n', () => {});
    await again.close();
    expect(linesOf(path)).toEqual(['one', 'two', 'three']);
    // The mode of an existing file stays: its owner chose who may read it.
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it.each<readonly [string, (path: string) => string, string]>([
    [
      'missing folder',
      (path) => join(path, 'none', 'audit.jsonl'),
      'no such folder; make it, and let this user write in it',
    ],
    ['folder in its place', (path) => path, 'it is a folder; name a file in it'],
    [
      'file in the place of its folder',
      (path) => {
        writeFileSync(join(path, 'file'), '');
        return join(path, 'file', 'audit.jsonl');
      },
      'a part of its path is a file and no folder',
    ],
    [
      'pipe without a reader',
      (path) => {
        execFileSync('mkfifo', [join(path, 'audit.pipe')]);
        return join(path, 'audit.pipe');
      },
      'it is a pipe without a reader, or a socket; start what reads the pipe first',
    ],
  ])(
    'that cannot be opened is reported at once, with its path and the reason: %s',
    (_, make, why) => {
      const path = make(createTemporaryFolder());
      const open = () => setup({ path });
      expect(open).toThrow(SallyportError);
      expect(open).toThrow(
        `SP_AUDIT_UNUSABLE (${path}): observe.audit.file cannot be opened for appending: ${why}`,
      );
    },
  );

  it('is not made for a user that may not own it', () => {
    const path = join(createTemporaryFolder(), 'audit.jsonl');
    expect(() => setup({ path, mayCreate: false })).toThrow(
      `SP_AUDIT_UNUSABLE (${path}): observe.audit.file cannot be opened for appending: no such file`,
    );
    expect(existsSync(path)).toBe(false);
  });

  it('has nothing written to it in the turn that writes, and everything when it is closed', async () => {
    const { path, file, write } = setup();
    const names = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
    write(...names);
    expect(linesOf(path)).toEqual([]);
    await file.close();
    expect(linesOf(path)).toEqual(names);
  });

  it('takes nothing any more when it is closed: what comes then is handed back', async () => {
    const { path, file, write, instead } = setup();
    await file.close();
    await file.close();
    write('late');
    expect([instead, linesOf(path), file.elsewhere, file.waiting]).toEqual([['late'], [], 1, 0]);
  });

  it('of several writers has their lines whole, each one once', async () => {
    const { path, open, file } = setup();
    const writers = [file, open(), open()];
    const text = 'x'.repeat(700);
    for (let round = 0; round < 500; round += 1) {
      for (const [index, writer] of writers.entries())
        writer.write(`${index} ${round} ${text}\n`, () => {});
      if (round % 50 === 0) await new Promise(setImmediate);
    }
    await Promise.all(writers.map((writer) => writer.close()));
    const expected = writers.flatMap((_, index) =>
      Array.from({ length: 500 }, (__, round) => `${index} ${round} ${text}`),
    );
    expect(linesOf(path).toSorted()).toEqual(expected.toSorted());
  });
});

describe('a rotation', () => {
  it('is followed at once on the signal, and nothing is lost between the files', async () => {
    const { path, file, write } = setup();
    write('one');
    await has(path, 'one');
    renameSync(path, `${path}.1`);
    write('two');
    file.reopen();
    write('three');
    await file.close();
    expect([...linesOf(`${path}.1`), ...linesOf(path)]).toEqual(['one', 'two', 'three']);
    expect(linesOf(path)).toContain('three');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is followed also while nothing is written, so that the old file is let go', async () => {
    const { path, file } = setup();
    renameSync(path, `${path}.1`);
    file.reopen();
    await expect.poll(() => existsSync(path), { timeout: 10_000 }).toBe(true);
    await file.close();
  });

  it('without a signal is seen within a second of writing', async () => {
    const { path, file, timers, write } = setup();
    write('one');
    await has(path, 'one');
    renameSync(path, `${path}.1`);
    write('two');
    await has(`${path}.1`, 'two');
    await timers.advance(1_000);
    write('three');
    await has(path, 'three');
    await file.close();
    expect([linesOf(`${path}.1`), linesOf(path)]).toEqual([['one', 'two'], ['three']]);
  });

  it('by another file in its place is followed too, and a file that stays is not opened again', async () => {
    const { path, file, timers, write } = setup();
    write('one');
    await has(path, 'one');
    const { ino } = statSync(path);
    await timers.advance(1_000);
    write('two');
    await has(path, 'two');
    expect(statSync(path).ino).toBe(ino);
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'of another process\n');
    await timers.advance(1_000);
    write('three');
    await has(path, 'three');
    await file.close();
    expect(linesOf(path)).toEqual(['of another process', 'three']);
  });
});

describe('a folder that is gone', () => {
  it('is reported once and not as coming and going, and what waited is written when it is back', async () => {
    const folder = join(createTemporaryFolder(), 'logs');
    mkdirSync(folder);
    const path = join(folder, 'audit.jsonl');
    const { file, timers, failures, recoveries, write } = setup({ path });
    renameSync(folder, `${folder}.1`);
    file.reopen();
    write('one');
    for (let count = 1; count <= 5; count += 1) {
      await expect.poll(() => file.failures, { timeout: 10_000 }).toBe(count);
      await timers.advance(1_000);
    }
    expect(failures).toEqual([expect.objectContaining({ code: 'ENOENT' })]);
    expect(recoveries).toEqual([]);
    mkdirSync(folder);
    // An attempt from before may still be under way, and fail.
    await expect
      .poll(
        async () => {
          await timers.advance(1_000);
          return existsSync(path) ? linesOf(path) : [];
        },
        { timeout: 10_000 },
      )
      .toContain('one');
    await file.close();
    expect(recoveries).toEqual([0]);
  });
});

describe('a full disk', () => {
  /** A link to a device on which every write fails, which can be put right. */
  function setupFull() {
    const folder = createTemporaryFolder();
    const path = join(folder, 'audit.jsonl');
    symlinkSync('/dev/full', path);
    const repair = () => {
      rmSync(path);
      appendFileSync(path, '');
    };
    return { ...setup({ path }), path, repair };
  }
  const settledFailures = (file: { readonly failures: number }, count: number) =>
    expect.poll(() => file.failures, { timeout: 10_000 }).toBe(count);

  it('is reported once, tried again each second, and delays no writer', async () => {
    const { file, timers, failures, instead, write } = setupFull();
    write('one');
    await settledFailures(file, 1);
    write('two');
    await timers.advance(1_000);
    await settledFailures(file, 2);
    expect(failures).toEqual([expect.objectContaining({ code: 'ENOSPC' })]);
    expect(instead).toEqual([]);
    await file.close();
  });

  it('loses nothing: what waits is written when there is room, and said to be', async () => {
    const { path, repair, file, recoveries, instead, write } = setupFull();
    write('one', 'two');
    await settledFailures(file, 1);
    repair();
    file.reopen();
    await has(path, 'two');
    await file.close();
    // A line may have been cut off by the write that failed last: the next one begins on a line of its own.
    expect(linesOf(path).filter((line) => line !== '')).toEqual(['one', 'two']);
    expect([recoveries, instead]).toEqual([[0], []]);
  });

  it('holds no more than 4 MiB: what comes then is handed back, and counted when there is room again', async () => {
    const { path, repair, file, recoveries, instead, write } = setupFull();
    const big = 'x'.repeat(1024 * 1024 - 1);
    write(big, big, big, big);
    await settledFailures(file, 1);
    write('over');
    expect([instead, file.elsewhere]).toEqual([['over'], 1]);
    // What was handed back does not wait.
    expect(file.waiting).toBe(4);
    repair();
    file.reopen();
    await expect.poll(() => recoveries, { timeout: 10_000 }).toEqual([1]);
    write('after');
    await has(path, 'after');
    await expect.poll(() => file.waiting, { timeout: 10_000 }).toBe(0);
    await file.close();
    expect(linesOf(path).filter((line) => line !== '')).toEqual([big, big, big, big, 'after']);
  });

  it('at the end hands back what waits, and ends all the same', async () => {
    const { file, instead, write } = setupFull();
    write('one', 'two');
    await settledFailures(file, 1);
    await file.close();
    expect(instead).toEqual(['one', 'two']);
  });
});

describe('a line that was cut off', () => {
  /** Lets so many bytes of the first write through; the next one fails, and then there is room. */
  function setupTorn(room: number) {
    let calls = 0;
    const append: Append = async (descriptor, bytes) => {
      calls += 1;
      if (calls === 1) return writeSync(descriptor, bytes, 0, room);
      if (calls === 2) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      return writeSync(descriptor, bytes);
    };
    return setup({ append });
  }

  it('stands there again, whole, on a line of its own; those before it only once', async () => {
    const { path, file, timers, failures, write } = setupTorn('one\ntw'.length);
    write('one', 'two', 'three');
    await expect.poll(() => failures.length, { timeout: 10_000 }).toBe(1);
    expect(readFileSync(path, 'utf8')).toBe('one\ntw');
    await timers.advance(1_000);
    await has(path, 'three');
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('one\ntw\ntwo\nthree\n');
  });

  it('may be another process’s: after a failure the next line begins on a line of its own', async () => {
    const { path, file, timers, failures, write } = setupTorn('one\n'.length);
    write('one');
    await has(path, 'one');
    write('two');
    await expect.poll(() => failures.length, { timeout: 10_000 }).toBe(1);
    appendFileSync(path, 'thr');
    await timers.advance(1_000);
    await has(path, 'two');
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('one\nthr\ntwo\n');
  });
});
