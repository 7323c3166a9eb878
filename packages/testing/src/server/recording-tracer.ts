/**
 * A tracer that records its calls; every request is traced unless configured otherwise.
 *
 * @module
 */

import type {
  RequestSpan,
  SpanAttributes,
  SpanDescription,
  Tracer,
  TraceSpan,
} from '../../../server/src/trace/tracer.ts';

/** A recorded span. */
export class RecordedSpan implements RequestSpan {
  readonly kind: 'request' | 'call' | 'apart';
  readonly name: string;
  attributes: SpanAttributes;
  failures: readonly string[] = [];
  ends = 0;
  readonly #tracer: RecordingTracer;

  constructor(
    tracer: RecordingTracer,
    kind: 'request' | 'call' | 'apart',
    { name, attributes }: SpanDescription,
  ) {
    this.#tracer = tracer;
    this.kind = kind;
    this.name = name;
    this.attributes = attributes;
  }

  set(attributes: SpanAttributes): void {
    this.attributes = { ...this.attributes, ...attributes };
  }

  fail(type: string): void {
    this.failures = [...this.failures, type];
  }

  run(work: () => void): void {
    const before = this.#tracer.underWay;
    this.#tracer.underWay = this;
    work();
    this.#tracer.underWay = before;
  }

  end(): void {
    this.ends += 1;
  }
}

/** Keeps the span under way for as long as work is synchronous; calls always have a span. */
export class RecordingTracer implements Tracer {
  readonly spans: RecordedSpan[] = [];
  underWay: RecordedSpan | undefined;
  isTracing = true;

  begin(_headers: unknown, describe: () => SpanDescription): RequestSpan | undefined {
    return this.isTracing ? this.#record('request', describe()) : undefined;
  }

  call<T>(
    description: SpanDescription,
    work: (span: TraceSpan | undefined) => Promise<T>,
  ): Promise<T> {
    return work(this.#record('call', description));
  }

  apart<T>(
    description: SpanDescription,
    work: (span: TraceSpan | undefined) => Promise<T>,
  ): Promise<T> {
    return work(this.#record('apart', description));
  }

  current(): TraceSpan | undefined {
    return this.underWay;
  }

  currentTraceId(): string | undefined {
    return this.underWay === undefined ? undefined : 'a'.repeat(32);
  }

  #record(kind: RecordedSpan['kind'], description: SpanDescription): RecordedSpan {
    const span = new RecordedSpan(this, kind, description);
    this.spans.push(span);
    return span;
  }
}
