/**
 * Which routes are protected, and who serves them: the one table that the embedded gateway, the proxy
 * recipes and the chart are made from.
 *
 * @module
 */
/**
 * Which credential of the caller a backend still sees, design section 3. `bearer` and `session` pass
 * that one on; `all` passes everything the authentication service itself reads, sign-in attempts
 * included, and is for that service alone.
 */
export type ForwardCredential = 'none' | 'bearer' | 'session' | 'all';
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
   * For `http`: `/me` matches itself and everything below `/me/`; `/` matches every path.
   * For `grpc`: `pkg.Service` matches every method; `pkg.Service/Method` one; `pkg.Service/Watch*` a prefix.
   */
  readonly matches: readonly string[];
  readonly forwardCredential: ForwardCredential;
  /** Whether calls stay open for long: time-outs of the ingress do not apply. */
  readonly streaming: boolean;
}
/**
 * The routes of the platform. A backend that an installation does not run costs nothing: its routes
 * stay protected, and whoever is admitted learns that nobody serves them.
 *
 * The admin service's groups forward every credential, because it verifies again whichever one the
 * verdict was made from: a program's bearer, a browser's session, and for `/callback` the sign-in
 * attempt. All other backends see none.
 */
export declare const ROUTE_GROUPS: readonly RouteGroup[];
//# sourceMappingURL=route-groups.d.ts.map
