/**
 * What ingress-nginx makes of Ingress objects, as far as these tests need it, for a stock nginx.
 *
 * Follows `rootfs/etc/nginx/template/nginx.tmpl`, `internal/ingress/controller/{location.go,template/template.go}` and
 * `internal/ingress/annotations` of {@link SOURCE}, the last release. Its Lua parts are replaced: the balancer by one
 * upstream for each address that it would connect to, and the hash of the cache key by the key itself. An annotation that is not written down
 * here is an error, so that none is left out silently.
 *
 * @module
 */

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { KubernetesObject } from './helm.ts';

/** Where the rules were taken from. */
const SOURCE = {
  repository: 'kubernetes/ingress-nginx',
  tag: 'controller-v1.15.1',
  commit: 'dbb11b92ddb77bee9c35e462479129354c84f939',
} as const;

/** An Ingress, as far as the chart fills it. */
interface Ingress extends KubernetesObject {
  readonly spec: {
    readonly rules: readonly {
      readonly host: string;
      readonly http: { readonly paths: readonly IngressPath[] };
    }[];
  };
}

interface IngressPath {
  readonly path: string;
  readonly pathType: 'Prefix' | 'Exact' | 'ImplementationSpecific';
  readonly backend: {
    readonly service: { readonly name: string; readonly port: { readonly number: number } };
  };
}

/** Settings of the controller. */
export interface ControllerSettings {
  /** Prefix of the annotations that it reads (`--annotations-prefix`). */
  readonly annotationPrefix?: string;
  /** `allow-snippet-annotations` with `annotations-risk-level: Critical`; both are off by default. */
  readonly allowsSnippets?: boolean;
}

/** Where things are on this machine. */
export interface Places {
  /** Port of the listener with TLS, HTTP/1.1 and HTTP/2. */
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** Host and port of the pods behind a Service's port. */
  readonly serviceAddress: (name: string, port: number) => string;
}

/** Values by suffix; what is not given is `''`. */
type Annotations = Readonly<Record<string, string>>;

interface Location {
  /** As the controller rewrites it: a `Prefix` ends in `/`, and its exact twin does not. */
  readonly path: string;
  readonly pathType: IngressPath['pathType'];
  readonly annotations: Annotations;
  readonly upstream: string;
}

const DEFAULT_PREFIX = 'nginx.ingress.kubernetes.io';

/** Text of a URL with variables, of a list of header names, and so on (`annotations/parser/validators.go`). */
const VALIDATORS = {
  urlWithVariable: /^[-._~a-zA-Z0-9/:, ?&=$]*$/,
  url: /^[-._~a-zA-Z0-9/:,?&=]*$/,
  variable: /^[A-Za-z0-9\-_${}]*$/,
  headers: /^[A-Za-z0-9\-_, ]*$/,
  extended: /^[-._~a-zA-Z0-9/:, ]*$/,
  method: /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|CONNECT|OPTIONS|TRACE)$/,
  boolean: /^(?:1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/,
  integer: /^[+-]?\d+$/,
  size: /^\d+[bkmg]?$/i,
  protocol: /^(?:HTTP|HTTPS|AUTO_HTTP|GRPC|GRPCS|FCGI)$/,
  anything: /^[\s\S]*$/,
} as const;

/** The annotations that the chart may use, and what the controller accepts as their value. */
const ANNOTATIONS: Readonly<Record<string, RegExp>> = {
  'auth-url': VALIDATORS.urlWithVariable,
  'auth-signin': VALIDATORS.urlWithVariable,
  'auth-signin-redirect-param': VALIDATORS.url,
  'auth-response-headers': VALIDATORS.headers,
  'auth-cache-key': VALIDATORS.variable,
  'auth-cache-duration': VALIDATORS.extended,
  'auth-method': VALIDATORS.method,
  'auth-always-set-cookie': VALIDATORS.boolean,
  'enable-global-auth': VALIDATORS.boolean,
  'backend-protocol': VALIDATORS.protocol,
  'service-upstream': VALIDATORS.boolean,
  'proxy-buffer-size': VALIDATORS.size,
  'proxy-read-timeout': VALIDATORS.integer,
  'proxy-send-timeout': VALIDATORS.integer,
  'proxy-body-size': VALIDATORS.size,
  'configuration-snippet': VALIDATORS.anything,
};

/** `strict-validate-path-type`, on by default: for `Exact` and `Prefix`. */
const STRICT_PATH = /^\/[A-Za-z0-9._\-/]*$/;

