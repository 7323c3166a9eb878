/**
 * From a request path to its route group.
 *
 * @module
 */
import type { RouteGroup } from './route-groups.ts';
/**
 * Finds the group of a path. Never fails: what no group names is protected.
 *
 * @param path - Without query, as it is sent to the backend, starting with `/`. Untrusted.
 * @param transport - `grpc` for a gRPC call; `http` for everything else, Connect calls included.
 */
export type RouteMatcher = (path: string, transport: 'http' | 'grpc') => RouteGroup;
/**
 * Creates the matcher of a table. The longest match wins, at segment boundaries, case-sensitive.
 *
 * An unprotected group is chosen only for a path that no backend could read as another one: plain
 * segments of letters, digits and `-._~`. A path with an escape, a dot segment, `//`, `\`, `;`, a
 * control or non-ASCII character is matched among the protected groups alone, and so is one whose
 * lower-case form a protected group claims more closely (CVE-2026-33494, CVE-2026-40575,
 * CVE-2026-48794). The query never takes part (CVE-2025-54576). A gRPC service is also reachable
 * through HTTP, because Connect and gRPC-Web calls are plain POST requests to its path.
 *
 * @throws {TypeError} When a match is malformed, given twice, or opens every path: a programmer error.
 */
export declare function createRouteMatcher(routes: readonly RouteGroup[]): RouteMatcher;
//# sourceMappingURL=match-route.d.ts.map
