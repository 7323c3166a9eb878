import { SallyportError } from '@sallyport/protocol';
import { superviseForTest } from '@sallyport/testing/cli/supervised-workers';
import { describe, expect, it } from 'vitest';
import type { StartFailure } from './worker-process.ts';

describe('starting workers', () => {
  it('is ready once, when the last of them listens', () => {
    const { timesReady, started, listen, end, pass } = superviseForTest({ count: 3 });
    expect(started.map(({ number }) => number)).toEqual([1, 2, 3]);
    listen(0);
    listen(1);
    expect(timesReady()).toBe(0);
    listen(2);
    expect(timesReady()).toBe(1);
    end(0);
    pass(100);
    listen(3);
    expect(timesReady()).toBe(1);
  });

  it('waits for one that listened and ended before the last listened', () => {
    const { timesReady, listen, end, pass } = superviseForTest();
    listen(0);
    end(0);
    listen(1);
    expect(timesReady()).toBe(0);
    pass(100);
    listen(2);
    expect(timesReady()).toBe(1);
  });

  it('ends them all, and returns the first reason, when one cannot be started', async () => {
    const { ended, started, fail, end, timesReady, linesOf } = superviseForTest();
    const failure: StartFailure = { kind: 'failed', sentence: 'the port is taken' };
    fail(1, failure.sentence);
    fail(0, 'another');
    end(1);
    expect(started.map(({ stops }) => stops)).toEqual([1, 1]);
    end(0);
    expect(await ended).toEqual({ ok: false, error: failure });
    expect([timesReady(), linesOf('worker_ended')]).toEqual([0, []]);
  });
});

describe('a worker that ends', () => {
  it('is started again with its number, after a pause', () => {
    const { started, listen, end, pass, linesOf } = superviseForTest();
    listen(0);
    listen(1);
    end(1);
    expect(linesOf('worker_ended')).toEqual([
      { event: 'worker_ended', worker: 2, pid: 101, signal: 'SIGKILL', restart_after_ms: 100 },
    ]);
    pass(99);
    expect(started).toHaveLength(2);
    pass(1);
    expect(started.map(({ number }) => number)).toEqual([1, 2, 2]);
  });

  it('and cannot be started again is logged and tried again, while the others go on', async () => {
    const { started, listen, end, fail, pass, linesOf } = superviseForTest();
    listen(0);
    listen(1);
    end(1);
    pass(100);
    fail(2, 'a secret is gone');
    end(2);
    expect(linesOf('worker_failed')).toEqual([
      { event: 'worker_failed', worker: 2, failure: 'a secret is gone' },
    ]);
    pass(200);
    expect(started).toHaveLength(4);
    expect(started[0]?.stops).toBe(0);
  });

  it('three times within 10 s before all listened stops the others and fails when they have ended', async () => {
    const { ended, started, listen, end, pass } = superviseForTest();
    listen(0);
    end(1);
    pass(100);
    end(2);
    pass(200);
    expect(started[0]?.stops).toBe(0);
    end(3);
    expect(started[0]?.stops).toBe(1);
    end(0);
    await expect(ended).rejects.toThrow(SallyportError);
    await expect(ended).rejects.toMatchObject({ code: 'SP_WORKER_FAILED', component: 'worker:2' });
  });

  it('three times so while others serve is tried again every 5 s, and ends no other', () => {
    const { started, listen, end, pass, linesOf } = superviseForTest();
    listen(0);
    listen(1);
    for (const [index, pauseMs] of [
      [1, 100],
      [2, 200],
      [3, 400],
      [4, 5_000],
    ] as const) {
      end(index);
      pass(pauseMs - 1);
      expect(started).toHaveLength(index + 1);
      pass(1);
    }
    expect(started.map(({ number }) => number)).toEqual([1, 2, 2, 2, 2, 2]);
    expect(started[0]?.stops).toBe(0);
    expect(linesOf('worker_ended')).toHaveLength(4);
  });

  it('three times so while no other serves any more fails', async () => {
    const { ended, listen, end, pass } = superviseForTest({ count: 1 });
    listen(0);
    end(0);
    for (const pauseMs of [100, 200]) {
      pass(pauseMs);
      end(pauseMs / 100);
    }
    pass(400);
    end(3);
    await expect(ended).rejects.toMatchObject({ code: 'SP_WORKER_FAILED', component: 'worker:1' });
  });

  it('is not given up for what another does', () => {
    const { started, end, pass } = superviseForTest();
    for (let round = 0; round < 2; round += 1) {
      end(started.length - 2);
      end(started.length - 1);
      pass(1_000);
    }
    expect(started).toHaveLength(6);
  });

  it('or never was a process, because there was no memory for one, is tried again', async () => {
    const { started, listen, end, pass, failToStart, linesOf } = superviseForTest();
    listen(0);
    listen(1);
    end(1);
    failToStart();
    pass(100);
    await Promise.resolve();
    expect(linesOf('worker_ended')).toHaveLength(2);
    pass(200);
    expect(started).toHaveLength(4);
  });
});

