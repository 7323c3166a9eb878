import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { publishForWorkers } from './published-workers.ts';
import type { WorkerReport, WorkerStart } from './worker-process.ts';

function start(publish: () => Promise<void>) {
  const reports: WorkerReport[] = [];
  const started: WorkerStart[] = [];
  let kills = 0;
  const kill = () => {
    kills += 1;
  };
  publishForWorkers(
    (given) => {
      started.push(given);
      return { pid: 1, stop() {}, kill };
    },
    { publish },
  )({ number: 1, isReplacement: false, onReport: (report) => reports.push(report), onEnd() {} });
  const [worker] = started;
  if (worker === undefined) throw new Error('nothing was started');
  return { worker, reports, kills: () => kills };
}

describe('workers on a Unix socket', () => {
  it('listen once the socket is in its place', async () => {
    const shown = Promise.withResolvers<void>();
    const { worker, reports } = start(() => shown.promise);
    worker.onReport({ kind: 'listening' });
    await Promise.resolve();
    expect(reports).toEqual([]);
    shown.resolve();
    await expect.poll(() => reports).toEqual([{ kind: 'listening' }]);
  });

  it('have failed, and are ended, where it cannot be put there', async () => {
    const failure = new SallyportError('SP_PORT_IN_USE', { component: 'unix:/s' });
    const { worker, reports, kills } = start(() => Promise.reject(failure));
    worker.onReport({ kind: 'listening' });
    await expect
      .poll(() => reports)
      .toEqual([{ kind: 'failed', sentence: 'SP_PORT_IN_USE (unix:/s)' }]);
    expect(kills()).toBe(1);
  });

  it('say nothing after their end, and pass on what else they say', async () => {
    const shown = Promise.withResolvers<void>();
    const { worker, reports } = start(() => shown.promise);
    worker.onReport({ kind: 'failed', sentence: 'x' });
    worker.onReport({ kind: 'listening' });
    worker.onEnd({});
    shown.resolve();
    await shown.promise;
    await Promise.resolve();
    expect(reports).toEqual([{ kind: 'failed', sentence: 'x' }]);
  });
});
