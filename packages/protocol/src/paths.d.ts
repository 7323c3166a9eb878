/**
 * The paths this product answers itself, relative to `publicUrl`.
 *
 * @module
 */
/** Endpoints of the requirement, "Endpoints" table. */
export declare const PATHS: {
  readonly root: '/';
  readonly me: '/me';
  readonly login: '/login';
  readonly callback: '/callback';
  readonly logout: '/logout';
  /** Own paths live under one prefix that existing charts already route unprotected. */
  readonly own: '/auth/';
  readonly account: '/auth/account';
  readonly session: '/auth/session';
  readonly healthz: '/healthz';
  readonly readyz: '/readyz';
};
/**
 * Whether a path names one of our endpoints, which no sign-in may end on: it would loop, or start
 * an action by itself.
 *
 * @param path - A path without query, dot segments already resolved.
 */
export declare function isOwnEndpoint(path: string): boolean;
//# sourceMappingURL=paths.d.ts.map
