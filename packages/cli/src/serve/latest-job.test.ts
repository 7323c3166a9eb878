import { describe, expect, it } from 'vitest';
import { createLatestJob, type Job } from './latest-job.ts';

/** Jobs that end when the test says so. */
function jobs() {
  const begun: { readonly name: string; readonly signal: AbortSignal; end(): void }[] = [];
  const job =
    (name: string): Job =>
    async (signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      begun.push({ name, signal, end: resolve });
      await promise;
    };
  return { begun, job, names: () => begun.map(({ name }) => name) };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Of several jobs', () => {
  it('one runs at a time, learns when a newer one waits, and only the newest follows it', async () => {
    const { begun, job, names } = jobs();
    const queue = createLatestJob();
    queue.run(job('a'));
    expect([names(), begun[0]?.signal.aborted]).toEqual([['a'], false]);
    queue.run(job('b'));
    queue.run(job('c'));
    expect([names(), begun[0]?.signal.aborted]).toEqual([['a'], true]);
    begun[0]?.end();
    await turn();
    expect([names(), begun[1]?.signal.aborted]).toEqual([['a', 'c'], false]);
    begun[1]?.end();
    await turn();
    queue.run(job('d'));
    expect(names()).toEqual(['a', 'c', 'd']);
  });

  it('none begins after the close, which waits for the one under way', async () => {
    const { begun, job, names } = jobs();
    const queue = createLatestJob();
    queue.run(job('a'));
    queue.run(job('b'));
    let isOver = false;
    const closed = queue.close();
    const noteEnd = () => {
      isOver = true;
    };
    void closed.then(noteEnd);
    queue.run(job('c'));
    expect(begun[0]?.signal.aborted).toBe(true);
    await turn();
    expect(isOver).toBe(false);
    begun[0]?.end();
    await closed;
    expect(names()).toEqual(['a']);
  });

  it('one that is dropped while it waits says so, one that has begun does not', async () => {
    const { begun, job, names } = jobs();
    const queue = createLatestJob();
    const dropped: string[] = [];
    for (const name of ['a', 'b', 'c']) queue.run(job(name), () => dropped.push(name));
    expect(dropped).toEqual(['b']);
    begun[0]?.end();
    await turn();
    queue.run(job('d'), () => dropped.push('d'));
    const closed = queue.close();
    expect(dropped).toEqual(['b', 'd']);
    begun[1]?.end();
    await closed;
    expect([names(), dropped]).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ]);
  });

  it('the close of an idle queue waits for nothing', async () => {
    await createLatestJob().close();
  });
});
