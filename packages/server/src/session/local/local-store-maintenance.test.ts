import { settled } from '@sallyport/testing/time/clock-timers';
import { Timers } from '@sallyport/testing/time/timers';
import { describe, expect, it } from 'vitest';
import {
  createStoreMaintenance,
  type MaintenanceListener,
  type MaintenanceOrder,
} from './local-store-maintenance.ts';

const ORDER: MaintenanceOrder = { time: 1, limit: 1 };
const CAUSE = Object.assign(new Error('no memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
const FAILED = { code: 'SP_THREAD_FAILED', component: 'store:local', cause: CAUSE };
const START_LIMIT_MS = 30_000;

/** A thread that does what the test says. */
class FakeThread {
  readonly listener: MaintenanceListener;
  readonly orders: MaintenanceOrder[] = [];
  isHolding = false;
  isTerminated = false;

  constructor(listener: MaintenanceListener) {
    this.listener = listener;
  }
  post(order: MaintenanceOrder): void {
    this.orders.push(order);
  }
  ref(): void {
    this.isHolding = true;
  }
  unref(): void {
    this.isHolding = false;
  }
  terminate(): void {
    this.isTerminated = true;
  }
  begin(): void {
    this.listener.message('running');
  }
  answer(...swept: readonly number[]): void {
    this.listener.message({ ok: true, swept });
  }
  fail(): void {
    this.listener.end(CAUSE);
  }
}

function setup() {
  const timers = new Timers();
  const threads: FakeThread[] = [];
  const reported: unknown[] = [];
  let refusal: Error | undefined;
  const maintenance = createStoreMaintenance({
    path: '/nowhere',
    schedule: timers.schedule,
    onThread: (cause) => reported.push(cause),
    createThread(_, listener) {
      if (refusal !== undefined) throw refusal;
      const thread = new FakeThread(listener);
      threads.push(thread);
      return thread;
    },
  });
  return {
    timers,
    threads,
    reported,
    maintenance,
    refuse: (cause: Error | undefined) => {
      refusal = cause;
    },
    last() {
      const thread = threads.at(-1);
      if (thread === undefined) throw new TypeError('there is no thread');
      return thread;
    },
  };
}

describe('The start of the maintenance thread', () => {
  it('is done once it runs, and keeps the process alive only until then', async () => {
    const { maintenance, timers, last, reported } = setup();
    let isDone = false;
    const started = maintenance.start().finally(() => {
      isDone = true;
    });
    await settled();
    expect([isDone, last().isHolding]).toEqual([false, true]);
    last().begin();
    await started;
    expect([last().isHolding, timers.waiting, reported]).toEqual([false, [], []]);
  });

  it('fails by name when it cannot be created, ends before it runs, or does not begin in time', async () => {
    const refused = setup();
    refused.refuse(CAUSE);
    await expect(refused.maintenance.start()).rejects.toMatchObject(FAILED);

    const ended = setup();
    const start = ended.maintenance.start();
    ended.last().fail();
    await expect(start).rejects.toMatchObject(FAILED);

    const late = setup();
    const waits = late.maintenance.start();
    late.timers.fire(START_LIMIT_MS);
    await expect(waits).rejects.toMatchObject({ code: 'SP_THREAD_FAILED' });
    expect(late.last().isTerminated).toBe(true);
  });
});

describe('A maintenance thread that fails later', () => {
  it('is started again by itself, later each time up to a minute, and soon again once one has answered', async () => {
    const { maintenance, timers, threads, last, reported } = setup();
    const start = maintenance.start();
    last().begin();
    await start;
    const pauses: number[] = [];
    for (let failure = 1; failure <= 8; failure += 1) {
      last().fail();
      const [pause = 0] = timers.waiting.filter((ms) => ms !== START_LIMIT_MS);
      pauses.push(pause);
      timers.fire(pause);
      // It begins, and fails again before it has done anything.
      last().begin();
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(threads).toHaveLength(9);
    expect(reported).toHaveLength(8);
    const swept = maintenance.sweep(ORDER);
    last().answer(7);
    expect(await swept).toEqual([7]);
    expect(reported.slice(8)).toEqual([undefined]);
    last().fail();
    expect(timers.waiting).toEqual([1_000]);
  });

  it('fails what waits for it and what is asked of it meanwhile at once, and no order starts another', async () => {
    const { maintenance, timers, threads, last } = setup();
    const waiting = maintenance.sweep(ORDER);
    last().fail();
    await expect(waiting).rejects.toMatchObject(FAILED);
    for (let order = 0; order < 3; order += 1)
      await expect(maintenance.sweep(ORDER)).rejects.toMatchObject(FAILED);
    expect(threads).toHaveLength(1);
    timers.fire(1_000);
    const swept = maintenance.sweep(ORDER);
    last().begin();
    last().answer();
    expect(await swept).toEqual([]);
    expect(threads).toHaveLength(2);
  });

  it('is ignored once another runs', async () => {
    const { maintenance, timers, threads, reported, last } = setup();
    void maintenance.start().catch(() => {});
    last().fail();
    timers.fire(1_000);
    threads[0]?.fail();
    threads[0]?.answer(1);
    expect([reported.length, last().isTerminated]).toEqual([1, false]);
  });

  it('is not started again after the end of the store', async () => {
    const { maintenance, timers, threads, last } = setup();
    const start = maintenance.start();
    last().fail();
    await expect(start).rejects.toThrow();
    maintenance.close();
    expect(timers.waiting).toEqual([]);
    await expect(maintenance.start()).rejects.toThrow('closed');
    await expect(maintenance.sweep(ORDER)).rejects.toThrow('closed');
    expect(threads).toHaveLength(1);
  });
});

describe('The end of the store', () => {
  it('ends the thread, and what waits for it fails', async () => {
    const { maintenance, last, timers, reported } = setup();
    const waiting = maintenance.sweep(ORDER);
    maintenance.close();
    await expect(waiting).rejects.toThrow('closed');
    expect([last().isTerminated, timers.waiting, reported]).toEqual([true, [], []]);
  });
});
