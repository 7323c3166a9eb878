/**
 * Keeping verdicts in nginx for a moment: who is found by which key, and where they lie.
 *
 * @module
 */

import { HEADER } from './headers.ts';

/** Where nginx keeps verdicts unless an installation says otherwise: in memory, as `/run` is on Linux. */
export const VERDICT_FOLDER = '/run/sallyport-verdicts';

/** Our session cookie as the check is asked about it: name and value, or empty when it has to be asked about the whole request. */
export const REMEMBERED = '$sallyport_remembered';

/** The cache key of a verdict. The check gets nothing else that a verdict could depend on. */
const VERDICT_KEY: string = `"$sallyport_public_scheme://$sallyport_public_host ${REMEMBERED}"`;

const ZONE = 'sallyport_verdicts';
const NAME = '(?:__Host-|__Secure-)?core_session';
const VALUE = '[A-Za-z0-9_-]{8}[.][A-Za-z0-9_-]{43}';
/** A pair whose name does not begin like that of our session. */
const OTHER = `(?![ \\t]*+${NAME})[^;]*+`;

/**
 * Renders `verdict-cache.conf`.
 *
 * @param folder - Checked to be harmless.
 * @param bearers - Every header name that may carry a bearer, checked to be harmless.
 */
export function renderVerdictCache(folder: string, bearers: readonly string[]): string {
  const absent = ['upgrade', 'sec-websocket-key', ...bearers]
    .map((name) => `$http_${name.toLowerCase().replaceAll('-', '_')}`)
    .join('');
  return `${HEADER}
# A file holds the answer of the check and its key, which is a session cookie: the folder has to lie in
# memory, readable by nginx alone.
proxy_cache_path ${folder} keys_zone=${ZONE}:2m max_size=32m inactive=10s use_temp_path=off;

# The session cookie of a request that has exactly one, in the one spelling it is issued in.
map $http_cookie $sallyport_one_session {
    default "";
    "~^(?:${OTHER};)*+[ \\t]*+(?<sallyport_session>${NAME}=${VALUE})[ \\t]*+(?:;${OTHER})*+$" $sallyport_session;
}

# Reads without a bearer: a verdict on them depends on the cookie alone. A write is always asked about,
# and so is a bearer, because this nginx may show the first of several headers and hide the rest.
map "$request_method:${absent}" ${REMEMBERED} {
    default "";
    "GET:"  $sallyport_one_session;
    "HEAD:" $sallyport_one_session;
}

# Whatever the check says: no refusal is kept.
map $upstream_status $sallyport_refusal {
    default refused;
    200     "";
}
`;
}

/** The directives that keep answers, each said so that nothing of the server's own is inherited. */
export const KEEP_VERDICTS: string = `proxy_cache ${ZONE};
proxy_cache_key ${VERDICT_KEY};
# Only what the check says itself is kept, for as long as it says.
proxy_cache_valid 599 1s;
proxy_ignore_headers X-Accel-Redirect;
proxy_no_cache $upstream_http_set_cookie $sallyport_refusal;
proxy_cache_methods GET HEAD;
proxy_cache_min_uses 1;
proxy_cache_revalidate off;
proxy_cache_use_stale off;
proxy_cache_background_update off;
# A request that waits for another's answer looks again only every half second: asking is far quicker.
proxy_cache_lock off;
# Few, because each holds a file descriptor of the worker.
open_file_cache max=128 inactive=10s;
open_file_cache_valid 60s;
open_file_cache_min_uses 1;
open_file_cache_errors off;
proxy_buffering on;
proxy_buffer_size 8k;
proxy_buffers 4 8k;
proxy_busy_buffers_size 16k;
`;
