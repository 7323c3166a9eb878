import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { type Collector, SpanQueue } from './span-queue.ts';

const LIMITS = { spansMax: 10, batchMax: 4, gatherMs: 2_000, reportMs: 60_000 };
const spans = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `span ${index}` }) as ReadableSpan);

/** A collector that answers when the test wants it to. */
class HeldCollector implements Collector {
  readonly batches: (readonly string[])[] = [];
  readonly open: { readonly resolve: () => void; readonly reject: (cause: Error) => void }[] = [];
  isClosed = false;

  send(batch: ReadableSpan[]): Promise<void> {
    this.batches.push(batch.map(({ name }) => name));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.open.push({ resolve, reject });
    return promise;
  }

  async answer(error?: Error): Promise<void> {
    const asked = this.open.shift();
    if (error === undefined) asked?.resolve();
    else asked?.reject(error);
    await settled();
  }

  close(): void {
    this.isClosed = true;
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function setup() {
  const collector = new HeldCollector();
  const timers = new Map<() => void, number>();
  const logged: unknown[] = [];
  const queue = new SpanQueue({
    collector,
    limits: LIMITS,
    schedule: (afterMs, callback) => {
      timers.set(callback, afterMs);
      return () => void timers.delete(callback);
    },
    log: (...line) => logged.push(line),
  });
  const elapse = (afterMs: number) => {
    for (const [callback, ms] of [...timers])
      if (ms === afterMs && timers.delete(callback)) callback();
  };
  const add = (count: number) => {
    for (const span of spans(count)) queue.onEnd(span);
  };
  return { collector, queue, logged, timers, elapse, add };
}

const sizesOf = ({ batches }: HeldCollector) => batches.map(({ length }) => length);
/** The line names the key that leads to the collector. */
const dropped = (count: number, failure: string) => [
  'warn',
  'spans_dropped',
  { count, failure, key: 'observe.traces.endpoint' },
];

describe('SpanQueue', () => {
  it('gathers spans for a while, and sends them together', () => {
    const { collector, add, elapse } = setup();
    add(3);
    expect(collector.batches).toEqual([]);
    elapse(LIMITS.gatherMs);
    expect(sizesOf(collector)).toEqual([3]);
  });

  it('sends at once what fills a message, and one message at a time', async () => {
    const { collector, add, logged } = setup();
    add(9);
    expect(sizesOf(collector)).toEqual([4]);
    await collector.answer();
    await collector.answer();
    expect(sizesOf(collector)).toEqual([4, 4, 1]);
    expect(logged).toEqual([]);
  });

  it('drops what finds no room while a collector does not answer, and reports it', async () => {
    const { collector, add, logged, elapse } = setup();
    add(4 + LIMITS.spansMax + 5);
    expect(sizesOf(collector)).toEqual([4]);
    expect(logged).toEqual([dropped(1, 'queue full')]);
    elapse(LIMITS.reportMs);
    expect(logged).toEqual([dropped(1, 'queue full'), dropped(4, 'queue full')]);
    for (let answers = 0; answers < 4; answers += 1) await collector.answer();
    expect(sizesOf(collector)).toEqual([4, 4, 4, 2]);
  });

  it('drops a message that failed, says why, and asks again only after a while', async () => {
    const { collector, add, logged, elapse } = setup();
    add(6);
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    await collector.answer(refused);
    expect(logged).toEqual([dropped(4, 'Error ECONNREFUSED: connect ECONNREFUSED')]);
    expect(sizesOf(collector)).toEqual([4]);
    elapse(LIMITS.gatherMs);
    expect(sizesOf(collector)).toEqual([4, 2]);
  });

  it('reports a collector that stays away once a minute, not once a message', async () => {
    const { collector, add, logged, elapse } = setup();
    for (let messages = 0; messages < 5; messages += 1) {
      add(4);
      elapse(LIMITS.gatherMs);
      await collector.answer(new Error('away'));
    }
    expect(logged).toEqual([dropped(4, 'Error')]);
    elapse(LIMITS.reportMs);
    expect(logged).toEqual([dropped(4, 'Error'), dropped(16, 'Error')]);
    elapse(LIMITS.reportMs);
    expect(logged).toHaveLength(2);
  });

  it('takes a collector that throws for one that failed', async () => {
    const { collector, queue, add, logged } = setup();
    collector.send = () => {
      throw new TypeError('canary');
    };
    add(4);
    await queue.forceFlush();
    expect(logged).toEqual([dropped(4, 'TypeError')]);
  });

  it('sends everything that waits before it shuts down', async () => {
    const { collector, queue, add, timers } = setup();
    add(7);
    const down = queue.shutdown();
    for (let answers = 0; answers < 2; answers += 1) await collector.answer();
    await down;
    expect(sizesOf(collector)).toEqual([4, 3]);
    expect(timers.size).toBe(0);
  });

  it('gives up at the first failure once it shuts down', async () => {
    const { collector, queue, add, logged } = setup();
    add(9);
    const down = queue.shutdown();
    await collector.answer(new Error('away'));
    await down;
    expect(sizesOf(collector)).toEqual([4]);
    expect(logged).toEqual([dropped(4, 'Error'), dropped(5, 'stopping')]);
  });

  it('can be abandoned while a collector does not answer, and takes no more', async () => {
    const { collector, queue, add, logged, timers } = setup();
    add(6);
    const down = queue.shutdown();
    expect(collector.isClosed).toBe(false);
    queue.abandon();
    expect(collector.isClosed).toBe(true);
    add(1);
    expect(logged).toEqual([dropped(2, 'stopping'), dropped(1, 'stopping')]);
    expect(timers.size).toBe(0);
    await collector.answer();
    await down;
    expect(sizesOf(collector)).toEqual([4]);
  });
});
