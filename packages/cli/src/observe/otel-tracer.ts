/**
 * The tracer on OpenTelemetry.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import {
  type Context,
  type ContextManager,
  createContextKey,
  type Tracer as OtelApiTracer,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import {
  errorType,
  type RequestSpan,
  type SpanAttributes,
  type SpanDescription,
  type Tracer,
  type TraceSpan,
} from '@sallyport/server/observe';
import type { TraceSampling } from './trace-sampling.ts';

/** Parts of {@link createOtelTracer}. */
export interface OtelTracerParts {
  /** Records whatever it is given: what is traced is decided here, before. */
  readonly spans: OtelApiTracer;
  readonly contexts: ContextManager;
  /** Reads the W3C Trace Context. */
  readonly propagator: TextMapPropagator;
  readonly sampling: TraceSampling;
}

/** Key of a context's span, so that reading the current span allocates nothing. */
const SPAN = createContextKey('sallyport span');
const HEADER_GETTER = {
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
  keys: (headers: IncomingHttpHeaders) => Object.keys(headers),
};

/** Creates the tracer. Registers nothing globally. */
export function createOtelTracer(parts: OtelTracerParts): Tracer {
  const { spans, contexts, propagator, sampling } = parts;
  const counts = { open: 0 };
  return {
    begin(headers, describe) {
      const context = select(headers);
      if (context === undefined) return undefined;
      return new OpenSpan(contexts, counts, context, start(describe(), SpanKind.SERVER, context));
    },
    call(description, work) {
      const around = current();
      if (around === undefined) return work(undefined);
      const span = start(description, SpanKind.CLIENT, around.context);
      return new OpenSpan(contexts, counts, around.context, span).enclose(work);
    },
    apart(description, work) {
      const around = current();
      if (around === undefined) return contexts.with(ROOT_CONTEXT, () => work(undefined));
      const span = spans.startSpan(
        description.name,
        {
          kind: SpanKind.INTERNAL,
          attributes: { ...description.attributes },
          links: [{ context: around.span.spanContext() }],
        },
        ROOT_CONTEXT,
      );
      return new OpenSpan(contexts, counts, ROOT_CONTEXT, span).enclose(work);
    },
    current,
    currentTraceId: () => current()?.span.spanContext().traceId,
  };

  /** What a request's span goes below, when it is to have one. */
  function select(headers: IncomingHttpHeaders): Context | undefined {
    if (headers['traceparent'] === undefined) return sampling.begins() ? ROOT_CONTEXT : undefined;
    const context = propagator.extract(ROOT_CONTEXT, headers, HEADER_GETTER);
    const parent = trace.getSpanContext(context);
    // Malformed is as good as none (W3C Trace Context section 3.2.2.5).
    if (parent === undefined) return sampling.begins() ? ROOT_CONTEXT : undefined;
    const isRecorded = (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    return isRecorded && sampling.continues() ? context : undefined;
  }

  function start({ name, attributes }: SpanDescription, kind: SpanKind, context: Context): Span {
    return spans.startSpan(name, { kind, attributes: { ...attributes } }, context);
  }

  /** Of the span that is under way; one that has ended gets nothing below it any more. */
  function current(): OpenSpan | undefined {
    // Asked for each request, traced or not; mostly there is nothing to look for.
    if (counts.open === 0) return undefined;
    const open = contexts.active().getValue(SPAN);
    return open instanceof OpenSpan && open.span.isRecording() ? open : undefined;
  }
}

class OpenSpan implements RequestSpan {
  readonly span: Span;
  /** In which this span is the one under way. */
  readonly context: Context;
  readonly #contexts: ContextManager;
  readonly #counts: { open: number };

  constructor(contexts: ContextManager, counts: { open: number }, around: Context, span: Span) {
    counts.open += 1;
    this.#counts = counts;
    this.#contexts = contexts;
    this.span = span;
    this.context = trace.setSpan(around, span).setValue(SPAN, this);
  }

  set(attributes: SpanAttributes): void {
    if (this.span.isRecording()) this.span.setAttributes({ ...attributes });
  }

  fail(type: string): void {
    if (!this.span.isRecording()) return;
    this.span.setAttribute('error.type', type);
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }

  run(work: () => void): void {
    this.#contexts.with(this.context, work);
  }

  end(): void {
    if (!this.span.isRecording()) return;
    this.#counts.open -= 1;
    this.span.end();
  }

  /** Does work within the span, and ends it with the work. */
  async enclose<T>(work: (span: TraceSpan) => Promise<T>): Promise<T> {
    try {
      return await this.#contexts.with(this.context, () => work(this));
    } catch (cause) {
      this.fail(errorType(cause));
      throw cause;
    } finally {
      this.end();
    }
  }
}