describe('stopping workers', () => {
  it('asks each once, and is done when the last has ended', async () => {
    const { ended, started, listen, end, stop, linesOf, timers } = superviseForTest();
    let isOver = false;
    const noteEnd = () => {
      isOver = true;
    };
    void ended.then(noteEnd);
    listen(0);
    listen(1);
    await stop();
    expect(linesOf('stopping')).toEqual([{ event: 'stopping', signal: 'SIGTERM' }]);
    end(0);
    await Promise.resolve();
    expect([isOver, started.map(({ stops }) => stops)]).toEqual([false, [1, 1]]);
    end(1);
    expect(await ended).toEqual({ ok: true, value: undefined });
    expect(started).toHaveLength(2);
    expect([linesOf('worker_ended'), timers.size]).toEqual([[], 0]);
  });

  it('kills what has not ended after 27 s, and not before', async () => {
    const { ended, started, listen, end, stop, pass, linesOf } = superviseForTest();
    listen(0);
    listen(1);
    await stop();
    end(0);
    pass(26_999);
    expect(started.map(({ kills }) => kills)).toEqual([0, 0]);
    pass(1);
    expect(started.map(({ kills }) => kills)).toEqual([0, 1]);
    expect(linesOf('worker_killed')).toEqual([{ event: 'worker_killed', worker: 2, pid: 101 }]);
    end(1);
    expect((await ended).ok).toBe(true);
  });

  it('gives them the time for which they go on taking connections on top', async () => {
    const { ended, started, listen, end, stop, pass } = superviseForTest({ drainDelayMs: 5_000 });
    listen(0);
    listen(1);
    await stop();
    expect(started.map(({ drainDelays }) => drainDelays)).toEqual([[5_000], [5_000]]);
    end(0);
    pass(31_999);
    expect(started[1]?.kills).toBe(0);
    pass(1);
    expect(started[1]?.kills).toBe(1);
    end(1);
    expect((await ended).ok).toBe(true);
  });

  it('gives them none before they are ready: no client was sent to them', async () => {
    const { started, listen, stop } = superviseForTest({ drainDelayMs: 5_000 });
    listen(0);
    await stop();
    expect(started.map(({ drainDelays }) => drainDelays)).toEqual([[0], [0]]);
  });

  it('starts none again, also none whose pause is under way', async () => {
    const { ended, started, listen, end, stop, pass } = superviseForTest();
    listen(0);
    end(1);
    await stop();
    pass(1_000);
    expect(started).toHaveLength(2);
    end(0);
    expect((await ended).ok).toBe(true);
  });

  it('is done at once when none runs', async () => {
    const { ended, end, stop } = superviseForTest();
    end(0);
    end(1);
    await stop();
    expect((await ended).ok).toBe(true);
  });

  it('before they listen is no failure of theirs', async () => {
    const { ended, end, stop, fail } = superviseForTest();
    await stop();
    fail(0, 'too late');
    end(0);
    end(1);
    expect((await ended).ok).toBe(true);
  });
});
