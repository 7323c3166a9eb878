/**
 * The generated files of the nginx recipe, from the route groups and the names an installation has of its own.
 *
 * @module
 */

import {
  CLAIM_HEADER_PREFIX,
  DEFAULT_AUTHORIZATION_HEADER,
  IDENTITY_HEADERS,
  ROUTE_GROUPS,
  type RouteGroup,
} from '@sallyport/protocol';
import { renderCheck } from './check.ts';
import { renderCookies } from './cookies.ts';
import { harmless } from './harmless.ts';
import { HEADER } from './headers.ts';
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
export interface RecipeOptions {
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

/** Where the generated files of the checkout lie. */
export const RECIPE_FOLDER: URL = new URL('../../deploy/nginx/sallyport/', import.meta.url);

/** The one file that not every recipe has; `http.conf` includes it where it is. */
export const VERDICT_CACHE_FILE = 'verdict-cache.conf';
/** Another such: where Sallyport is, when the site does not say so. */
export const UPSTREAM_FILE = 'upstream.conf';

/** What the files in {@link RECIPE_FOLDER} are made from. */
export const DEFAULT_RECIPE: RecipeOptions = {
  routes: ROUTE_GROUPS,
  claims: ['groups', 'tenant_id'],
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
export function renderNginxRecipe(options: RecipeOptions): ReadonlyMap<string, string> {
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

/**
 * The header a claim arrives in.
 *
 * @throws {TypeError} When no header can be named after it.
 */
export function claimHeader(claim: string): string {
  const name = harmless('claim', claim)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-');
  return harmless('header', CLAIM_HEADER_PREFIX + name);
}
