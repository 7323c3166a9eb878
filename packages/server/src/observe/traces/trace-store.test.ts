import { RecordingTracer } from '@sallyport/testing/server/recording-tracer';
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../session/session-store.ts';
import { createStoreTimes } from '../metrics/metrics-store.ts';
import { traceStore } from './trace-store.ts';

/** A store that answers every call with how it was called. */
function createEcho(): SessionStore {
  return new Proxy({} as SessionStore, {
    get: (_, name) =>
      name === 'revocations' || name === 'close'
        ? (...call: unknown[]) => [name, ...call]
        : (...call: unknown[]) => Promise.resolve([name, ...call]),
  });
}

/** What a call could hold and a span must not show. */
const CALL = [281_474_976_710_655, 'canary-holder', 3, 4];

describe('traceStore', () => {
  it('without a tracer is the very same store: off costs nothing', () => {
    const store = createEcho();
    expect(traceStore(store, 'sqlite', undefined)).toBe(store);
  });

  const operations = Object.keys(traceStore(createEcho(), 'sqlite', new RecordingTracer())).filter(
    (name) => name !== 'revocations' && name !== 'close',
  );

  it.each(operations)(
    'puts a span around %s, named as the metrics do, and changes nothing of it',
    async (name) => {
      const tracer = new RecordingTracer();
      const store = traceStore(createEcho(), 'redis', tracer);
      const operation = store[name as keyof SessionStore] as unknown as (
        ...call: readonly unknown[]
      ) => Promise<readonly unknown[]>;
      const [called, ...received] = await operation(...CALL);
      expect(called).toBe(name);
      expect(received).toEqual(CALL.slice(0, received.length));
      expect(received.length).toBeGreaterThan(0);
      expect(tracer.spans).toHaveLength(1);
      const spelled = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect(tracer.spans[0]).toMatchObject({ kind: 'call', name: `session_store ${spelled}` });
      expect(tracer.spans[0]?.attributes).toEqual({
        'db.system.name': 'redis',
        'db.operation.name': spelled,
      });
    },
  );

  it('names operations by the labels of the metrics', async () => {
    const tracer = new RecordingTracer();
    const store = traceStore(createEcho(), 'sqlite', tracer);
    for (const name of operations)
      await (store[name as keyof SessionStore] as unknown as () => Promise<unknown>)();
    const [durations] = createStoreTimes(() => 0).read();
    const labels = new Set(durations?.values.map(({ labels }) => labels['operation']));
    expect(new Set(tracer.spans.map(({ attributes }) => attributes['db.operation.name']))).toEqual(
      labels,
    );
  });

  it('leaves alone what is asked in memory', () => {
    const tracer = new RecordingTracer();
    const store = traceStore(createEcho(), 'sqlite', tracer);
    expect([store.revocations(), store.close()]).toEqual([['revocations'], ['close']]);
    expect(tracer.spans).toEqual([]);
  });
});
