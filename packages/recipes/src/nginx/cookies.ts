/**
 * Takes our cookies out of what backends receive.
 *
 * @module
 */

import type { ForwardCredential, RouteGroup } from '@sallyport/protocol';
import { HEADER } from './headers.ts';

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
 * The value of a group's Cookie header.
 *
 * @returns `undefined` when all cookies pass.
 */
export function cookieVariable(forwardCredential: ForwardCredential): string | undefined {
  return HIDDEN_COOKIES[forwardCredential] === undefined
    ? undefined
    : variableFor(cookieKind(forwardCredential));
}

/** Renders `cookies.conf`: one run of our cookies a step, because nginx has no "replace all". */
export function renderCookies(routes: readonly RouteGroup[]): string {
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
    return `
# Most requests have no cookie of ours, or nothing else, or one run of ours; the rest covers hostile headers.
map $http_cookie ${variableFor(kind)} {
    default $http_cookie;
    "~^${ours}[^;]*+$" "";
    "~${HIDDEN_COOKIES[kind]}" ${source(1)}_or_less;
}

map ${source(1)} ${source(1)}_or_less {
    default ${source(1)}_trimmed;
    "~${HIDDEN_COOKIES[kind]}" ${source(COOKIE_STEPS)}_trimmed;
}
${trim(source(1), ours)}${steps.join('')}${trim(source(COOKIE_STEPS), ours)}`;
  });
  return HEADER + maps.join('');
}

/** What is left after so many steps, without the separators around it. */
function trim(source: string, ours: string): string {
  return `
map ${source} ${source}_trimmed {
    default "";
    # One of ours is left: no cookie at all.
    "~(?:^|;)${ours}" "";
    "~^[; \\t]*+(?<sallyport_kept>.*?)[; \\t]*$" $sallyport_kept;
}
`;
}

function cookieKind(forwardCredential: ForwardCredential): 'none' | 'session' {
  return forwardCredential === 'session' ? 'session' : 'none';
}

function variableFor(kind: 'none' | 'session'): string {
  return `$sallyport_cookie_${kind}`;
}
