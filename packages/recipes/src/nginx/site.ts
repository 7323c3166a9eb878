/**
 * A site of nginx for one installation: upstreams, and the server of the public URL.
 *
 * @module
 */

import { ROUTE_GROUPS } from '@sallyport/protocol';
import { harmless } from './harmless.ts';

const ADMIN = 'admin';
const HTTPS_PORT = '443';
const HTTP_PORT = '80';

/**
 * Renders the site, for a recipe with an `upstream`. Every backend is down: its routes are protected, and an admitted
 * request gets 502 until the operator writes its address. A request for another host is refused.
 *
 * @param publicUrl - An origin; plain http is served on the loopback alone.
 *
 * @throws {TypeError} When its host cannot be written into nginx.
 */
export function renderNginxSite(publicUrl: string): string {
  const { protocol, hostname, host, port } = new URL(publicUrl);
  const isTls = protocol === 'https:';
  const name = harmless('host', hostname);
  const listen = isTls
    ? `listen ${port || HTTPS_PORT} ssl http2;
    ssl_certificate     tls/platform.crt;
    ssl_certificate_key tls/platform.key;`
    : `listen 127.0.0.1:${port || HTTP_PORT};`;
  return `# Made by "sallyport init", to be adapted; nothing below sallyport/ is edited by hand.

include sallyport/http.conf;

# One for each backend. What an installation does not run stays "down": its routes remain protected, and an admitted request gets
# 502. Connect and gRPC-Web calls go there too.
${upstreams(ROUTE_GROUPS.map(({ backend }) => backend))}
# gRPC of each backend that has some, over HTTP/2 without TLS.
${upstreams(
  ROUTE_GROUPS.filter(({ transport }) => transport === 'grpc').map(
    ({ backend }) => `${backend}_grpc`,
  ),
)}
server {
    ${listen}
    server_name ${name};
    if ($host != ${name}) {
        return 421;
    }

    # Scheme, and host with its port if it has one, exactly as in the public URL.
    set $sallyport_public_scheme ${isTls ? 'https' : 'http'};
    set $sallyport_public_host   ${host};

    client_max_body_size 32m;

    include sallyport/routes.conf;
}
`;
}

function upstreams(names: readonly string[]): string {
  const ours = [ADMIN, `${ADMIN}_grpc`];
  return [...new Set(names)]
    .filter((name) => !ours.includes(name))
    .toSorted()
    .map((name) => `upstream sallyport_${name} { server 127.0.0.1:1 down; }\n`)
    .join('');
}
