import { setImmediate as settled } from 'node:timers/promises';
import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { RefreshedValue } from './refreshed-value.ts';

interface Task {
  readonly afterMs: number;
  readonly callback: () => void;
  isCalledOff: boolean;
}

async function up(): Promise<string> {
  return 'first';
}

/** An IdP whose answers the test sets, and a schedule that the test runs. */
function setup(random = 0) {
  const tasks: Task[] = [];
  const reported: { failures: unknown[]; values: string[] } = { failures: [], values: [] };
  let answer: () => Promise<string> = up;
  let loads = 0;
  const metadata = new RefreshedValue<string>({
    load: async () => {
      loads += 1;
      return answer();
    },
    schedule: (afterMs, callback) => {
      const task: Task = { afterMs, callback, isCalledOff: false };
      tasks.push(task);
      return () => {
        task.isCalledOff = true;
      };
    },
    random: () => random,
    onFailure: (cause) => reported.failures.push(cause),
    onLoaded: (value) => reported.values.push(value),
  });
  /** The one task that is still to come. */
  const next = (): Task => {
    const left = tasks.filter((task) => !task.isCalledOff);
    expect(left).toHaveLength(1);
    return left[0] as Task;
  };
  return {
    metadata,
    reported,
    next,
    left: () => tasks.filter((task) => !task.isCalledOff).length,
    loads: () => loads,
    answerWith: (given: () => Promise<string>) => {
      answer = given;
    },
    /** Lets the time of the next task come. */
    run: async () => {
      const task = next();
      task.isCalledOff = true;
      task.callback();
      await settled();
      return task.afterMs;
    },
  };
}

