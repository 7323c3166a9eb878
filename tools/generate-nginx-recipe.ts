/**
 * Writes the generated files of the nginx recipe from the route groups.
 *
 * `node --conditions=source tools/generate-nginx-recipe.ts [--out DIR] [--claim NAME]...
 * [--bearer-header NAME]... [--strip-header NAME]...`
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  CLAIM_HEADER_PREFIX,
  DEFAULT_AUTHORIZATION_HEADER,
  type ForwardCredential,
  IDENTITY_HEADERS,
  ROUTE_GROUPS,
  type RouteGroup,
} from '@sallyport/protocol';

/** What a recipe is made from. Everything in it is rendered into nginx, and refused unless it is harmless. */
export interface RecipeOptions {
  /** Only groups of transport `http` are rendered. One of them must match `/`. */
  readonly routes: readonly RouteGroup[];
  /** `claimHeaders` of the configuration, and any further claim a backend might believe. */
  readonly claims: readonly string[];
  /** `auth.httpAuthorizationHeader` and `auth.grpcAuthorizationHeader`, where they differ from the default. */
  readonly bearerHeaders: readonly string[];
  /** `stripHeaders` of the configuration. */
  readonly stripHeaders: readonly string[];
}

/** Where the generated files lie. */
export const RECIPE_FOLDER: URL = new URL('../deploy/nginx/sallyport/', import.meta.url);

/** What the files in {@link RECIPE_FOLDER} are made from. */
export const DEFAULT_RECIPE: RecipeOptions = {
  routes: ROUTE_GROUPS,
  claims: ['groups', 'tenant_id'],
  bearerHeaders: [],
  stripHeaders: [],
};

