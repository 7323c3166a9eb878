/**
 * The subrequest that asks for the verdict.
 *
 * @module
 */

import { listRemovedHeaders, VERDICT_KEY_HEADER } from '@sallyport/protocol';
import { blank, HEADER, indent, OWN_HEADERS, setHeaders } from './headers.ts';
import { KEEP_VERDICTS, REMEMBERED } from './verdict-cache.ts';

/** Where it is asked; internal. */
export const CHECK = '/_sallyport/check';
/** Where a request is asked about whose verdict is not kept; internal. */
const ASK = '/_sallyport/ask';

/**
 * Headers of the check that are not the client's. The check has the public origin from its configuration; Host is
 * for a proxy between.
 */
const ADDED_HEADERS: Readonly<Record<string, string>> = {
  host: OWN_HEADERS['host'] ?? '',
  'x-forwarded-for': OWN_HEADERS['x-forwarded-for'] ?? '',
  'x-request-id': OWN_HEADERS['x-request-id'] ?? '',
  'x-original-method': '$request_method',
  'x-original-uri': '$request_uri',
};

/**
 * Headers of browsers that the check does not read: each costs both sides more than to leave it out. No
 * list of those it reads instead, because nginx before 1.23 shows a variable only the first of two
 * headers, and two bearers have to be refused.
 */
const UNREAD: readonly string[] = [
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'device-memory',
  'dnt',
  'downlink',
  'ect',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'pragma',
  'priority',
  'range',
  'referer',
  'rtt',
  'save-data',
  'sec-ch-prefers-color-scheme',
  'sec-ch-ua',
  'sec-ch-ua-arch',
  'sec-ch-ua-full-version-list',
  'sec-ch-ua-mobile',
  'sec-ch-ua-model',
  'sec-ch-ua-platform',
  'sec-ch-ua-platform-version',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-storage-access',
  'sec-fetch-user',
  'sec-gpc',
  'upgrade-insecure-requests',
  'via',
  'x-requested-with',
];

const ASKED = `# Any error_page here keeps those of the server away: one with "=200" would be an admission.
error_page 599 /;
proxy_intercept_errors off;
proxy_method HEAD;
proxy_pass_request_body off;
proxy_http_version 1.1;
proxy_connect_timeout 2s;
proxy_send_timeout 5s;
proxy_read_timeout 5s;
`;

/** Renders `check.conf`. */
export function renderCheck(keepsVerdicts: boolean): string {
  return HEADER + (keepsVerdicts ? renderKept() + renderAsked(ASK) : renderAsked(CHECK));
}

/** Asks about the whole request, each time. */
function renderAsked(path: string): string {
  const headers = setHeaders('proxy', {
    ...blank(listRemovedHeaders().plain),
    ...blank(UNREAD),
    connection: '',
    'content-length': '',
    upgrade: '$sallyport_upgrade',
    ...ADDED_HEADERS,
  });
  return location(path, `${ASKED}proxy_cache off;\n${headers}`);
}

/** Asks about one session cookie and nothing else, unless what was answered last still counts. */
function renderKept(): string {
  const headers = setHeaders('proxy', {
    connection: '',
    'content-length': '',
    cookie: REMEMBERED,
    'user-agent': '$http_user_agent',
    traceparent: '$http_traceparent',
    tracestate: '$http_tracestate',
    [VERDICT_KEY_HEADER]: REMEMBERED,
    ...ADDED_HEADERS,
  });
  const elsewhere = `if (${REMEMBERED} = "") {\n    rewrite ^ ${ASK} last;\n}\n`;
  return location(
    CHECK,
    `${elsewhere}${ASKED}${KEEP_VERDICTS}proxy_pass_request_headers off;\n${headers}`,
  );
}

function location(path: string, directives: string): string {
  const lines = `internal;\n${directives}proxy_pass http://sallyport_admin/me;\n`;
  return `\nlocation = ${path} {\n${indent(lines)}}\n`;
}
