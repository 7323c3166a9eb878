/**
 * How a request to a route group is treated: asked about or not, and what its backend receives.
 *
 * @module
 */

import { listRemovedHeaders, type RouteGroup, SHARED_CACHE_HEADERS } from '@sallyport/protocol';
import { CHECK } from './check.ts';
import { cookieVariable } from './cookies.ts';
import { blank, HEADER, OWN_HEADERS, setHeaders, variableOf } from './headers.ts';

/** Header names of an installation, each checked to be harmless. */
export interface HeaderNames {
  readonly identity: readonly string[];
  readonly bearers: readonly string[];
  readonly strips: readonly string[];
}

type Treated = Pick<RouteGroup, 'protected' | 'forwardCredential'>;

/** The file every location of such a group includes. */
export function treatmentFile(group: Treated): string {
  return `${group.protected ? 'protected' : 'open'}-${group.forwardCredential}.conf`;
}

/** The file that its gRPC locations include on top. */
export function grpcTreatmentFile(group: Treated): string {
  return `grpc-${treatmentFile(group)}`;
}

/** Renders {@link treatmentFile}. */
export function renderTreatment(group: Treated, names: HeaderNames): string {
  return (
    HEADER +
    (group.protected ? renderVerdict(names.identity) : OPEN) +
    setHeaders('proxy', {
      connection: '$sallyport_connection',
      upgrade: '$sallyport_upgrade',
      ...blank(listRemovedHeaders([...names.bearers, ...names.strips]).carried),
      ...backendHeaders(group, names),
    }) +
    (group.protected ? hideGrants('proxy') : '') +
    FORWARD
  );
}

/** Renders {@link grpcTreatmentFile}. */
export function renderGrpcTreatment(group: Treated, names: HeaderNames): string {
  return (
    HEADER +
    (group.protected ? '\n' : OPEN_RPC) +
    setHeaders('grpc', {
      ...blank(listRemovedHeaders(names.bearers).carriedCredentials),
      ...backendHeaders(group, names),
    }) +
    (group.protected ? hideGrants('grpc') : '') +
    FORWARD_GRPC
  );
}

/** Takes out what overrides `Cache-Control` for shared caches; nginx cannot do so for single answers. */
function hideGrants(module: 'proxy' | 'grpc'): string {
  const lines = SHARED_CACHE_HEADERS.map((name) => `${module}_hide_header ${name};\n`);
  return `\n# Behind the check no shared cache has a say of its own.\n${lines.join('')}`;
}

/** What is removed or replaced whatever carries the call. */
function backendHeaders(
  group: Treated,
  { identity, bearers, strips }: HeaderNames,
): Record<string, string> {
  const isCut = group.forwardCredential === 'none' || group.forwardCredential === 'session';
  const cookie = cookieVariable(group.forwardCredential);
  return {
    ...blank([...listRemovedHeaders().plain, ...strips]),
    ...OWN_HEADERS,
    ...(group.protected
      ? Object.fromEntries(identity.map((name) => [name, variableOf(name)]))
      : blank(identity)),
    ...(isCut ? blank(bearers) : {}),
    ...(cookie === undefined ? {} : { cookie }),
  };
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
error_page 500 = @sallyport_503_$sallyport_protocol;
error_page 502 = @sallyport_502_$sallyport_protocol;
error_page 504 = @sallyport_504_$sallyport_protocol;

# "always": the slide of the session also reaches who gets an error from the backend. No cache may keep
# it then; beside what the backend says, because caches heed the stricter of two.
add_header Set-Cookie $sallyport_set_cookie always;
add_header Cache-Control $sallyport_unshared always;
include sallyport/response-headers*.conf;

`;
}

const OPEN = `
# A path that a backend could read as another one is never open.
error_page 418 = @sallyport_guarded;
error_page 502 = @sallyport_502_$sallyport_protocol;
error_page 504 = @sallyport_504_$sallyport_protocol;
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

/** Besides, because a gRPC server takes the whole target for the name of the method. */
const OPEN_RPC = `
if ($sallyport_plain_rpc = "") {
    return 418;
}

`;

const FORWARD_GRPC = `
error_page 413 = @sallyport_413_$sallyport_protocol;

grpc_intercept_errors off;
grpc_ignore_headers X-Accel-Redirect;
grpc_buffer_size 16k;
grpc_socket_keepalive on;
grpc_connect_timeout 5s;
grpc_send_timeout 60s;
grpc_read_timeout 1h;
`;
