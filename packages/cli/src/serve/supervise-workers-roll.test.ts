import { superviseForTest } from '@sallyport/testing/cli/supervised-workers';
import { describe, expect, it } from 'vitest';

describe('Replacing workers one after the other', () => {
  /** All listen; then a roll begins. */
  function beginRoll(options: { readonly count?: number } = {}) {
    const supervised = superviseForTest(options);
    const { started, listen } = supervised;
    for (const index of started.keys()) listen(index);
    const fresh = supervised.startWith('new');
    const unwanted = new AbortController();
    const rolled = supervised.roll(fresh, unwanted.signal);
    return { ...supervised, unwanted, rolled };
  }
  const turn = () => new Promise(setImmediate);

  it('asks one to finish only when another listens in its place, and goes on when it has ended', async () => {
    const { started, listen, end, rolled, linesOf, pass, timers } = beginRoll();
    await turn();
    expect(
      started.map(({ number, source, isReplacement }) => [number, source, isReplacement]),
    ).toEqual([
      [1, 'old', false],
      [2, 'old', false],
      [1, 'new', true],
    ]);
    expect(started[0]?.stops).toBe(0);
    listen(2);
    await turn();
    expect([started[0]?.stops, started[0]?.drainDelays, started.length]).toEqual([
      1,
      [undefined],
      3,
    ]);
    end(0);
    await turn();
    expect([started.length, started[3]?.number, started[1]?.stops]).toEqual([4, 2, 0]);
    listen(3);
    await turn();
    expect(started[1]?.stops).toBe(1);
    end(1);
    expect(await rolled).toEqual({ ok: true, value: undefined });
    pass(100_000);
    expect([started.length, linesOf('worker_ended'), timers.size]).toEqual([4, [], 0]);
  });

  it('and announces nothing anew', async () => {
    const { listen, timesReady } = beginRoll();
    await turn();
    listen(2);
    expect(timesReady()).toBe(1);
  });

  it('stops when a new one cannot be started, with what it says, and the old ones stay', async () => {
    const { started, fail, end, rolled, linesOf, pass } = beginRoll();
    await turn();
    fail(2, 'not ready within 30 s');
    end(2);
    expect(await rolled).toEqual({
      ok: false,
      error: { kind: 'failed', sentence: 'worker 1 could not be replaced: not ready within 30 s' },
    });
    expect(linesOf('worker_failed')).toMatchObject([{ worker: 1 }]);
    pass(100_000);
    expect([started.length, started[0]?.stops, started[1]?.stops]).toEqual([3, 0, 0]);
  });

  it('stops when a new one just ends, or never says anything', async () => {
    const one = beginRoll();
    await turn();
    one.end(2);
    expect(await one.rolled).toMatchObject({
      error: { sentence: expect.stringContaining('ended') },
    });

    const other = beginRoll();
    await turn();
    other.pass(44_999);
    expect(other.started[2]?.kills).toBe(0);
    other.pass(1);
    expect(other.started[2]?.kills).toBe(1);
    other.end(2);
    expect(await other.rolled).toMatchObject({
      error: { sentence: 'worker 1 could not be replaced: it did not listen within 45 s' },
    });
    expect(other.started[0]?.stops).toBe(0);
  });

  it('kills an old one that does not finish within 27 s, and goes on', async () => {
    const { started, listen, end, pass, linesOf } = beginRoll();
    await turn();
    listen(2);
    await turn();
    pass(26_999);
    expect(started[0]?.kills).toBe(0);
    pass(1);
    expect(started[0]?.kills).toBe(1);
    expect(linesOf('worker_killed')).toEqual([{ event: 'worker_killed', worker: 1, pid: 100 }]);
    end(0);
    await turn();
    expect(started).toHaveLength(4);
  });

  it('a worker that ends later is started again as the new ones were, one not yet replaced as before', async () => {
    const { started, listen, end, pass } = beginRoll();
    await turn();
    listen(2);
    await turn();
    end(0);
    await turn();
    end(2);
    end(1);
    pass(100);
    expect(started.slice(4).map(({ number, source }) => [number, source])).toEqual([
      [1, 'new'],
      [2, 'old'],
    ]);
  });

  it('an old one that is killed while its successor starts is started again, and then replaced', async () => {
    const { started, listen, end, pass, rolled } = beginRoll({ count: 1 });
    await turn();
    end(0);
    pass(100);
    expect(started.map(({ source }) => source)).toEqual(['old', 'new', 'old']);
    listen(1);
    await turn();
    expect(started[2]?.stops).toBe(1);
    end(2);
    expect((await rolled).ok).toBe(true);
  });

  it('an old one that was killed and not started again yet is not started any more', async () => {
    const { started, listen, end, pass, rolled } = beginRoll({ count: 1 });
    await turn();
    end(0);
    listen(1);
    expect((await rolled).ok).toBe(true);
    pass(100_000);
    expect(started).toHaveLength(2);
  });

  it('a successor that ends in the moment it listens is started again', async () => {
    const { started, listen, end, pass, rolled } = beginRoll({ count: 1 });
    await turn();
    listen(1);
    end(1);
    await turn();
    end(0);
    expect((await rolled).ok).toBe(true);
    pass(100);
    expect(started.map(({ source }) => source)).toEqual(['old', 'new', 'new']);
  });

  it('is called off by a newer one: a worker that is starting is asked to end, a replaced one stays replaced', async () => {
    const { started, listen, end, unwanted, rolled, startWith, roll } = beginRoll();
    await turn();
    listen(2);
    await turn();
    end(0);
    await turn();
    unwanted.abort();
    expect(started[3]?.stops).toBe(1);
    end(3);
    expect(await rolled).toEqual({ ok: false, error: { kind: 'superseded' } });
    expect([started[1]?.stops, started[2]?.stops]).toEqual([0, 0]);
    void roll(startWith('newest'), new AbortController().signal);
    await turn();
    expect(started[4]).toMatchObject({ number: 1, source: 'newest' });
  });

  it('that is called off in the moment in which a successor listens leaves the old one in its place', async () => {
    const { started, listen, end, unwanted, rolled, linesOf, pass } = beginRoll();
    await turn();
    listen(2);
    unwanted.abort();
    await turn();
    expect([started[0]?.stops, started[2]?.stops]).not.toContain(undefined);
    expect(started[0]?.stops).toBe(0);
    end(2);
    expect(await rolled).toEqual({ ok: false, error: { kind: 'superseded' } });
    pass(100_000);
    expect([started.length, linesOf('worker_ended')]).toEqual([3, []]);
  });

  it('waits until all have listened for the first time', async () => {
    const { started, listen, startWith, roll } = superviseForTest();
    void roll(startWith('new'), new AbortController().signal);
    listen(0);
    await turn();
    expect(started).toHaveLength(2);
    listen(1);
    await turn();
    expect(started).toHaveLength(3);
  });

  it('and a stop meanwhile end all: the old, who starts and who finishes', async () => {
    const { started, listen, end, stop, rolled, ended } = beginRoll();
    await turn();
    listen(2);
    await turn();
    await stop();
    expect(started.map(({ stops }) => stops)).toEqual([2, 1, 1]);
    for (const index of [0, 1, 2]) end(index);
    expect((await rolled).ok).toBe(false);
    expect((await ended).ok).toBe(true);
    expect(started).toHaveLength(3);
  });

  it('that begins after a stop starts no worker', async () => {
    const { started, end, stop, startWith, roll } = superviseForTest();
    await stop();
    const rolled = roll(startWith('new'), new AbortController().signal);
    expect(await rolled).toMatchObject({ ok: false, error: { kind: 'superseded' } });
    end(0);
    end(1);
    expect(started).toHaveLength(2);
  });
});
