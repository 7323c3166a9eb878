/**
 * The page behind the door: who is signed in, since when, for how long; and something to type into.
 *
 * @module
 */

import { html } from '@sallyport/protocol';
import { type ConsolePage, frameConsolePage } from './console-frame.ts';
import { PLATFORM_PATH } from './platform-page.ts';

/** What the page shows. Identity comes from the headers the gateway set. */
export interface ConsoleView {
  readonly name: string;
  readonly email: string;
  readonly subject: string;
  readonly issuer: string;
  /** Path and query that were asked for. Untrusted. */
  readonly target: string;
  /** Whether the platform's services run, which have a page of their own. */
  readonly hasPlatform: boolean;
}

const STYLE = `
#banner{position:sticky;top:0;z-index:1}
#banner p{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;padding:.75rem 1.5rem;background:var(--card);border-bottom:.25rem solid var(--accent)}
#note-hint{margin-top:.5rem}
#banner span{flex:1 1 18rem}
label{display:block;margin:0 0 .35rem;font-weight:600}
textarea{display:block;width:100%;min-height:6rem;font:inherit;color:inherit;background:var(--ground);border:1px solid var(--field);border-radius:.5rem;padding:.6rem .75rem;resize:vertical}
@media (max-width:30rem){#banner p{padding:.75rem 1rem}}
@media (forced-colors:active){#banner p{border:1px solid CanvasText}}
`;

/**
 * Builds the page.
 *
 * @param idpOrigin - Where signing out leads.
 */
export function buildConsolePage(view: ConsoleView, idpOrigin: string): ConsolePage {
  const { name, email, subject, issuer, target, hasPlatform } = view;
  return frameConsolePage(
    {
      title: 'Console',
      script: '/console.js',
      style: STYLE,
      links: hasPlatform
        ? html`<a href="/" aria-current="page">Console</a><a href="${PLATFORM_PATH}">Platform</a>`
        : undefined,
      banner: html`<div id="banner" role="alert"><p id="ended" hidden><span>Your session has ended. What you typed is still here.</span>
<button class="again" type="button">Sign in again</button></p>
<p id="other" hidden><span>You are signed in with another account now. What you typed belongs to the previous account.</span>
<button class="again" type="button">Sign in with that account</button></p></div>
`,
      main: html`<section><h1>Hello, ${name || subject}</h1>
<p>The gateway checked your session before it let you in. This page learns who you are, and sees neither your cookie nor a token.</p>
<p class="dim">You asked for <code id="target">${target}</code></p></section>
<section aria-labelledby="who"><h2 id="who">Who</h2>
<dl><dt>Name</dt><dd>${name}</dd><dt>E-mail</dt><dd>${email}</dd><dt>Subject</dt><dd><code>${subject}</code></dd><dt>Issuer</dt><dd><code>${issuer}</code></dd></dl></section>
<section id="session" aria-labelledby="how-long" aria-live="off"><h2 id="how-long">Session</h2>
<dl><dt>Signed in for</dt><dd id="age">…</dd><dt>Time left if unused</dt><dd id="left" class="good">…</dd></dl>
<noscript><p class="dim">Age and remaining time are shown with JavaScript switched on.</p></noscript></section>
<section><label for="note">Note</label>
<textarea id="note" rows="4" aria-describedby="note-hint"></textarea>
<p class="dim" id="note-hint">It is kept nowhere but in this page, and stays when your session ends and you sign in again.</p></section>`,
    },
    idpOrigin,
  );
}
