/**
 * The locations: from a path to the treatment of its route group.
 *
 * @module
 */

import type { RouteGroup } from '@sallyport/protocol';
import { harmless } from './harmless.ts';
import { HEADER } from './headers.ts';
import { grpcTreatmentFile, treatmentFile } from './treatment.ts';

/**
 * Renders `routes.conf`.
 *
 * @param catchAll - The group of `/`.
 *
 * @throws {TypeError} As `renderNginxRecipe` does.
 */
export function renderRoutes(routes: readonly RouteGroup[], catchAll: RouteGroup): string {
  const groups = routes.map((group) => {
    const locations = locationsOf(group);
    const width = Math.max(...locations.map((location) => location.length));
    const lines = locations.map(
      (location) => `location ${location.padEnd(width)} { ${serve(group)} }\n`,
    );
    return `\n# ${harmless('group', group.name)}\n${lines.join('')}`;
  });
  const services = new Set(
    routes
      .filter(({ transport }) => transport === 'grpc')
      .flatMap(({ matches }) => matches.filter((match) => !match.includes('/'))),
  );
  const bare = [...services]
    .toSorted()
    .map((service) => `location = /${service} { ${serve(catchAll)} }\n`);
  return `${HEADER}
# X_User_Subject is X-User-Subject to some backends. The default server of the address decides.
ignore_invalid_headers on;
underscores_in_headers off;

# From a path that is not open, to the check, to its refusal. Every location the way ends in has an
# error_page of its own, so that none of the server's is used.
recursive_error_pages on;

# A backend would cut the path there.
if ($sallyport_cut_path) {
    return 400;
}

include sallyport/check.conf;
include sallyport/refusals.conf;

location @sallyport_guarded { ${serve(catchAll)} }

# A gRPC call to what is no method: once admitted, UNIMPLEMENTED.
location @sallyport_unmatched {
    include sallyport/${treatmentFile(catchAll)};
    error_page 404 = @sallyport_404_grpc;
    try_files /_sallyport/no-such-file =404;
}
${groups.join('')}
# A service without a method is a path like any other. Without these lines nginx would redirect it to
# the one with a slash at its end, unasked.
${bare.join('')}`;
}

/** Renders what HTTP locations include on top. */
export function renderHttpOnly(): string {
  return `${HEADER}
error_page 419 = @sallyport_unmatched;
if ($sallyport_protocol = grpc) {
    return 419;
}
`;
}

function locationsOf({ transport, matches }: RouteGroup): readonly string[] {
  const sorted = matches.toSorted();
  if (transport === 'http')
    return sorted
      .map((path) => harmless('path', path))
      .flatMap((path) => (path === '/' ? ['^~ /'] : [`= ${path}`, `^~ ${path}/`]));
  return sorted
    .map((match) => harmless('rpc', match))
    .map((match) => {
      if (match.endsWith('*')) return `^~ /${match.slice(0, -1)}`;
      return match.includes('/') ? `= /${match}` : `^~ /${match}/`;
    });
}

function serve(group: RouteGroup): string {
  const backend = harmless('backend', group.backend);
  const common = `include sallyport/${treatmentFile(group)};`;
  const pass = `proxy_pass http://sallyport_${backend};`;
  if (group.transport === 'http') return `include sallyport/http-only.conf; ${common} ${pass}`;
  const grpc = `include sallyport/${grpcTreatmentFile(group)};`;
  const long = group.streaming ? ' include sallyport/streaming.conf;' : '';
  return `${common} ${grpc}${long} ${pass} if ($sallyport_protocol = grpc) { grpc_pass grpc://sallyport_${backend}_grpc; }`;
}

/** Renders what locations of long streams include on top. */
export function renderStreaming(): string {
  return `${HEADER}
# A stream may be as long as it likes, and its client silent for as long as its backend.
client_body_timeout 1h;
client_max_body_size 0;
`;
}

/**
 * Refuses what nginx could not keep apart.
 *
 * @throws {TypeError} When a path stands twice, when a protected path lies below an open one, or when an
 *   open path is a prefix of methods: nginx would find the open one for another spelling of it.
 */
export function refuseAmbiguous(routes: readonly RouteGroup[]): void {
  const all = routes.flatMap(pathsOf);
  const repeated = all.find((path, index) => all.indexOf(path) !== index);
  if (repeated !== undefined) throw new TypeError(`${repeated} stands twice`);
  const paths = (isProtected: boolean) =>
    routes
      .filter((group) => group.protected === isProtected)
      .flatMap((group) => pathsOf(group).map((path) => path.toLowerCase()));
  for (const open of paths(false)) {
    if (open.endsWith('*')) throw new TypeError(`${open} opens more than it names`);
    const below = paths(true).find((path) => path === open || path.startsWith(`${open}/`));
    if (below !== undefined) throw new TypeError(`${below} is protected and lies below ${open}`);
  }
}

function pathsOf({ transport, matches }: RouteGroup): readonly string[] {
  return transport === 'http' ? matches : matches.map((match) => `/${match}`);
}