const SHAPES = {
  backend: /^[a-z][a-z0-9-]{0,62}$/,
  group: /^[a-z][a-z0-9-]{0,62}$/,
  path: /^\/(?:[A-Za-z0-9._~-]*[A-Za-z0-9_~-](?:\/[A-Za-z0-9._~-]*[A-Za-z0-9_~-])*)?$/,
  header: /^[A-Za-z](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/,
  claim: /^[A-Za-z0-9._:/-]{1,200}$/,
} as const;

/** What every location passes on by itself, so that a client's own copy does not arrive. */
const OWN_HEADERS: Readonly<Record<string, string>> = {
  Host: '$sallyport_public_host',
  'X-Forwarded-For': '$remote_addr',
  'X-Forwarded-Host': '$sallyport_public_host',
  'X-Forwarded-Proto': '$sallyport_public_scheme',
  'X-Request-Id': '$sallyport_request_id',
};

/**
 * Names that say something about the path, the method or the peer, and hop-by-hop names that nginx
 * would pass on. nginx removes headers by exact name only, so each is written out.
 */
const UNOWNED_HEADERS: readonly string[] = [
  'Forwarded',
  'Front-End-Https',
  'HTTP2-Settings',
  'Proxy',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Proxy-Connection',
  'Trailer',
  'True-Client-IP',
  'X-Amzn-Oidc-Accesstoken',
  'X-Amzn-Oidc-Data',
  'X-Amzn-Oidc-Identity',
  'X-Auth-Request-Access-Token',
  'X-Auth-Request-Email',
  'X-Auth-Request-Groups',
  'X-Auth-Request-Preferred-Username',
  'X-Auth-Request-Redirect',
  'X-Auth-Request-User',
  'X-Client-IP',
  'X-Envoy-Original-Path',
  'X-Forwarded',
  'X-Forwarded-Access-Token',
  'X-Forwarded-By',
  'X-Forwarded-Client-Cert',
  'X-Forwarded-Email',
  'X-Forwarded-Groups',
  'X-Forwarded-Method',
  'X-Forwarded-Path',
  'X-Forwarded-Port',
  'X-Forwarded-Preferred-Username',
  'X-Forwarded-Prefix',
  'X-Forwarded-Protocol',
  'X-Forwarded-Scheme',
  'X-Forwarded-Server',
  'X-Forwarded-Ssl',
  'X-Forwarded-Uri',
  'X-Forwarded-Url',
  'X-Forwarded-User',
  'X-HTTP-Method',
  'X-HTTP-Method-Override',
  'X-Method-Override',
  'X-Original-Forwarded-For',
  'X-Original-Host',
  'X-Original-Method',
  'X-Original-Path',
  'X-Original-URI',
  'X-Original-URL',
  'X-Real-IP',
  'X-Rewrite-URL',
  'X-Scheme',
  'X-Sent-From',
  'X-Url-Scheme',
];

const HEADER = '# Made by tools/generate-nginx-recipe.ts from the route groups. Do not edit.\n';
/** More runs of our cookies than this, which no browser sends, and a backend receives no cookie at all. */
const COOKIE_STEPS = 6;
const COOKIE_PREFIX = '(?:__Host-|__Secure-)?';
/** Which of our cookies a backend must not see, by what its group forwards. */
const HIDDEN_COOKIES: Readonly<Record<ForwardCredential, string | undefined>> = {
  all: undefined,
  session: 'core_login_[0-3]',
  bearer: 'core_(?:session|login_[0-3])',
  none: 'core_(?:session|login_[0-3])',
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
  const routes = options.routes.filter(({ transport }) => transport === 'http');
  const bearers = [
    ...new Set([DEFAULT_AUTHORIZATION_HEADER, ...options.bearerHeaders, 'authorization']),
  ].map((name) => harmless('header', name));
  const strips = options.stripHeaders.map((name) => harmless('header', name));
  const identity = [
    ...Object.values(IDENTITY_HEADERS),
    ...options.claims.map(
      (claim) =>
        CLAIM_HEADER_PREFIX +
        harmless('claim', claim)
          .toLowerCase()
          .replaceAll(/[^a-z0-9-]/g, '-'),
    ),
  ].map((name) => harmless('header', name));
  const catchAll = routes.find(({ matches }) => matches.includes('/'));
  if (catchAll?.protected !== true) throw new TypeError('no protected group matches /');
  refuseAmbiguous(routes);

  const files = new Map([
    ['check.conf', renderCheck()],
    ['cookies.conf', renderCookies(routes)],
    ['routes.conf', renderRoutes(routes, catchAll)],
  ]);
  for (const group of routes) {
    const isCut = group.forwardCredential === 'none' || group.forwardCredential === 'session';
    files.set(
      fileOf(group),
      HEADER +
        (group.protected ? renderVerdict(identity) : OPEN) +
        setHeaders({
          ...OWN_HEADERS,
          Connection: '$sallyport_connection',
          Upgrade: '$sallyport_upgrade',
          ...blank([...UNOWNED_HEADERS, ...strips]),
          ...(group.protected
            ? Object.fromEntries(identity.map((name) => [name, variableOf(name)]))
            : blank(identity)),
          ...(isCut ? blank(bearers) : {}),
          ...(HIDDEN_COOKIES[group.forwardCredential] === undefined
            ? {}
            : { Cookie: cookieVariable(group.forwardCredential) }),
        }) +
        FORWARD,
    );
  }
  return files;
}

const CHECK = '/_sallyport/check';

function renderCheck(): string {
  const headers = setHeaders({
    ...OWN_HEADERS,
    ...blank(UNOWNED_HEADERS),
    Connection: '',
    'Content-Length': '',
    Upgrade: '$sallyport_upgrade',
    'X-Original-Method': '$request_method',
    'X-Original-URI': '$request_uri',
  });
  return `${HEADER}
location = ${CHECK} {
    internal;
    # Any error_page here keeps those of the server away: one with "=200" would be an admission.
    error_page 599 /;
    proxy_intercept_errors off;
    proxy_cache off;
    proxy_method HEAD;
    proxy_pass_request_body off;
    proxy_http_version 1.1;
    proxy_connect_timeout 2s;
    proxy_send_timeout 5s;
    proxy_read_timeout 5s;
${indent(headers)}    proxy_pass http://sallyport_admin/me;
}
`;
}

function renderVerdict(identity: readonly string[]): string {
  const variables = identity.map(
    (name) => `auth_request_set ${variableOf(name)} $upstream_http_${name.replaceAll('-', '_')};\n`,
  );
  return `
satisfy all;
auth_request ${CHECK};
auth_request_set $sallyport_set_cookie $upstream_http_set_cookie;
auth_request_set $sallyport_location $upstream_http_location;
auth_request_set $sallyport_retry_after $upstream_http_retry_after;
${variables.join('')}
# What the check said, not what a backend said: proxy_intercept_errors is off.
error_page 401 = @sallyport_401_$sallyport_caller;
error_page 403 = @sallyport_403_$sallyport_caller;
error_page 500 = @sallyport_503;
error_page 502 = @sallyport_502;
error_page 504 = @sallyport_504;

# "always": the slide of the session also reaches who gets an error from the backend.
add_header Set-Cookie $sallyport_set_cookie always;
include sallyport/response-headers*.conf;

`;
}

const OPEN = `
# A path that a backend could read as another one is never open.
recursive_error_pages on;
error_page 418 = @sallyport_guarded;
error_page 502 = @sallyport_502;
error_page 504 = @sallyport_504;
if ($sallyport_plain_path = "") {
    return 418;
}
include sallyport/response-headers*.conf;

`;

const FORWARD = `
proxy_http_version 1.1;
proxy_intercept_errors off;
proxy_ignore_headers X-Accel-Redirect X-Accel-Buffering;
proxy_redirect off;
proxy_cache off;
proxy_buffering off;
# A sign-in carries the whole deep link through the IdP, a sign-out the id_token: more than 4k of headers.
proxy_buffer_size 16k;
proxy_buffers 8 16k;
proxy_connect_timeout 5s;
proxy_send_timeout 60s;
proxy_read_timeout 1h;
`;

/** Takes our cookies out of the Cookie header, one run of them a step; nginx has no "replace all". */
function renderCookies(routes: readonly RouteGroup[]): string {
  const kinds = new Set(
    routes.flatMap(({ forwardCredential }) =>
      HIDDEN_COOKIES[forwardCredential] === undefined ? [] : [cookieKind(forwardCredential)],
    ),
  );
  const maps = [...kinds].toSorted().map((kind) => {
    const ours = `[ \\t]*+${COOKIE_PREFIX}${HIDDEN_COOKIES[kind]}[ \\t]*+=`;
    const source = (step: number) =>
      step === 0 ? '$http_cookie' : `$sallyport_cookie_${kind}_${step}`;
    const steps = Array.from(
      { length: COOKIE_STEPS },
      (_, step) => `
map ${source(step)} ${source(step + 1)} {
    default ${source(step)};
    "~^(?<sallyport_before>(?:[^;]*+;)*?)(?:${ours}[^;]*+(?:;|$))+(?<sallyport_after>.*)$" "$sallyport_before$sallyport_after";
}
`,
    );
    return `${steps.join('')}
# One of ours is left: no cookie at all.
map ${source(COOKIE_STEPS)} ${cookieVariable(kind)} {
    default "";
    "~(?:^|;)${ours}" "";
    "~^[; \\t]*+(?<sallyport_kept>.*?)[; \\t]*$" $sallyport_kept;
}
`;
  });
  return HEADER + maps.join('');
}

function renderRoutes(routes: readonly RouteGroup[], catchAll: RouteGroup): string {
  const groups = routes.map((group) => {
    const locations = [...group.matches]
      .map((path) => harmless('path', path))
      .toSorted()
      .flatMap((path) => (path === '/' ? ['^~ /'] : [`= ${path}`, `^~ ${path}/`]));
    const width = Math.max(...locations.map((location) => location.length));
    return `\n# ${harmless('group', group.name)}\n${locations
      .map((location) => `location ${location.padEnd(width)} { ${serve(group)} }\n`)
      .join('')}`;
  });
  return `${HEADER}
# X_User_Subject is X-User-Subject to some backends. The default server of the address decides.
ignore_invalid_headers on;
underscores_in_headers off;

# A backend would cut the path there.
if ($request_uri ~ "#") {
    return 400;
}

include sallyport/check.conf;
include sallyport/refusals.conf;

location @sallyport_guarded { ${serve(catchAll)} }
${groups.join('')}`;
}

function serve(group: RouteGroup): string {
  return `include sallyport/${fileOf(group)}; proxy_pass http://sallyport_${harmless('backend', group.backend)};`;
}

function fileOf(group: RouteGroup): string {
  return `${group.protected ? 'protected' : 'open'}-${group.forwardCredential}.conf`;
}

function refuseAmbiguous(routes: readonly RouteGroup[]): void {
  const all = routes.flatMap(({ matches }) => matches);
  const repeated = all.find((path, index) => all.indexOf(path) !== index);
  if (repeated !== undefined) throw new TypeError(`${repeated} stands twice`);
  const paths = (isProtected: boolean) =>
    routes
      .filter((group) => group.protected === isProtected)
      .flatMap(({ matches }) => matches.map((path) => path.toLowerCase()));
  for (const open of paths(false)) {
    const below = paths(true).find((path) => path === open || path.startsWith(`${open}/`));
    if (below !== undefined) throw new TypeError(`${below} is protected and lies below ${open}`);
  }
}

function cookieKind(forwardCredential: ForwardCredential): 'none' | 'session' {
  return forwardCredential === 'session' ? 'session' : 'none';
}

function cookieVariable(forwardCredential: ForwardCredential): string {
  return `$sallyport_cookie_${cookieKind(forwardCredential)}`;
}

function variableOf(header: string): string {
  return `$sallyport_${header.replace(/^x-/, '').replaceAll('-', '_')}`;
}

function blank(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, '']));
}

function setHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `proxy_set_header ${name} ${value === '' ? '""' : value};\n`)
    .join('');
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ');
}

/** Lets through only what cannot end a word, a directive or a block, or name a variable (CVE-2025-1974). */
function harmless(kind: keyof typeof SHAPES, value: string): string {
  if (!SHAPES[kind].test(value)) throw new TypeError(`${kind} cannot be written into nginx`);
  return value;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: RECIPE_FOLDER.pathname },
      claim: { type: 'string', multiple: true, default: [...DEFAULT_RECIPE.claims] },
      'bearer-header': { type: 'string', multiple: true, default: [] },
      'strip-header': { type: 'string', multiple: true, default: [] },
    },
  });
  const files = renderNginxRecipe({
    routes: ROUTE_GROUPS,
    claims: values.claim,
    bearerHeaders: values['bearer-header'],
    stripHeaders: values['strip-header'],
  });
  for (const [name, content] of files) writeFileSync(join(values.out, name), content);
}
