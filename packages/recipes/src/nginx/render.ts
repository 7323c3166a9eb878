/**
 * The files of the nginx recipe, from the route groups and the names an installation has of its own.
 *
 * @module
 */

import {
  DEFAULT_AUTHORIZATION_HEADER,
  IDENTITY_HEADERS,
  ROUTE_GROUPS,
  type RouteGroup,
} from '@sallyport/protocol';
import { renderCheck } from './check.ts';
import { claimHeader } from './claim-header.ts';
import { renderCookies } from './cookies.ts';
import { DEFAULT_CLAIMS } from './default-claims.ts';
import { harmless } from './harmless.ts';
import { HEADER } from './headers.ts';
import { renderHttp } from './http.ts';
import { renderRefusals } from './refusals.ts';
import { refuseAmbiguous, renderHttpOnly, renderRoutes, renderStreaming } from './routes.ts';
import {
  grpcTreatmentFile,
  type HeaderNames,
  renderGrpcTreatment,
  renderTreatment,
  treatmentFile,
} from './treatment.ts';
import { renderVerdictCache } from './verdict-cache.ts';

/** What a recipe is made from. Everything in it is rendered into nginx, and refused unless it is harmless. */
export interface NginxRecipeOptions {
  /** One of them must match `/`. */
  readonly routes: readonly RouteGroup[];
  /** `claimHeaders` of the configuration, and any further claim a backend might believe. */
  readonly claims: readonly string[];
  /** `auth.httpAuthorizationHeader` and `auth.grpcAuthorizationHeader`, where they differ from the default. */
  readonly bearerHeaders: readonly string[];
  /** `stripHeaders` of the configuration. */
  readonly stripHeaders: readonly string[];
  /** Address of Sallyport, `unix:` and a path or host and port; absent leaves the upstream to the site. */
  readonly upstream?: string | undefined;
  /** Where nginx may keep verdicts, for as long as `doors.me.verdictCache` says; absent keeps none. */
  readonly verdictFolder?: string | undefined;
}

/** How nginx keeps verdicts. */
export const VERDICT_CACHE_FILE = 'verdict-cache.conf';
/** Where Sallyport is, when the site does not say so. */
export const UPSTREAM_FILE = 'upstream.conf';
/** Files that not every recipe has; `http.conf` includes each where it is. */
export const OPTIONAL_FILES: readonly string[] = [VERDICT_CACHE_FILE, UPSTREAM_FILE];

/** What the files in deploy/nginx/sallyport are made from. */
export const DEFAULT_RECIPE: NginxRecipeOptions = {
  routes: ROUTE_GROUPS,
  claims: DEFAULT_CLAIMS,
  bearerHeaders: [],
  stripHeaders: [],
};

/**
 * Renders the recipe.
 *
 * @returns Content by file name.
 *
 * @throws {TypeError} When a name is not of the one harmless shape its kind has, when no group matches
 *   `/`, when a path stands twice, or when a protected path lies below an open one: nginx would find
 *   the open one for another spelling of it.
 */
export function renderNginxRecipe(options: NginxRecipeOptions): ReadonlyMap<string, string> {
  const { routes, verdictFolder } = options;
  const bearers = [
    ...new Set([DEFAULT_AUTHORIZATION_HEADER, ...options.bearerHeaders, 'authorization']),
  ].map((name) => harmless('header', name));
  const strips = options.stripHeaders.map((name) => harmless('header', name));
  const identity = [...Object.values(IDENTITY_HEADERS), ...options.claims.map(claimHeader)].map(
    (name) => harmless('header', name),
  );
  const catchAll = routes.find(
    ({ transport, matches }) => transport === 'http' && matches.includes('/'),
  );
  if (catchAll?.protected !== true) throw new TypeError('no protected group matches /');
  refuseAmbiguous(routes);

  const names: HeaderNames = { identity, bearers, strips };
  const files = new Map([
    ['check.conf', renderCheck(verdictFolder !== undefined)],
    ['cookies.conf', renderCookies(routes)],
    ['http.conf', renderHttp()],
    ['http-only.conf', renderHttpOnly()],
    ['refusals.conf', renderRefusals()],
    ['routes.conf', renderRoutes(routes, catchAll)],
    ['streaming.conf', renderStreaming()],
  ]);
  if (verdictFolder !== undefined)
    files.set(VERDICT_CACHE_FILE, renderVerdictCache(harmless('folder', verdictFolder), bearers));
  if (options.upstream !== undefined)
    files.set(UPSTREAM_FILE, renderUpstream(harmless('upstream', options.upstream)));
  for (const group of routes) {
    files.set(treatmentFile(group), renderTreatment(group, names));
    if (group.transport === 'grpc')
      files.set(grpcTreatmentFile(group), renderGrpcTreatment(group, names));
  }
  return files;
}

/** Renders {@link UPSTREAM_FILE}; Sallyport keeps an idle connection for 75 s, so nginx closes first. */
function renderUpstream(address: string): string {
  const block = (name: string, connections: number) => `
upstream ${name} {
    server ${address};
    keepalive ${connections};
    keepalive_timeout 60s;
}
`;
  return HEADER + block('sallyport_admin', 64) + block('sallyport_admin_grpc', 16);
}
