/**
 * Port: distributed traces. Nothing here knows of OpenTelemetry, whose library costs 8 MB of memory to
 * load: a process that traces nothing never does.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';

/**
 * What a span says. Never a token, cookie, code, secret, subject, address, raw path or header value: only
 * names and numbers that this program chooses from a bounded set.
 */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A span as it begins. */
export interface SpanDescription {
  /** Of a bounded set: `GET /me`, `idp token`, `session_store read`. */
  readonly name: string;
  readonly attributes: SpanAttributes;
}

/** A span under way; what is said after its end is dropped. */
export interface TraceSpan {
  set(attributes: SpanAttributes): void;
  /**
   * Marks it as failed.
   *
   * @param type - `error.type`: a code, a status or the name of a class, never a message.
   */
  fail(type: string): void;
}

/** The span of one request. */
export interface RequestSpan extends TraceSpan {
  /** Does work within the span: what is called meanwhile, and after it by promise, belongs to it. */
  run(work: () => void): void;
  end(): void;
}

/** Decides what is traced, and keeps which span the work under way belongs to. Never throws by itself. */
export interface Tracer {
  /**
   * Begins the span of a request that came in, if it is one of those to be traced.
   *
   * @param headers - `traceparent` and `tracestate` are read (W3C Trace Context); untrusted.
   * @param describe - Asked only for a request that is traced.
   */
  begin(headers: IncomingHttpHeaders, describe: () => SpanDescription): RequestSpan | undefined;
  /**
   * Does work that leaves the process, in a span of its own below the one under way; without one, or
   * after its end, just does it. A rejection fails the span and passes on.
   */
  call<T>(
    description: SpanDescription,
    work: (span: TraceSpan | undefined) => Promise<T>,
  ): Promise<T>;
  /**
   * Does work that outlives the request that began it, in a trace of its own that is linked to the span under way;
   * without one just does it, and whatever it calls is not traced either.
   */
  apart<T>(
    description: SpanDescription,
    work: (span: TraceSpan | undefined) => Promise<T>,
  ): Promise<T>;
  /** The span of the work under way; `undefined` for what is not traced. */
  current(): TraceSpan | undefined;
  /** The trace of the work under way, 32 hexadecimal digits; for log lines. */
  currentTraceId(): string | undefined;
}

/** A short name of what went wrong, from a bounded set: an error's code, else the name of its class. */
export function errorType(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return SHORT_NAME.test(code) ? code : 'unknown';
}

/** Codes and classes are names; whatever is none could quote what failed. */
const SHORT_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
