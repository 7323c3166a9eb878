/**
 * Writes charts/sallyport/files/routes.yaml from the route groups: `node --conditions=source
 * tools/generate-chart-routes.ts`.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import {
  IDENTITY_HEADERS,
  listRemovedHeaders,
  ROUTE_GROUPS,
  type RouteGroup,
} from '../packages/protocol/src/index.ts';

/** Where the file lies. */
export const CHART_ROUTES: URL = new URL('../charts/sallyport/files/routes.yaml', import.meta.url);

/** A path of an Ingress. `page` is one that browsers open; absent for open paths and RPC. */
export interface ChartPath {
  readonly path: string;
  readonly pathType: 'Prefix' | 'Exact' | 'ImplementationSpecific';
  readonly page?: boolean;
}

/** A route group with its paths as an Ingress has them. */
export interface ChartRouteGroup
  extends Pick<RouteGroup, 'name' | 'transport' | 'protected' | 'streaming' | 'backend'> {
  readonly paths: readonly ChartPath[];
}

/** What the templates of the Ingress objects read. */
export interface ChartRoutes {
  /** Names in which `/me` says who the caller is. */
  readonly identityHeaders: readonly string[];
  /** Further names that no client may hand to a backend behind the check. */
  readonly removedHeaders: readonly string[];
  /** Names that a snippet removes where there is no check. */
  readonly removedOnOpenRoutes: Readonly<Record<RouteGroup['transport'], readonly string[]>>;
  /** Names behind the prefixes of grpc-gateway, which a snippet removes on HTTP routes. */
  readonly removedCarriedHeaders: readonly string[];
  readonly groups: readonly ChartRouteGroup[];
}

/** Backends whose protected paths are opened by browsers, and such paths of other backends. */
const PAGE_BACKENDS: ReadonlySet<string> = new Set(['console', 'grafana']);
const PAGE_PATHS: ReadonlySet<string> = new Set(['/spark-history-server']);

/** What the template of ingress-nginx sets on every request to a backend. */
const SET_BY_CONTROLLER: ReadonlySet<string> = new Set([
  'proxy',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-scheme',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-scheme',
]);

/** The ingress asks `/me` through itself: on an open HTTP route these are its own question. */
const READ_BY_CHECK: ReadonlySet<string> = new Set(['x-original-method', 'x-original-uri']);

/** Makes the data from the one table and the one list. */
export function createChartRoutes(groups: readonly RouteGroup[] = ROUTE_GROUPS): ChartRoutes {
  const { plain, carried, carriedCredentials } = listRemovedHeaders();
  const identity = Object.values(IDENTITY_HEADERS);
  const removed = plain.filter((name) => !SET_BY_CONTROLLER.has(name));
  return {
    identityHeaders: identity.map(spell),
    removedHeaders: [...removed.filter((name) => !isIn(identity, name)), ...carriedCredentials].map(
      spell,
    ),
    removedOnOpenRoutes: {
      http: removed.filter((name) => !READ_BY_CHECK.has(name)).map(spell),
      grpc: [...removed, ...carriedCredentials].map(spell),
    },
    removedCarriedHeaders: carried.map(spell),
    groups: groups.map(
      ({ name, transport, protected: isProtected, streaming, backend, matches }) => ({
        name,
        transport,
        protected: isProtected,
        streaming,
        backend,
        paths: matches.map((match) => toPath(match, { transport, isProtected, backend })),
      }),
    ),
  };
}

/** Renders the whole file. */
export function renderChartRoutes(): string {
  const head =
    '# Made by `npm run docs` from the route groups of packages/protocol. Do not edit.\n';
  return head + stringify(createChartRoutes(), { lineWidth: 120, flowCollectionPadding: false });
}

/**
 * A match as a path of an Ingress. `Prefix` ends at segment boundaries, as the matches of the table do; a prefix of
 * methods does not, and is left to the controller, for which it is a prefix of characters.
 */
function toPath(
  match: string,
  {
    transport,
    isProtected,
    backend,
  }: { readonly transport: string; readonly isProtected: boolean; readonly backend: string },
): ChartPath {
  if (transport === 'http') {
    const path: ChartPath = { path: match, pathType: 'Prefix' };
    if (!isProtected) return path;
    return { ...path, page: PAGE_BACKENDS.has(backend) || PAGE_PATHS.has(match) };
  }
  if (match.endsWith('*'))
    return { path: `/${match.slice(0, -1)}`, pathType: 'ImplementationSpecific' };
  return { path: `/${match}`, pathType: match.includes('/') ? 'Exact' : 'Prefix' };
}

function isIn(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

/** As headers are usually spelt; nginx compares without regard to case. */
function spell(name: string): string {
  return name.replaceAll(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}

if (import.meta.main) writeFileSync(CHART_ROUTES, renderChartRoutes());
