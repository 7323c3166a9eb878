/**
 * The part of the configuration that is about distributed traces.
 *
 * @module
 */

/** Traces to a collector. A text that is not set is the empty string. */
export interface TracesConfig {
  /** Where OTLP over HTTP is taken; empty traces nothing. */
  readonly endpoint: string;
  /** Share of the requests without a trace of their own, 0 to 1. */
  readonly sample: number;
  /** Requests a second that continue a trace begun elsewhere, in each process. */
  readonly continuedPerSecond: number;
  /** File of the headers the collector asks for; a secret. */
  readonly headersFile: string;
  readonly serviceName: string;
}