/** `authreq.DefaultCacheDuration`: with a key and no duration, refusals are kept, too. */
const DEFAULT_CACHE_DURATION = '200 202 401 5m';

/** What the location that asks sets, in the template's order; the values are the template's. */
const CHECK_HEADERS: readonly (readonly [string, string])[] = [
  ['Content-Length', '""'],
  ['X-Forwarded-Proto', '""'],
  ['X-Request-ID', '$req_id'],
];
const CHECK_HEADERS_WITH_METHOD: readonly (readonly [string, string])[] = [
  ['X-Original-URI', '$request_uri'],
  ['X-Scheme', '$pass_access_scheme'],
];
const CHECK_HEADERS_LAST: readonly (readonly [string, string])[] = [
  ['X-Original-URL', '$scheme://$http_host$request_uri'],
  ['X-Original-Method', '$request_method'],
  ['X-Sent-From', '"nginx-ingress-controller"'],
  ['X-Real-IP', '$remote_addr'],
  ['X-Forwarded-For', '$remote_addr'],
  ['X-Auth-Request-Redirect', '$request_uri'],
];

/** What every location sets on the request to its backend. */
const BACKEND_HEADERS: readonly (readonly [string, string])[] = [
  ['Host', '$http_host'],
  ['Upgrade', '$http_upgrade'],
  ['Connection', '$connection_upgrade'],
  ['X-Request-ID', '$req_id'],
  ['X-Real-IP', '$remote_addr'],
  ['X-Forwarded-For', '$remote_addr'],
  ['X-Forwarded-Host', '$http_host'],
  ['X-Forwarded-Port', '$server_port'],
  ['X-Forwarded-Proto', '$scheme'],
  ['X-Forwarded-Scheme', '$scheme'],
  ['X-Scheme', '$scheme'],
  ['X-Original-Forwarded-For', '$http_x_forwarded_for'],
  ['X-Original-Forwarded-Host', '$http_x_forwarded_host'],
  ['Proxy', '""'],
];

/** What stands in `http {}` with the controller's default settings. */
const HTTP = `
    client_header_buffer_size 1k;
    large_client_header_buffers 4 8k;
    variables_hash_bucket_size 256;
    variables_hash_max_size 2048;
    proxy_headers_hash_max_size 512;
    proxy_headers_hash_bucket_size 64;
    underscores_in_headers off;
    ignore_invalid_headers on;
    map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
    map $http_x_request_id $req_id { default $http_x_request_id; '' $request_id; }
    proxy_pass_header Server;
    proxy_cache_path cache levels=1:2 keys_zone=auth_cache:10m max_size=128m inactive=30m use_temp_path=off;`;

/** Modules that the controller has beyond those of a stock nginx; `set_escape_uri` is one's directive. */
export const MODULES: readonly string[] = [
  '/usr/lib/nginx/modules/ndk_http_module.so',
  '/usr/lib/nginx/modules/ngx_http_set_misc_module.so',
];

/**
 * Writes the `http {}` part of the configuration.
 *
 * @throws When the controller would not accept an object, or when it has an annotation that is not written down here.
 */
export function translate(
  objects: readonly KubernetesObject[],
  places: Places,
  settings: ControllerSettings = {},
): string {
  const ingresses = objects.filter((object): object is Ingress => object.kind === 'Ingress');
  const hosts = new Set(ingresses.flatMap(({ spec }) => spec.rules.map(({ host }) => host)));
  const upstreams = new Map<string, string>();
  const servers = [...hosts].map((host) => {
    const locations = ingresses
      .flatMap((ingress) => listLocations(ingress, host, upstreams, places, settings))
      .toSorted((one, other) => other.path.length - one.path.length);
    refuseTwice(locations);
    const written = locations.map((location) => writeLocation(location, host));
    return `
    # The check is asked by its public name, through this very listener.
    upstream ${host} { server 127.0.0.1:${places.port}; }
    server {
      server_name ${host};
      listen 127.0.0.1:${places.port} ssl http2;
      ssl_certificate ${places.certFile};
      ssl_certificate_key ${places.keyFile};
      set $pass_access_scheme $scheme;
      ${written.join('')}
    }`;
  });
  const blocks = [...upstreams].map(
    ([name, address]) => `
    upstream ${name} { server ${address}; keepalive 8; keepalive_timeout 2s; }`,
  );
  return `${HTTP}
    ${blocks.join('')}${servers.join('')}
    server { listen 127.0.0.1:${places.port} ssl http2 default_server; ssl_certificate ${places.certFile}; ssl_certificate_key ${places.keyFile}; return 404; }`;
}

