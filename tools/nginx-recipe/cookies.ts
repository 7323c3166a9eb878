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
    return `${steps.join('')}
# One of ours is left: no cookie at all.
map ${source(COOKIE_STEPS)} ${variableFor(kind)} {
    default "";
    "~(?:^|;)${ours}" "";
    "~^[; \\t]*+(?<sallyport_kept>.*?)[; \\t]*$" $sallyport_kept;
}
`;
  });
  return HEADER + maps.join('');
}

function cookieKind(forwardCredential: ForwardCredential): 'none' | 'session' {
  return forwardCredential === 'session' ? 'session' : 'none';
}

function variableFor(kind: 'none' | 'session'): string {
  return `$sallyport_cookie_${kind}`;
}
