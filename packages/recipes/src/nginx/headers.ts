/**
 * Header directives: which headers a backend gets, and which are removed.
 *
 * @module
 */

/** First line of every file. */
export const HEADER = '# Made by "sallyport recipe nginx". Do not edit.\n';

/** What every location passes on by itself, so that a client's own copy does not arrive. */
export const OWN_HEADERS: Readonly<Record<string, string>> = {
  host: '$sallyport_public_host',
  'x-forwarded-for': '$remote_addr',
  'x-forwarded-host': '$sallyport_public_host',
  'x-forwarded-proto': '$sallyport_public_scheme',
  'x-request-id': '$sallyport_request_id',
};

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