/**
 * `updateServerLocations`: a `Prefix` matches itself and what is below it.
 *
 * Idle connections are shared by all locations that connect to one address, whatever is spoken over them: the pods of a
 * Service, or with `service-upstream` the Service's own address.
 */
function listLocations(
  ingress: Ingress,
  host: string,
  upstreams: Map<string, string>,
  places: Places,
  settings: ControllerSettings,
): readonly Location[] {
  const annotations = readAnnotations(ingress, settings);
  const paths = ingress.spec.rules.flatMap((rule) => (rule.host === host ? rule.http.paths : []));
  return paths.flatMap(({ path, pathType, backend: { service } }) => {
    if (pathType !== 'ImplementationSpecific' && !STRICT_PATH.test(path))
      throw new Error(`${ingress.metadata.name}: ${path} is no path for ${pathType}`);
    const address = places.serviceAddress(service.name, service.port.number);
    const upstream =
      annotations['service-upstream'] === 'true'
        ? `service-${service.name}-${service.port.number}`
        : `pods-${address}`.replaceAll(/[^a-z0-9]/g, '-');
    upstreams.set(upstream, address);
    const location = { path, pathType, annotations, upstream };
    if (pathType !== 'Prefix' || path === '/') return [location];
    const below = { ...location, path: path.endsWith('/') ? path : `${path}/` };
    return [below, { ...location, pathType: 'Exact' as const }];
  });
}

/** Values by suffix, refused as the controller refuses them. */
function readAnnotations(
  { metadata: { name, annotations = {} } }: Ingress,
  { annotationPrefix = DEFAULT_PREFIX, allowsSnippets = false }: ControllerSettings,
): Annotations {
  const read: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotations)) {
    if (!key.startsWith(`${annotationPrefix}/`)) continue;
    const suffix = key.slice(annotationPrefix.length + 1);
    const pattern = ANNOTATIONS[suffix];
    if (pattern === undefined)
      throw new Error(
        `${name}: ${key} is not among the rules of ${Object.values(SOURCE).join(' ')}`,
      );
    if (
      typeof value !== 'string' ||
      !pattern.test(value) ||
      (suffix !== SNIPPET && /[\r\n]/.test(value))
    )
      throw new Error(`${name}: ${key} cannot be ${value}`);
    if (suffix === SNIPPET && !allowsSnippets)
      throw new Error(`${name}: ${key} contains risky annotation based on ingress configuration`);
    read[suffix] = value;
  }
  return read;
}

const SNIPPET = 'configuration-snippet';

/** nginx would not start; the controller keeps the older object's. */
function refuseTwice(locations: readonly Location[]): void {
  const written = new Set<string>();
  for (const location of locations) {
    const pattern = locationPattern(location);
    if (written.has(pattern)) throw new Error(`two objects have ${pattern}`);
    written.add(pattern);
  }
}

