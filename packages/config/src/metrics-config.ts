/**
 * Where metrics are served.
 *
 * @module
 */

/** `observe.metrics`. */
export interface MetricsConfig {
  readonly host: string;
  /** 0 serves none. */
  readonly port: number;
}
