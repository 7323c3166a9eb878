/**
 * Sends spans to a collector by OTLP over HTTP, in JSON.
 *
 * @module
 */

import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Collector } from './span-queue.ts';

/** Settings and ports of {@link OtlpExporter}. */
export interface OtlpExporterOptions {
  readonly endpoint: string;
  /** Current at each message; a secret. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  /** Milliseconds for a whole exchange. */
  readonly timeoutMs: number;
}

/** An answer is empty or a sentence; more of it is not read. */
const ANSWER_MAX_BYTES = 65_536;

/**
 * The exporter.
 *
 * Not the SDK's own, which takes headers from the environment too, repeats messages by timers that keep a
 * process from ending, and lets an answer take as long as it likes as long as something of it comes. Each
 * message here is sent once, follows no redirect with its headers, and is over after `timeoutMs`.
 *
 * @see [OTLP/HTTP](https://opentelemetry.io/docs/specs/otlp/#otlphttp)
 */
export class OtlpExporter implements Collector {
  readonly #options: OtlpExporterOptions;
  readonly #closing = new AbortController();

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
  }

  async send(spans: ReadableSpan[]): Promise<void> {
    const { endpoint, headers, fetch, timeoutMs } = this.#options;
    const body = JsonTraceSerializer.serializeRequest(spans);
    if (body === undefined) throw new TypeError('spans without words');
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { ...headers(), 'content-type': 'application/json' },
      // Copied, because the type of what a serializer gives may be shared memory.
      body: Buffer.from(body),
      redirect: 'manual',
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]),
    });
    await readToTheEnd(response);
    if (!response.ok) throw new CollectorError(response.status);
  }

  /** Breaks off what is under way. */
  close(): void {
    this.#closing.abort();
  }
}

/** A collector that does not want them. The message is fixed text, and safe to log. */
class CollectorError extends Error {
  override readonly name = 'CollectorError';
  /** `describeFailure` shows it. */
  readonly code: string;

  constructor(status: number) {
    super(`the collector answered with status ${status}`);
    this.code = `STATUS_${status}`;
  }
}

/** So that the connection can be used again; an endless answer is broken off. */
async function readToTheEnd({ body }: Response): Promise<void> {
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > ANSWER_MAX_BYTES) break;
  }
}
