/**
 * Which routes are protected, and who serves them: the one table that the embedded gateway, the proxy
 * recipes and the chart are made from.
 *
 * @module
 */

/** Which credential of the caller a backend still sees, design section 3. */
export type ForwardCredential = 'none' | 'bearer' | 'session';

/** Routes of one transport that share a backend and a treatment. */
export interface RouteGroup {
  /** Unique, kebab-case; a metric label. */
  readonly name: string;
  readonly transport: 'http' | 'grpc';
  /** Whether the ingress asks the verdict first. */
  readonly protected: boolean;
  /** Name of the service behind: `admin`, `console`, `executions`, … */
  readonly backend: string;
  /**
   * For `http`: `/me` matches itself and everything below `/me/`.
   * For `grpc`: `pkg.Service` matches every method; `pkg.Service/Method` one; `pkg.Service/Watch*` a prefix.
   */
  readonly matches: readonly string[];
  readonly forwardCredential: ForwardCredential;
  /** Whether calls stay open for long: time-outs of the ingress do not apply. */
  readonly streaming: boolean;
}
