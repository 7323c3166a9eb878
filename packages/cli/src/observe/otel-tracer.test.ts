import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { SallyportError } from '@sallyport/protocol';
import type { SpanDescription } from '@sallyport/server/observe';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOtelTracer } from './otel-tracer.ts';

const REQUEST: SpanDescription = { name: 'GET /me', attributes: { 'http.route': '/me' } };
const CALL: SpanDescription = { name: 'idp token', attributes: {} };
const RENEWAL: SpanDescription = { name: 'session renewal', attributes: {} };
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;
const NOT_SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-00`;

function setup({ begins = true, continues = true } = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  onTestFinished(() => void contexts.disable());
  const asked = { begins: 0, continues: 0 };
  const tracer = createOtelTracer({
    spans: provider.getTracer('test'),
    contexts,
    propagator: new W3CTraceContextPropagator(),
    sampling: {
      begins: () => {
        asked.begins += 1;
        return begins;
      },
      continues: () => {
        asked.continues += 1;
        return continues;
      },
    },
  });
  const ended = () => exporter.getFinishedSpans();
  const named = (name: string): ReadableSpan => {
    const span = ended().find((each) => each.name === name);
    if (span === undefined) throw new Error(`no span ${name}`);
    return span;
  };
  return { tracer, ended, named, asked };
}

const ids = (span: ReadableSpan) => span.spanContext();

describe('the span of a request', () => {
  it('continues the trace of its caller, tracestate and all (W3C Trace Context section 3)', () => {
    const { tracer, named } = setup();
    tracer.begin({ traceparent: SAMPLED, tracestate: 'vendor=1,other=2' }, () => REQUEST)?.end();
    const span = named('GET /me');
    expect(ids(span).traceId).toBe(TRACE_ID);
    expect(span.parentSpanContext?.spanId).toBe(PARENT_ID);
    expect(ids(span).spanId).not.toBe(PARENT_ID);
    expect(ids(span).traceState?.serialize()).toBe('vendor=1,other=2');
    expect(span.attributes).toEqual({ 'http.route': '/me' });
  });

  it('begins a trace when there is none', () => {
    const { tracer, named } = setup();
    tracer.begin({}, () => REQUEST)?.end();
    expect(named('GET /me').parentSpanContext).toBeUndefined();
  });

  it('is not made, nor described, for a request that is not picked', () => {
    const { tracer, ended } = setup({ begins: false });
    const describeIt = () => {
      throw new Error('described');
    };
    expect(tracer.begin({}, describeIt)).toBeUndefined();
    expect(ended()).toEqual([]);
  });

  it('is not made for a caller that does not record its trace, and costs no budget', () => {
    const { tracer, asked } = setup();
    expect(tracer.begin({ traceparent: NOT_SAMPLED }, () => REQUEST)).toBeUndefined();
    expect(asked).toEqual({ begins: 0, continues: 0 });
  });

  it('is not made for a caller beyond the bound, who so cannot force it', () => {
    const { tracer, asked } = setup({ continues: false });
    expect(tracer.begin({ traceparent: SAMPLED }, () => REQUEST)).toBeUndefined();
    expect(asked).toEqual({ begins: 0, continues: 1 });
  });

  it.each([
    ['', 'empty'],
    ['00', 'cut'],
    [`00-${'0'.repeat(32)}-${PARENT_ID}-01`, 'a trace id of zeros'],
    [`00-${TRACE_ID}-${'0'.repeat(16)}-01`, 'a parent id of zeros'],
    [`ff-${TRACE_ID}-${PARENT_ID}-01`, 'version ff'],
    [`00-${TRACE_ID}-${PARENT_ID}-01-more`, 'more than version 00 has'],
    [`00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`, 'capitals'],
    [`${SAMPLED}, ${SAMPLED}`, 'sent twice'],
    [`00-${TRACE_ID}-${PARENT_ID}-1`, 'flags of one digit'],
  ])('begins a trace of its own after a malformed traceparent: %j (%s)', (traceparent) => {
    const { tracer, named, asked } = setup();
    tracer.begin({ traceparent, tracestate: 'vendor=1' }, () => REQUEST)?.end();
    expect(named('GET /me').parentSpanContext).toBeUndefined();
    expect(ids(named('GET /me')).traceState).toBeUndefined();
    expect(asked).toEqual({ begins: 1, continues: 0 });
  });

  it('is well-formed after any headers, and never holds their content', () => {
    const hex = (length: number) =>
      fc.string({
        unit: fc.constantFrom(...'0123456789abcdef'.split('')),
        minLength: length,
        maxLength: length,
      });
    const odd = fc.oneof(
      fc.string(),
      fc.tuple(hex(2), hex(32), hex(16), hex(2)).map((parts) => parts.join('-')),
    );
    fc.assert(
      fc.property(
        odd,
        fc.oneof(fc.string(), fc.string({ minLength: 600 })),
        (traceparent, tracestate) => {
          const { tracer, ended } = setup();
          tracer.begin({ traceparent, tracestate }, () => REQUEST)?.end();
          for (const span of ended()) {
            expect(ids(span).traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
            expect(ids(span).spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
            expect(ids(span).traceState?.serialize().length ?? 0).toBeLessThanOrEqual(512);
            expect(span.attributes).toEqual({ 'http.route': '/me' });
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('says nothing after its end', () => {
    const { tracer, named } = setup();
    const span = tracer.begin({}, () => REQUEST);
    span?.end();
    span?.set({ late: 1 });
    span?.fail('late');
    span?.end();
    expect(named('GET /me')).toMatchObject({ attributes: { 'http.route': '/me' } });
    expect(named('GET /me').status.code).toBe(0);
  });

  it('keeps apart what several requests do at the same time', async () => {
    const { tracer, ended } = setup();
    const serve = async (name: string) => {
      await tracer.call({ name: `${name} call`, attributes: {} }, () => Promise.resolve());
    };
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const span = tracer.begin({}, () => ({ name, attributes: {} }));
        let served: Promise<void> | undefined;
        span?.run(() => {
          served = Promise.resolve().then(() => serve(name));
        });
        await served;
        span?.end();
      }),
    );
    for (const name of ['a', 'b', 'c']) {
      const parent = ended().find((span) => span.name === name);
      const child = ended().find((span) => span.name === `${name} call`);
      expect(child?.parentSpanContext?.spanId).toBe(parent && ids(parent).spanId);
    }
  });
});

describe('the span of a call', () => {
  it('stands below the span under way, and the next below it', async () => {
    const { tracer, named } = setup();
    const span = tracer.begin({ traceparent: SAMPLED }, () => REQUEST);
    let done: Promise<string> | undefined;
    span?.run(() => {
      done = tracer.call(CALL, async () => {
        await Promise.resolve();
        return tracer.call({ name: 'inner', attributes: {} }, async () => 'value');
      });
    });
    expect(await done).toBe('value');
    span?.end();
    expect(ids(named('idp token')).traceId).toBe(TRACE_ID);
    expect(named('idp token').parentSpanContext?.spanId).toBe(ids(named('GET /me')).spanId);
    expect(named('inner').parentSpanContext?.spanId).toBe(ids(named('idp token')).spanId);
  });

  it('is not made outside of a request, nor after its end', async () => {
    const { tracer, ended } = setup();
    expect(await tracer.call(CALL, async (span) => span)).toBeUndefined();
    const span = tracer.begin({}, () => REQUEST);
    let later: Promise<unknown> | undefined;
    span?.run(() => {
      later = Promise.resolve().then(() => tracer.call(CALL, async (inner) => inner));
    });
    span?.end();
    expect(await later).toBeUndefined();
    expect(ended().map(({ name }) => name)).toEqual(['GET /me']);
  });

  it('fails with the work, by a name, and passes the failure on', async () => {
    const { tracer, named } = setup();
    const failure = new SallyportError('SP_IDP_UNREACHABLE', {
      component: 'idp',
      cause: new Error('canary'),
    });
    let done: Promise<unknown> | undefined;
    tracer
      .begin({}, () => REQUEST)
      ?.run(() => {
        done = tracer.call(CALL, () => Promise.reject(failure));
      });
    await expect(done).rejects.toBe(failure);
    expect(named('idp token').attributes).toEqual({ 'error.type': 'SP_IDP_UNREACHABLE' });
    expect(named('idp token').status).toEqual({ code: 2 });
    expect(named('idp token').events).toEqual([]);
  });

  it('ends with work that throws instead of rejecting', async () => {
    const { tracer, named } = setup();
    let done: Promise<unknown> | undefined;
    tracer
      .begin({}, () => REQUEST)
      ?.run(() => {
        done = tracer.call(CALL, () => {
          throw new TypeError('canary');
        });
      });
    await expect(done).rejects.toThrow(TypeError);
    expect(named('idp token').attributes).toEqual({ 'error.type': 'TypeError' });
  });
});

describe('work that outlives its request', () => {
  it('has a trace of its own, linked to the span under way, and calls stand below it', async () => {
    const { tracer, named } = setup();
    const span = tracer.begin({ traceparent: SAMPLED }, () => REQUEST);
    let done: Promise<unknown> | undefined;
    span?.run(() => {
      done = tracer.apart(RENEWAL, async () => {
        await Promise.resolve();
        await tracer.call(CALL, async () => {});
      });
    });
    span?.end();
    await done;
    const renewal = named('session renewal');
    expect(ids(renewal).traceId).not.toBe(TRACE_ID);
    expect(renewal.parentSpanContext).toBeUndefined();
    expect(renewal.links.map(({ context }) => context.spanId)).toEqual([
      ids(named('GET /me')).spanId,
    ]);
    expect(named('idp token').parentSpanContext?.spanId).toBe(ids(renewal).spanId);
  });

  it('is not traced, nor what it calls, when nothing is under way', async () => {
    const { tracer, ended } = setup();
    await tracer.apart(RENEWAL, () => tracer.call(CALL, async () => {}));
    expect(ended()).toEqual([]);
  });
});

describe('the trace under way', () => {
  it('is known by its id within a request, and nowhere else', () => {
    const { tracer } = setup();
    expect(tracer.currentTraceId()).toBeUndefined();
    const seen: unknown[] = [];
    const span = tracer.begin({ traceparent: SAMPLED }, () => REQUEST);
    span?.run(() => seen.push(tracer.currentTraceId()));
    expect([...seen, tracer.currentTraceId()]).toEqual([TRACE_ID, undefined]);
  });
});
