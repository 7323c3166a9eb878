/**
 * The account page: who is signed in, in which browsers, with a button to end each session.
 *
 * @module
 */

import { type Html, html, PATHS, withoutUnprintable } from '@sallyport/protocol';
import { nameBrowser } from './browser-name.ts';
import { relativePhrase, writeMoment } from './moment.ts';
import { buildPage, type Page } from './page.ts';
import { signOutTargets } from './sign-out-pages.ts';

/** What a person has just done here; a fixed code, because it travels in the address. */
export type AccountNotice = 'ended' | 'gone';

/** One of the person's sessions. Times in epoch milliseconds. */
export interface ListedSession {
  /** 8 base64url characters. */
  readonly id: string;
  /** The `User-Agent` it was begun with. Untrusted text; empty when unknown. */
  readonly browser: string;
  /** Where it was begun from; empty when unknown. */
  readonly address: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

/** What the page shows. All texts untrusted. */
export interface AccountView {
  readonly name: string;
  readonly email: string;
  readonly subject: string;
  readonly issuer: string;
  /** The session that asks. */
  readonly current: ListedSession & {
    /** When it ends if it is not used again. */
    readonly endsAt: number;
    readonly absoluteEnd: number;
  };
  /** All others of the same person. */
  readonly others: readonly ListedSession[];
  readonly notice: AccountNotice | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Where signing out leads first. */
  readonly idpOrigin: string | undefined;
}

const NOTICES: Readonly<Record<AccountNotice, string>> = {
  ended: 'That session has ended.',
  gone: 'There is no such session any more.',
};

/** Whether a text is the code of a notice. */
export function isAccountNotice(text: string): text is AccountNotice {
  return Object.hasOwn(NOTICES, text);
}

/** Builds the page. Its one form posts `end` to the page's own address: a session's id, or `all`. */
export function buildAccountPage(view: AccountView): Page {
  const { current, others, notice, now } = view;
  const content = html`${notice === undefined ? '' : html`<p class="note" role="status">${NOTICES[notice]}</p>`}
<section aria-labelledby="who"><h2 id="who">Who you are</h2>
<dl>${[
    describe('Name', toLine(view.name)),
    describe('E-mail', toLine(view.email)),
    describe('Subject', html`<code>${toLine(view.subject)}</code>`),
    describe('Issuer', html`<code>${toLine(view.issuer)}</code>`),
  ]}</dl></section>
<section aria-labelledby="this-session"><h2 id="this-session">This session</h2>
<dl>${[
    describe('Signed in', writeMoment(current.createdAt, now)),
    describe('Browser', nameBrowser(current.browser)),
    describe('Signed in from', toLine(current.address) || 'unknown'),
    describe('Ends if unused', writeMoment(current.endsAt, now)),
    describe('Ends at the latest', writeMoment(current.absoluteEnd, now)),
  ]}</dl></section>
<form method="post" action="${PATHS.account}">
<section aria-labelledby="sessions"><h2 id="sessions">Where you are signed in</h2>
<ul class="items">${[listSession(current, now, true), ...others.map((each) => listSession(each, now, false))]}</ul></section>
<section aria-labelledby="everywhere"><h2 id="everywhere">Sign out everywhere</h2>
<p>Ends all of your sessions, this one too. Do it when a device is lost, or when a session above is not yours. A browser that is still signed in at the identity provider can come back without a password: end its session there as well.</p>
<p><button class="act" type="submit" name="end" value="all">Sign out everywhere</button></p></section>
</form>
<p class="dim"><a href="${PATHS.root}">Back to the platform</a></p>`;
  return buildPage('Your account', content, {
    formTargets: signOutTargets(view.idpOrigin),
    isWide: true,
  });
}

/** So that no text reorders what stands beside it, nor hides a part of itself. */
function toLine(text: string): string {
  return withoutUnprintable(text).trim();
}

function describe(term: string, description: string | Html): Html {
  return description === '' ? html`` : html`<dt>${term}</dt><dd>${description}</dd>`;
}

/** The button is named by what it says, the browser and the details: "End Firefox 140 on Linux, signed in …". */
function listSession(session: ListedSession, now: number, isCurrent: boolean): Html {
  const { id, createdAt, lastUsedAt } = session;
  const used = isCurrent ? 'In use now' : `Last used ${relativePhrase(lastUsedAt, now)}`;
  const from = toLine(session.address) || 'an unknown address';
  return html`<li><div><h3><span id="browser-${id}">${nameBrowser(session.browser)}</span>${
    isCurrent ? html` <span class="mark">this browser</span>` : ''
  }</h3>
<p class="dim" id="details-${id}">Signed in ${writeMoment(createdAt, now)} from ${from}<br>${used}</p></div>
<button class="act quiet" type="submit" name="end" value="${id}" id="end-${id}" aria-labelledby="end-${id} browser-${id} details-${id}">${
    isCurrent ? 'Sign out' : 'End'
  }</button></li>`;
}