const down = async () =>
  Promise.reject(new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' }));
const bad = async () => Promise.reject(new Error('answers nonsense'));

describe('RefreshedValue', () => {
  it('loads at start, in the background, and refreshes every ten minutes', async () => {
    const { metadata, reported, next, run, answerWith } = setup();
    expect(metadata.current).toBeUndefined();
    metadata.start();
    expect(metadata.current).toBeUndefined();
    await settled();
    expect(metadata.current).toBe('first');
    expect(next().afterMs).toBe(600_000);
    answerWith(async () => 'second');
    expect(await run()).toBe(600_000);
    expect(metadata.current).toBe('second');
    expect(next().afterMs).toBe(600_000);
    expect(reported).toEqual({ failures: [], values: ['first', 'second'] });
  });

  it('loads nothing before it is asked to', async () => {
    const { loads, left } = setup();
    await settled();
    expect([loads(), left()]).toEqual([0, 0]);
  });

  it('tries again after 1, 2, 4, 8, 16 and then every 30 seconds, and reports each failure', async () => {
    const { metadata, reported, run, answerWith } = setup();
    answerWith(down);
    metadata.start();
    await settled();
    const waited: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) waited.push(await run());
    expect(waited).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(reported.failures).toHaveLength(9);
    expect(metadata.current).toBeUndefined();
  });

  it('tries again after 1, 2 and 4 and then every 5 seconds while the answers are bad, and takes the first good one', async () => {
    const { metadata, run, next, answerWith } = setup();
    metadata.start();
    await settled();
    answerWith(bad);
    await run();
    const waited: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) waited.push(await run());
    expect(waited).toEqual([1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000, 5_000]);
    expect(metadata.current).toBe('first');
    answerWith(async () => 'mended');
    await run();
    expect(metadata.current).toBe('mended');
    expect(next().afterMs).toBe(600_000);
  });

  it('leaves out up to a fifth of each pause, so that not all processes ask at once', async () => {
    const { metadata, next, run, answerWith } = setup(0.5);
    metadata.start();
    await settled();
    expect(next().afterMs).toBe(540_000);
    answerWith(bad);
    await run();
    expect(next().afterMs).toBe(900);
  });

  it('starts with short pauses again after it got through', async () => {
    const { metadata, run, next, answerWith } = setup();
    answerWith(down);
    metadata.start();
    await settled();
    for (let attempt = 0; attempt < 4; attempt += 1) await run();
    answerWith(async () => 'value');
    await run();
    expect(next().afterMs).toBe(600_000);
    answerWith(down);
    await run();
    expect(next().afterMs).toBe(1_000);
  });

  it('keeps the last good value while the IdP is down', async () => {
    const { metadata, reported, run, answerWith } = setup();
    metadata.start();
    await settled();
    answerWith(down);
    for (let attempt = 0; attempt < 20; attempt += 1) await run();
    expect(metadata.current).toBe('first');
    expect(await metadata.need()).toBe('first');
    expect(reported.values).toEqual(['first']);
  });

  it('makes one attempt at a time, for all callers', async () => {
    const { metadata, loads, answerWith } = setup();
    const { promise, resolve } = Promise.withResolvers<string>();
    answerWith(() => promise);
    metadata.start();
    const asked = Array.from({ length: 100 }, () => metadata.need());
    await settled();
    expect(loads()).toBe(1);
    resolve('value');
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['value']));
    expect(loads()).toBe(1);
  });

  it('tries at once when it is needed and not there, and says so when that failed', async () => {
    const { metadata, loads, next, answerWith } = setup();
    answerWith(down);
    expect(await metadata.need()).toBeUndefined();
    expect(await metadata.need()).toBeUndefined();
    expect(loads()).toBe(2);
    answerWith(async () => 'value');
    expect(await metadata.need()).toBe('value');
    expect(await metadata.need()).toBe('value');
    expect(loads()).toBe(3);
    expect(next().afterMs).toBe(600_000);
  });

  it('is not put off by people who keep asking: their attempts move nothing of the schedule', async () => {
    const { metadata, run, next, answerWith } = setup();
    answerWith(down);
    metadata.start();
    await settled();
    const task = next();
    for (let ask = 0; ask < 20; ask += 1) await metadata.need();
    expect(next()).toBe(task);
    expect(await run()).toBe(1_000);
    expect(next().afterMs).toBe(2_000);
  });

  it('goes on trying when its time comes while an attempt of a caller is under way, and that fails', async () => {
    const { metadata, loads, run, next, answerWith } = setup();
    answerWith(down);
    metadata.start();
    await settled();
    const { promise, reject } = Promise.withResolvers<string>();
    answerWith(() => promise);
    const needed = metadata.need();
    await run();
    expect(loads()).toBe(2);
    reject(new Error('down'));
    expect(await needed).toBeUndefined();
    expect(next().afterMs).toBe(2_000);
    answerWith(async () => 'value');
    await run();
    expect(metadata.current).toBe('value');
  });

  it('is loaded again on request, once for all who ask meanwhile', async () => {
    const { metadata, next, loads, answerWith } = setup();
    metadata.start();
    await settled();
    answerWith(async () => 'second');
    await Promise.all([metadata.reload(), metadata.reload()]);
    expect(loads()).toBe(2);
    expect(metadata.current).toBe('second');
    expect(next().afterMs).toBe(600_000);
  });

  it('keeps the value when getting it anew fails, and the schedule as it was', async () => {
    const { metadata, next, reported, answerWith } = setup();
    metadata.start();
    await settled();
    const before = next();
    answerWith(down);
    await metadata.reload();
    expect(metadata.current).toBe('first');
    expect(next()).toBe(before);
    expect(reported.failures).toHaveLength(1);
  });

  it('stops when it is closed: nothing is scheduled any more, the value stays', async () => {
    const { metadata, left } = setup();
    metadata.start();
    await settled();
    expect(left()).toBe(1);
    metadata.close();
    expect(left()).toBe(0);
    expect(metadata.current).toBe('first');
  });

  it('ignores an answer that comes after it was closed', async () => {
    const { metadata, reported, left, answerWith } = setup();
    const { promise, resolve } = Promise.withResolvers<string>();
    answerWith(() => promise);
    metadata.start();
    metadata.close();
    resolve('late');
    await settled();
    expect(metadata.current).toBeUndefined();
    expect([left(), reported.values]).toEqual([0, []]);
  });

  it('is silent about a failure after it was closed', async () => {
    const { metadata, reported, left, answerWith } = setup();
    const { promise, reject } = Promise.withResolvers<string>();
    answerWith(() => promise);
    metadata.start();
    metadata.close();
    reject(new Error('late'));
    await settled();
    expect([left(), reported.failures]).toEqual([0, []]);
  });
});
