/**
 * Headers of an answer as large as a sign-in makes them, through every proxy on the way.
 *
 * @module
 */

import { PATHS, REDIRECT_TARGET_MAX_LENGTH } from '@sallyport/protocol';
import { type Finding, fail } from '../finding/finding.ts';
import { found, type Outcome, type Probe, skipped } from '../graph/probe.ts';
import { type Answer, type Ask, describeAnswer, locationOf } from '../network/exchange.ts';
import { BROWSER, type SignInStart } from './gate.ts';

/**
 * Room for the headers of one answer, in bytes, that the largest answers of `/login` and `/callback` need: a deep link
 * of {@link REDIRECT_TARGET_MAX_LENGTH}, which `/login` sends sealed in `state`, and a cookie.
 */
const HEADERS_NEED_BYTES = 8_192;

/** What makes room for them, at nginx and at ingress-nginx. */
export const BUFFER_FIX =
  'At the locations of /login and /callback: proxy_buffer_size 16k; proxy_buffers 8 16k; (ingress-nginx: the annotation proxy-buffer-size: 16k).';

/** Whether a size as nginx writes one, such as `16k`, is room for them; what is no size counts as enough. */
export function isRoomEnough(size: string): boolean {
  const [, number, unit = ''] = /^(\d+)([km]?)$/i.exec(size.trim()) ?? [];
  if (number === undefined) return true;
  return (
    Number(number) * ({ k: 1_024, m: 1_048_576 }[unit.toLowerCase()] ?? 1) >= HEADERS_NEED_BYTES
  );
}

/** A deep link near the longest that `/login` takes; room is left for the origin in front of it. */
const LONG_PATH = `/console/${'a'.repeat(REDIRECT_TARGET_MAX_LENGTH - 512)}`;
/** Shorter than the sealed `state` of that link, longer than any other authorization request. */
const LONG_LOCATION = REDIRECT_TARGET_MAX_LENGTH;
/** What proxies answer to a request whose line or headers do not fit. */
const TOO_LARGE_A_REQUEST: ReadonlySet<number> = new Set([400, 413, 414, 431]);

/**
 * Makes `proxy.buffers`: `/login` with a long deep link, which it answers with more than 4 KiB of headers.
 *
 * No endpoint is there for this: a sign-in begins with such an answer, and ends at `/callback` with one of about the same
 * size. Nothing is decided where the parameters of the sign-in were pushed to the identity provider: then the answer is
 * short. `/callback` itself is not asked, and may have another location with other buffers at a proxy.
 */
export function createProxyBufferProbe(
  ready: Probe<URL>,
  login: Probe<SignInStart>,
  ask: Ask,
): Probe {
  return {
    id: 'proxy.buffers',
    group: 'proxy',
    title: 'a sign-in with a long deep link',
    needs: [ready, login],
    async run(answers) {
      const { origin } = answers.get(ready);
      const start = (path: string) =>
        ask(`${origin}${PATHS.login}?redirect_url=${encodeURIComponent(path)}`, {
          headers: BROWSER,
        });
      const asked = await start(LONG_PATH);
      if (!asked.ok) return skipped('no answer to a long deep link');
      const outcome = judgeLong(asked.value);
      if (outcome !== undefined) return outcome;
      // A platform that has begun to fail meanwhile fails with a short one, too.
      const again = await start('/');
      if (!again.ok || locationOf(again.value) === undefined)
        return skipped('the platform has stopped answering sign-ins');
      return found(undefined, [toFinding(asked.value)]);
    },
  };
}

/** What is certain already; `undefined` where a short link has to be tried once more. */
function judgeLong(answer: Answer): Outcome<undefined> | undefined {
  const to = locationOf(answer);
  if (to !== undefined)
    return to.href.length > LONG_LOCATION
      ? found(undefined)
      : skipped('the answer is short: its parameters were pushed, or the deep link was not taken');
  const { status } = answer;
  if (status === 429) return skipped('too many sign-ins were started from here');
  if (status >= 500 || TOO_LARGE_A_REQUEST.has(status)) return undefined;
  return skipped(`/login answers ${status} to a long deep link`);
}

function toFinding(answer: Answer): Finding {
  const { status } = answer;
  const { pathname } = new URL(answer.url);
  const evidence = [
    describeAnswer(answer),
    `${pathname} with a short deep link answers with a redirect`,
  ];
  return status >= 500
    ? fail(
        'proxy_buffers_small',
        `a proxy refuses the headers of a sign-in with a long deep link: /login is answered ${status}, and /callback will be`,
        BUFFER_FIX,
        evidence,
      )
    : fail(
        'proxy_buffers_small',
        `a proxy refuses a request with a long deep link: /login is answered ${status}`,
        'Give requests the room that browsers use: large_client_header_buffers 4 8k; (ingress-nginx: large-client-header-buffers in its ConfigMap).',
        evidence,
      );
}
