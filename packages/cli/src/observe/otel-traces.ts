/**
 * The parts of OpenTelemetry, put together: tracer, queue and exporter.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TracesConfig } from '@sallyport/config';
import type { Tracer } from '@sallyport/server/observe';
import type { Ports } from '../process/ports.ts';
import { readVersion } from '../process/version.ts';
import { openCollectorHeaders } from './collector-headers.ts';
import { createOtelTracer } from './otel-tracer.ts';
import { OtlpExporter } from './otlp-exporter.ts';
import { SpanQueue } from './span-queue.ts';
import { createTraceSampling } from './trace-sampling.ts';

/** Traces under way; they outlive whatever is made anew for another configuration. */
export interface Traces {
  readonly tracer: Tracer;
  /** Sends what waits, for three seconds at most. To be called last, when nothing is served any more. */
  close(): Promise<void>;
}

/** A message that takes longer is given up. */
const EXPORT_MS = 5_000;
/** A process that stops waits this long for the collector. */
const CLOSE_MS = 3_000;
/** All values but `tracestate` are ours, and shorter. */
const VALUE_MAX_LENGTH = 256;

/**
 * Starts them. Each process exports by itself, under an instance id of its own.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` as `openCollectorHeaders`.
 */
export function startOtelTraces(
  config: TracesConfig,
  { fetch, schedule, log }: Pick<Ports, 'fetch' | 'schedule' | 'log'>,
): Traces {
  const headers = openCollectorHeaders(config.headersFile, log);
  const collector = new OtlpExporter({
    endpoint: config.endpoint,
    headers: headers.current,
    fetch,
    timeoutMs: EXPORT_MS,
  });
  const queue = new SpanQueue({ collector, schedule, log });
  const version = readVersion();
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': config.serviceName,
        'service.version': version,
        'service.instance.id': randomUUID(),
      }),
    ),
    // What is traced is decided before a span is made.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: VALUE_MAX_LENGTH },
    spanProcessors: [queue],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  const tracer = createOtelTracer({
    spans: provider.getTracer('sallyport', version),
    contexts,
    propagator: new W3CTraceContextPropagator(),
    sampling: createTraceSampling({
      share: config.sample,
      continuedPerSecond: config.continuedPerSecond,
      monotonicMs: () => performance.now(),
      random: Math.random,
    }),
  });
  return {
    tracer,
    async close() {
      const { promise: timeUp, resolve } = Promise.withResolvers<void>();
      const cancel = schedule(CLOSE_MS, resolve);
      await Promise.race([queue.shutdown(), timeUp]);
      cancel();
      queue.abandon();
      headers.close();
      contexts.disable();
    },
  };
}
