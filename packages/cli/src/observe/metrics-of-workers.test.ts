import { CounterFamily, type Metric, readGauge } from '@sallyport/server/observe';
import { describe, expect, it } from 'vitest';
import { createWorkersCollector, type WorkersToAsk } from './metrics-of-workers.ts';

/** A worker that counts: what it says when it is asked. */
interface Worker {
  requests: number;
  sessions: number;
  answers: boolean;
}

function metricsOf({ requests, sessions }: Worker): readonly Metric[] {
  const counter = new CounterFamily({ name: 'c_total', help: 'C.', labels: [], series: [[]] });
  for (let count = 0; count < requests; count += 1) counter.add(counter.slot());
  const gauge = { name: 'g', help: 'G.', aggregator: 'sum' } as const;
  return [counter.read(), readGauge(gauge, [{ value: sessions }])];
}

function setup() {
  const workers = new Map<number, Worker>();
  let answer: (id: number, metrics: readonly Metric[]) => void = () => {};
  let end: (id: number) => void = () => {};
  let timeUp: (() => void) | undefined;
  const channel: WorkersToAsk = {
    running: () => [...workers.keys()],
    ask(id) {
      const worker = workers.get(id);
      if (worker?.answers === true) queueMicrotask(() => answer(id, metricsOf(worker)));
    },
    onAnswer(listener) {
      answer = listener;
    },
    onEnd(listener) {
      end = listener;
    },
  };
  const collect = createWorkersCollector(channel, (_, callback) => {
    timeUp = callback;
    return () => {
      timeUp = undefined;
    };
  });
  return {
    start(id: number, requests = 0): Worker {
      const worker = { requests, sessions: 1, answers: true };
      workers.set(id, worker);
      return worker;
    },
    /** Ends it; it says the last once more, unless it is killed. */
    end(id: number, isKilled = false) {
      const worker = workers.get(id);
      workers.delete(id);
      if (worker !== undefined && !isKilled) answer(id, metricsOf(worker));
      end(id);
    },
    timeUp: () => timeUp?.(),
    async collect() {
      const collected = collect();
      return { ...totals(await collected) };
    },
    begin: () => collect().then(totals),
  };
}

function totals({
  processes,
  running,
  answering,
}: Awaited<ReturnType<ReturnType<typeof createWorkersCollector>>>) {
  const sum = (name: string) =>
    processes
      .flat()
      .filter((metric) => metric.name === name)
      .flatMap(({ values }) => values)
      .reduce((total, { value }) => total + value, 0);
  return { counter: sum('c_total'), gauge: sum('g'), running, answering };
}

describe('What the workers count', () => {
  it('is asked of each of them', async () => {
    const workers = setup();
    workers.start(1, 3);
    workers.start(2, 4);
    expect(await workers.collect()).toEqual({ counter: 7, gauge: 2, running: 2, answering: 2 });
  });

  it('is nothing, at once, when there is none', async () => {
    expect(await setup().collect()).toEqual({ counter: 0, gauge: 0, running: 0, answering: 0 });
  });

  it('stays when a worker is replaced, its gauges aside', async () => {
    const workers = setup();
    workers.start(1, 3);
    workers.start(2, 4);
    await workers.collect();
    workers.end(1);
    workers.start(3, 1);
    expect(await workers.collect()).toEqual({ counter: 8, gauge: 2, running: 2, answering: 2 });
    workers.end(2);
    workers.end(3);
    expect(await workers.collect()).toEqual({ counter: 8, gauge: 0, running: 0, answering: 0 });
  });

  it('counts to its end, also what was not scraped before', async () => {
    const workers = setup();
    workers.start(1, 5);
    workers.end(1);
    expect((await workers.collect()).counter).toBe(5);
  });

  it('is what a worker said last when it was killed', async () => {
    const workers = setup();
    const worker = workers.start(1, 5);
    await workers.collect();
    worker.requests = 9;
    workers.end(1, true);
    expect((await workers.collect()).counter).toBe(5);
  });

  it('never goes backwards, however many workers come and go', async () => {
    const workers = setup();
    let before = 0;
    for (let id = 1; id < 30; id += 1) {
      workers.start(id, id % 4);
      if (id % 3 === 0) workers.end(id - 2, id % 2 === 0);
      const { counter } = await workers.collect();
      expect(counter).toBeGreaterThanOrEqual(before);
      before = counter;
    }
  });

  it('is what it said before of a worker that does not answer in time, its gauges aside', async () => {
    const workers = setup();
    workers.start(1, 3);
    const silent = workers.start(2, 4);
    await workers.collect();
    silent.answers = false;
    silent.requests = 100;
    const collecting = workers.begin();
    await Promise.resolve();
    await Promise.resolve();
    workers.timeUp();
    expect(await collecting).toEqual({ counter: 7, gauge: 1, running: 2, answering: 1 });
    silent.answers = true;
    expect(await workers.collect()).toEqual({ counter: 103, gauge: 2, running: 2, answering: 2 });
  });

  it('is not lost when the worker ends while those that ended before are put together', async () => {
    const workers = setup();
    for (const id of [1, 2, 3]) workers.start(id, id);
    await workers.collect();
    workers.end(1);
    workers.end(2);
    const collecting = workers.begin();
    // The third has answered, and what is waited for is only the loading of what merges.
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    workers.end(3);
    expect((await collecting).counter).toBe(6);
    expect((await workers.collect()).counter).toBe(6);
  });

  it('is not waited for when the worker ends meanwhile', async () => {
    const workers = setup();
    workers.start(1, 3);
    const dying = workers.start(2, 4);
    await workers.collect();
    dying.answers = false;
    const collecting = workers.begin();
    workers.end(2, true);
    expect(await collecting).toEqual({ counter: 7, gauge: 1, running: 1, answering: 1 });
  });
});
