/**
 * A collector of traces: takes OTLP over HTTP in JSON, and can be made to fail.
 *
 * @module
 */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import type { MovedClock } from './moved-clock.ts';
import { type Service, startService } from './platform.ts';
import type { Surroundings } from './process.ts';
import { sharedHost } from './service-host.ts';
import { PATIENCE } from './workers.ts';

const MESSAGE_EVERY_MS = 1_000;

/** A span as it arrived. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of its trace. */
  readonly parentSpanId: string;
  readonly traceState: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** 2 is a failure. */
  readonly status: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Nanoseconds; both ends. */
  readonly lasted: readonly [start: bigint, end: bigint];
  readonly resource: Readonly<Record<string, string | number>>;
}

/** The collector. */
export interface TraceCollector {
  readonly endpoint: string;
  /** Every span so far, in the order of arrival. */
  readonly spans: readonly ReceivedSpan[];
  /** Every message so far, as it came. */
  readonly messages: readonly { readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** What happens to a message: it is taken, refused with a status, or never answered. */
  behave(as: 'take' | 'never' | number): void;
  /** Drops what has come so far. */
  forget(): void;
  /** Resolves when as many spans of a name have come; returns them. */
  wait(name: string, count?: number): Promise<readonly ReceivedSpan[]>;
  close(): Promise<void>;
}

interface WireAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

interface WireSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly kind: number;
  readonly attributes: readonly WireAttribute[];
  readonly status: { readonly code?: number };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface WireMessage {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

/**
 * Starts it on a free port.
 *
 * @param clock - Moved while spans are waited for, by as much as lies between two messages.
 */
export async function startTraceCollector(clock?: MovedClock): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  const messages: { headers: IncomingHttpHeaders; body: string }[] = [];
  let behaviour: 'take' | 'never' | number = 'take';
  const answer = (res: ServerResponse): void => {
    if (behaviour === 'never') return;
    res.writeHead(behaviour === 'take' ? 200 : behaviour, { 'content-type': 'application/json' });
    res.end('{}');
  };
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      messages.push({ headers: req.headers, body });
      if (behaviour === 'take') spans.push(...readMessage(body));
      answer(res);
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  const named = (name: string) => spans.filter((span) => span.name === name);
  return {
    endpoint: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    messages,
    behave(as) {
      behaviour = as;
    },
    forget() {
      spans.length = 0;
      messages.length = 0;
    },
    async wait(name, count = 1) {
      const come = async () => {
        await clock?.advance(MESSAGE_EVERY_MS);
        return named(name).length;
      };
      await expect.poll(come, PATIENCE).toBeGreaterThanOrEqual(count);
      return named(name);
    },
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

/** Lines of a configuration file with settings of `observe.traces`. */
export function tracesFile(settings: string): readonly string[] {
  return ['observe:', `  traces: { ${settings} }`];
}

/**
 * Starts `sallyport serve` with a collector; by default every request is traced.
 *
 * @param surroundings - Those of a process of its own; beside others in one process when absent.
 */
export function startTraced(
  { endpoint }: Pick<TraceCollector, 'endpoint'>,
  settings = 'sample: 1',
  environment: Readonly<Record<string, string>> = {},
  surroundings: Surroundings = { host: sharedHost() },
): Promise<Service> {
  const all = { SALLYPORT_TRACES_ENDPOINT: endpoint, ...environment };
  return startService(all, [], surroundings, undefined, tracesFile(settings));
}

function readMessage(body: string): readonly ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as WireMessage;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        traceState: span.traceState ?? '',
        kind: span.kind,
        attributes: readAttributes(span.attributes),
        status: span.status.code ?? 0,
        links: span.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
        lasted: [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)] as const,
        resource: readAttributes(resource.attributes),
      })),
    ),
  );
}

function readAttributes(
  attributes: readonly WireAttribute[],
): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}
