/**
 * A page for each way a person can be kept out: what happened, and what to do.
 *
 * @module
 */

import { type Html, html, withoutUnprintable } from '@sallyport/protocol';
import { buildPage, type Page } from './page.ts';

/** What kept the person out. Stable: shown on the page, in the log and as a metric label. */
export type FailureReason =
  | 'attempt_gone'
  | 'bad_request'
  | 'cookies_blocked'
  | 'cross_site'
  | 'idp_refused'
  | 'idp_unreachable'
  | 'misconfigured'
  | 'not_allowed'
  | 'rate_limited'
  | 'renewal_unavailable'
  | 'sign_in_revoked'
  | 'store_unavailable'
  | 'token_invalid'
  | 'unexpected';

/** What a failure page may say beyond its fixed text. */
export interface FailureDetails {
  /** Lets an operator find the log line. */
  readonly requestId: string;
  /** Where "try again" leads: our own `/login` with the target. Absent where trying again cannot help. */
  readonly retryUrl?: string;
  /** Leads to the sign-out confirmation, to come back with another account. */
  readonly signOutUrl?: string;
  /** The account that was refused, as the IdP names it. Untrusted text. */
  readonly account?: string;
  /** The IdP's error code and words. Untrusted text, shown only for an attempt this browser made. */
  readonly idpError?: { readonly code: string; readonly description: string } | undefined;
  /** Addresses of this platform that have to be registered at the IdP. */
  readonly register?: readonly string[];
}

interface Wording {
  readonly status: 400 | 403 | 429 | 500 | 502 | 503;
  readonly title: string;
  readonly what: string;
  readonly todo: string;
  /** What the link to try again says; `Try again` where that is all it does. */
  readonly retry?: string;
}

const WORDING: Readonly<Record<FailureReason, Wording>> = {
  attempt_gone: {
    status: 400,
    title: 'This sign-in is no longer open',
    what: 'It took longer than ten minutes, was finished in another tab, or was started in another browser.',
    todo: 'Try again. If you are still signed in at the identity provider, it takes only a moment.',
  },
  bad_request: {
    status: 400,
    title: 'This link is not complete',
    what: 'The address holds a parameter that is missing, repeated or not understood.',
    todo: 'Go back to the page you wanted and open it again.',
  },
  cookies_blocked: {
    status: 400,
    title: 'Your browser did not return our cookie',
    what: 'Signing in needs a cookie of this site. We set it twice, and it came back neither time.',
    todo: 'Allow cookies for this site, or use a window that is not private, and try again. If that does not help, check that the address bar shows the address you were given.',
  },
  cross_site: {
    status: 403,
    title: 'Another site asked for this',
    what: 'A page of another site tried to change something in your name. Nothing was changed.',
    todo: 'If you meant to do it, open the page here and repeat it.',
  },
  idp_refused: {
    status: 403,
    title: 'The identity provider did not sign you in',
    what: 'It refused to finish this sign-in.',
    todo: 'Try again. If it keeps happening, show this page to the operator of this platform.',
  },
  idp_unreachable: {
    status: 503,
    title: 'The identity provider cannot be reached',
    what: 'This platform cannot reach it at the moment, so new sign-ins fail. Existing sessions continue.',
    todo: 'Try again in a minute. If it keeps happening, show this page to the operator of this platform.',
  },
  misconfigured: {
    status: 500,
    title: 'This platform is not set up correctly',
    what: 'The identity provider does not accept this platform: what is registered there and what is configured here differ. You did nothing wrong.',
    todo: 'Show this page to the operator of this platform. The log line with the request id below says what to compare.',
  },
  not_allowed: {
    status: 403,
    title: 'You are signed in, but not allowed in',
    what: 'The identity provider confirmed who you are. The rules of this platform do not admit this account.',
    todo: 'Ask the operator of this platform for access, or sign in with another account.',
    retry: 'Use another account',
  },
  rate_limited: {
    status: 429,
    title: 'Too many tries in a short time',
    what: 'Your browser or your network sent so many that this one was stopped.',
    todo: 'Wait a minute, then load this page again.',
  },
  renewal_unavailable: {
    status: 503,
    title: 'Your session cannot be confirmed at the moment',
    what: 'The identity provider has not answered for a while, and we do not go on without it. Your session is not lost.',
    todo: 'Try again in a minute. If it keeps happening, show this page to the operator of this platform.',
  },
  sign_in_revoked: {
    status: 403,
    title: 'Your sessions were ended while you signed in',
    what: 'All sessions of this account were ended, this sign-in included: by you in another place, by an administrator, or by the identity provider.',
    todo: 'If you did not expect that, ask the operator of this platform. Otherwise sign in again.',
  },
  store_unavailable: {
    status: 503,
    title: 'Sessions cannot be read at the moment',
    what: 'This platform cannot check whether you are signed in, so it refuses all requests for now. Your session is not lost.',
    todo: 'Try again in a moment. If it keeps happening, show this page to the operator of this platform.',
  },
  token_invalid: {
    status: 502,
    title: 'The identity provider sent something we cannot accept',
    what: 'Its answer did not pass the checks that keep others from signing in as you.',
    todo: 'Try again. If it keeps happening, show this page to the operator of this platform: the log names the check.',
  },
  unexpected: {
    status: 500,
    title: 'Something went wrong here',
    what: 'This is a fault of this platform, not of yours. It admitted no request.',
    todo: 'Try again. If it keeps happening, show this page to the operator of this platform.',
  },
};

/** RFC 6749 section 4.1.2.1: the one error that a person can cause. */
const DENIED = 'You cancelled there, or it refused to let you in.';
const IDP_TEXT_MAX_LENGTH = 300;

/** The status a failure is sent with. */
export function failureStatus(reason: FailureReason): Wording['status'] {
  return WORDING[reason].status;
}

/** Builds the page for a failure. */
export function buildFailurePage(reason: FailureReason, details: FailureDetails): Page {
  const { title, what, todo, retry = 'Try again' } = WORDING[reason];
  const { requestId, retryUrl, signOutUrl, account, idpError, register = [] } = details;
  const isDenied = reason === 'idp_refused' && idpError?.code === 'access_denied';
  const parts: Html[] = [html`<p>${isDenied ? DENIED : what}</p>`];
  if (account !== undefined)
    parts.push(html`<p>Account: <strong>${withoutUnprintable(account)}</strong></p>`);
  if (idpError !== undefined) {
    const said = idpError.description.slice(0, IDP_TEXT_MAX_LENGTH);
    const description = withoutUnprintable(said).trim();
    parts.push(
      html`<p>It said: <code>${withoutUnprintable(idpError.code)}</code>${description === '' ? '' : ` – ${description}`}</p>`,
    );
  }
  parts.push(html`<p>${todo}</p>`);
  if (register.length > 0)
    parts.push(
      html`<p class="dim">Addresses to register there: ${register.map((address) => html`<code>${address}</code> `)}</p>`,
    );
  if (signOutUrl !== undefined)
    parts.push(html`<p><a class="act" href="${signOutUrl}">Use another account</a></p>`);
  if (retryUrl !== undefined)
    parts.push(html`<p><a class="act" href="${retryUrl}">${retry}</a></p>`);
  parts.push(
    html`<p class="dim">Reason <code>${reason}</code>, request <code>${requestId}</code></p>`,
  );
  return buildPage(title, html`${parts}`);
}
