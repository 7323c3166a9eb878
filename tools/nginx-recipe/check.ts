/**
 * The subrequest that asks for the verdict.
 *
 * @module
 */

import { blank, HEADER, indent, OWN_HEADERS, setHeaders, UNOWNED_HEADERS } from './headers.ts';

/** Where it is asked; internal. */
export const CHECK = '/_sallyport/check';

/** Renders `check.conf`. */
export function renderCheck(): string {
  const headers = setHeaders('proxy', {
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
