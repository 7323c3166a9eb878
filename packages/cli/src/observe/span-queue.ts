/**
 * Queue of spans for the collector. Bounded; never blocks a request.
 *
 * @module
 */

import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Schedule } from '@sallyport/server';
import { describeFailure, type Log } from '@sallyport/server/observe';

/** Port: sends spans to the collector. */
export interface Collector {
  /** Resolves when it has them; rejects within a bound when it does not. */
  send(spans: ReadableSpan[]): Promise<void>;
  /** Breaks off what is under way. */
  close(): void;
}

/** Ports of {@link SpanQueue}. */
export interface SpanQueueOptions {
  readonly collector: Collector;
  /** A waiting timer must not keep the process alive. */
  readonly schedule: Schedule;
  readonly log: Log;
  readonly limits?: Partial<SpanQueueLimits>;
}

/** Bounds of the queue. */
export interface SpanQueueLimits {
  /** Spans that may wait; one more is dropped. About 2 KiB each. */
  readonly spansMax: number;
  /** Spans in one message. Serializing 64 holds the event loop for 0.1 ms. */
  readonly batchMax: number;
  /** Milliseconds for which a span waits for others. */
  readonly gatherMs: number;
  /** Interval of the log line about dropped spans, in milliseconds. */
  readonly reportMs: number;
}

/** What to look at when spans are dropped. */
const ENDPOINT_KEY = 'observe.traces.endpoint';
const LIMITS: SpanQueueLimits = {
  spansMax: 2_048,
  batchMax: 64,
  gatherMs: 1_000,
  reportMs: 60_000,
};

/**
 * Takes ended spans and exports them, one message at a time.
 *
 * A collector that is away or slow costs spans, never a request: spans that cannot be sent are dropped and counted. The first drop
 * is logged at once, then the count once a minute. No span is sent twice.
 */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  readonly #limits: SpanQueueLimits;
  #waiting: ReadableSpan[] = [];
  #sending: Promise<void> | undefined;
  #cancelGathering: (() => void) | undefined;
  #cancelReport: (() => void) | undefined;
  #dropped = 0;
  #failure = '';
  #isClosed = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed || this.#waiting.length >= this.#limits.spansMax) {
      this.#drop(1, this.#isClosed ? 'stopping' : 'queue full');
      return;
    }
    this.#waiting.push(span);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= this.#limits.batchMax) this.#send();
    else this.#gather();
  }

  /** Resolves when nothing waits any more: sent, or dropped. */
  async forceFlush(): Promise<void> {
    for (;;) {
      if (this.#sending === undefined && this.#waiting.length > 0) this.#send();
      if (this.#sending === undefined) return;
      await this.#sending;
    }
  }

  /** Takes no more, and sends what waits. Takes as long as the collector does. */
  async shutdown(): Promise<void> {
    this.#isClosed = true;
    await this.forceFlush();
    this.#report();
  }

  /** Aborts the message under way, drops waiting spans, and logs their number. */
  abandon(): void {
    this.#isClosed = true;
    this.#options.collector.close();
    this.#cancelGathering?.();
    const waiting = this.#waiting.length;
    this.#waiting = [];
    if (waiting > 0) this.#drop(waiting, 'stopping');
    this.#report();
  }

  #send(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = undefined;
    this.#sending = this.#sendNext();
  }

  async #sendNext(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#limits.batchMax);
    const failure = await this.#offer(batch);
    this.#sending = undefined;
    if (failure !== undefined) this.#drop(batch.length, failure);
    // A collector that fails now is not asked again and again by a process that wants to end.
    if (failure !== undefined && this.#isClosed) this.abandon();
    if (this.#waiting.length === 0) return;
    if (failure === undefined) this.#send();
    else this.#gather();
  }

  /** Sends a batch. Resolves with the failure, or `undefined` when the collector has it; never rejects. */
  async #offer(batch: ReadableSpan[]): Promise<string | undefined> {
    try {
      await this.#options.collector.send(batch);
      return undefined;
    } catch (cause) {
      return describeFailure(cause);
    }
  }

  #gather(): void {
    const { schedule } = this.#options;
    this.#cancelGathering ??= schedule(this.#limits.gatherMs, () => this.#send());
  }

  /** Logs the first drop at once, later ones together. */
  #drop(count: number, failure: string): void {
    this.#dropped += count;
    this.#failure = failure;
    if (this.#cancelReport === undefined) this.#report();
  }

  #report(): void {
    this.#cancelReport?.();
    this.#cancelReport = undefined;
    if (this.#dropped === 0) return;
    const { log, schedule } = this.#options;
    log('warn', 'spans_dropped', {
      count: this.#dropped,
      failure: this.#failure,
      key: ENDPOINT_KEY,
    });
    this.#dropped = 0;
    if (!this.#isClosed) this.#cancelReport = schedule(this.#limits.reportMs, () => this.#report());
  }
}
