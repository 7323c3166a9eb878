/**
 * Header directives: what a backend is told, and what it is spared.
 *
 * @module
 */

/** First line of every generated file. */
export const HEADER: string =
  '# Made by tools/generate-nginx-recipe.ts from the route groups. Do not edit.\n';

/** `VERDICT_KEY_HEADER`, spelt like its neighbours. */
export const VERDICT_KEY_NAME = 'X-Sallyport-Verdict-Key';

/** What every location passes on by itself, so that a client's own copy does not arrive. */
export const OWN_HEADERS: Readonly<Record<string, string>> = {
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
export const UNOWNED_HEADERS: readonly string[] = [
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
  VERDICT_KEY_NAME,
  'X-Scheme',
  'X-Sent-From',
  'X-Url-Scheme',
];

/** Blanks headers, which nginx then does not send. */
export function blank(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, '']));
}

/** Writes `proxy_set_header` or `grpc_set_header` lines. */
export function setHeaders(
  module: 'proxy' | 'grpc',
  headers: Readonly<Record<string, string>>,
): string {
  return Object.entries(headers)
    .map(([name, value]) => `${module}_set_header ${name} ${value === '' ? '""' : value};\n`)
    .join('');
}

/** The variable that holds what the check said in a header. */
export function variableOf(header: string): string {
  return `$sallyport_${header.replace(/^x-/, '').replaceAll('-', '_')}`;
}

/** Indents by one block. */
export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ');
}