function writeLocation(location: Location, host: string): string {
  const { annotations } = location;
  const isGrpc = annotations['backend-protocol'] === 'GRPC';
  const module = isGrpc ? 'grpc' : 'proxy';
  const setHeader = `${module}_set_header`;
  const bufferSize = annotations['proxy-buffer-size'] ?? '4k';
  const snippet = annotations[SNIPPET] ?? '';
  const check = annotations['auth-url'] === undefined ? undefined : checkPath(location);
  const signIn = annotations['auth-signin'];
  return `${check === undefined ? '' : writeCheck(location, check, host, bufferSize)}
      ${signIn === undefined ? '' : writeSignIn(location, signIn)}
      location ${locationPattern(location)} {
        ${check === undefined ? '' : writeAsking(location, check, setHeader)}
        ${signIn === undefined ? '' : `set_escape_uri $escaped_request_uri $request_uri; error_page 401 = ${signInName(location, signIn)};`}
        ${annotations['proxy-body-size'] === undefined ? '' : `client_max_body_size ${annotations['proxy-body-size']};`}
        ${setHeaders(setHeader, BACKEND_HEADERS)}
        proxy_connect_timeout 5s;
        proxy_send_timeout ${annotations['proxy-send-timeout'] ?? '60'}s;
        proxy_read_timeout ${annotations['proxy-read-timeout'] ?? '60'}s;
        proxy_buffering off;
        proxy_buffer_size ${bufferSize};
        proxy_buffers 4 ${bufferSize};
        proxy_http_version 1.1;
        proxy_next_upstream error timeout;
        ${isGrpc ? `grpc_connect_timeout 5s; grpc_send_timeout ${annotations['proxy-send-timeout'] ?? '60'}s; grpc_read_timeout ${annotations['proxy-read-timeout'] ?? '60'}s;` : ''}
        ${snippet}
        ${isGrpc ? `grpc_pass grpc://${location.upstream};` : `proxy_pass http://${location.upstream}; proxy_redirect off;`}
      }`;
}

/** The location that is asked instead of the client's. */
function writeCheck(
  { annotations }: Location,
  path: string,
  host: string,
  bufferSize: string,
): string {
  const url = annotations['auth-url'] ?? '';
  const key = annotations['auth-cache-key'];
  const method = annotations['auth-method'];
  const durations = (annotations['auth-cache-duration'] ?? DEFAULT_CACHE_DURATION).split(',');
  const headers = [
    ...CHECK_HEADERS,
    ...(method === undefined ? [] : CHECK_HEADERS_WITH_METHOD),
    [
      'Host',
      new URL(url.replace('$host', 'host.invalid')).hostname.replace('host.invalid', '$host'),
    ] as const,
    ...CHECK_HEADERS_LAST,
  ];
  const cache =
    key === undefined
      ? ''
      : `set $tmp_cache_key '${host}${path}${key}';
        proxy_cache auth_cache;
        ${durations.map((duration) => `proxy_cache_valid ${duration.trim()};`).join(' ')}
        proxy_cache_key "$tmp_cache_key";`;
  return `
      location = ${path} {
        internal;
        ${cache}
        proxy_intercept_errors off;
        proxy_pass_request_body off;
        ${method === undefined ? '' : `proxy_method ${method};`}
        ${setHeaders('proxy_set_header', headers)}
        proxy_buffering ${key === undefined ? 'off' : 'on'};
        proxy_buffer_size ${bufferSize};
        proxy_buffers 4 ${bufferSize};
        proxy_ssl_server_name on;
        proxy_pass_request_headers on;
        proxy_http_version 1.1;
        set $target "${url}";
        proxy_pass $target;
      }`;
}

/** What a checked location has of the check. */
function writeAsking({ annotations }: Location, check: string, setHeader: string): string {
  const names = (annotations['auth-response-headers'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const lines = names.map(
    (name, index) =>
      `auth_request_set $authHeader${index} $upstream_http_${name.toLowerCase().replaceAll('-', '_')};
        ${setHeader} '${name}' $authHeader${index};`,
  );
  const always = annotations['auth-always-set-cookie'] === 'true' ? ' always' : '';
  return `auth_request ${check};
        auth_request_set $auth_cookie $upstream_http_set_cookie;
        auth_request_set $auth_cache $upstream_cache_status;
        add_header Set-Cookie $auth_cookie${always};
        # Not of the template: lets the tests see whether a kept verdict was used.
        add_header X-Verdict $auth_cache always;
        ${lines.join('\n        ')}`;
}

function writeSignIn(location: Location, url: string): string {
  return `location ${signInName(location, url)} {
        internal;
        add_header Set-Cookie $auth_cookie;
        return 302 ${signInUrl(url, location.annotations['auth-signin-redirect-param'] ?? 'rd')};
      }`;
}

/** `buildAuthSignURL`: an address without the parameter gets it, whatever others it has. */
function signInUrl(url: string, parameter: string): string {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  if (query.get(parameter)) return url;
  const added = `${parameter}=$pass_access_scheme://$http_host$escaped_request_uri`;
  return query.size === 0 ? `${url}?${added}` : `${url}&${added}`;
}

/** `buildAuthSignURLLocation`. */
function signInName({ path }: Location, url: string): string {
  return `@${createHash('sha1').update(path).update(url).digest('hex')}`;
}

/** `buildAuthLocation`. */
function checkPath({ path, pathType }: Location): string {
  return `/_external-auth-${Buffer.from(path).toString('base64url')}-${pathType}`;
}

/** `buildLocation`, without the regular expressions that `use-regex` or `rewrite-target` would bring. */
function locationPattern({ path, pathType }: Location): string {
  return pathType === 'Exact' ? `= "${path}"` : `"${path}"`;
}

function setHeaders(directive: string, headers: readonly (readonly [string, string])[]): string {
  return headers.map(([name, value]) => `${directive} ${name} ${value};`).join('\n        ');
}
