/**
 * The page behind the door: who is signed in, since when, for how long; and something to type into.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { html, PATHS, renderDocument } from '@sallyport/protocol';
import { PAGE_THEME } from '@sallyport/server';

/** What the page shows. Identity comes from the headers the gateway set. */
export interface ConsoleView {
  readonly name: string;
  readonly email: string;
  readonly subject: string;
  readonly issuer: string;
  /** Path and query that were asked for. Untrusted. */
  readonly target: string;
}

/** The page with the headers it is sent with. */
export interface ConsolePage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const STYLE = `
${PAGE_THEME}:root{--good:#19713a}
@media (prefers-color-scheme:dark){:root{--good:#6fd693}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;background:var(--ground);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header{display:flex;flex-wrap:wrap;gap:.75rem 1rem;align-items:center;justify-content:space-between;padding:1rem 1.5rem;border-bottom:1px solid var(--line);background:var(--card)}
header strong{font-size:1.1rem}
main{max-width:44rem;margin:0 auto;padding:1.5rem;display:grid;gap:1.25rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.5rem;overflow-wrap:anywhere}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.3}
h2{margin:0 0 .75rem;font-size:1rem;color:var(--dim);font-weight:600}
p{margin:0 0 .75rem}p:last-child{margin:0}
dl{margin:0;display:grid;grid-template-columns:10rem 1fr;gap:.4rem 1rem}
dt{color:var(--dim)}dd{margin:0}
code{background:var(--code);border-radius:.3rem;padding:.1rem .35rem;font-size:.9em;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.dim{color:var(--dim)}.good{color:var(--good);font-weight:600}
form{margin:0}
nav{display:flex;flex-wrap:wrap;gap:.75rem 1.25rem;align-items:center}
nav a{color:var(--text);font-weight:600;padding:.25rem 0}
#banner{position:sticky;top:0;z-index:1}
#banner p{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;padding:.75rem 1.5rem;background:var(--card);border-bottom:.25rem solid var(--accent)}
[hidden]{display:none!important}
#note-hint{margin-top:.5rem}
#banner span{flex:1 1 18rem}
label{display:block;margin:0 0 .35rem;font-weight:600}
textarea{display:block;width:100%;min-height:6rem;font:inherit;color:inherit;background:var(--ground);border:1px solid var(--field);border-radius:.5rem;padding:.6rem .75rem;resize:vertical}
button,.act{display:inline-block;font:inherit;font-weight:600;border:0;border-radius:.5rem;padding:.5rem 1rem;background:var(--accent);color:var(--on-accent);cursor:pointer;text-decoration:none}
button:focus-visible,a:focus-visible,textarea:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
@media (max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}header,main{padding:1rem}#banner p{padding:.75rem 1rem}}
@media (forced-colors:active){section,button,.act,#banner p{border:1px solid CanvasText}}
`;

const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * Builds the page.
 *
 * @param idpOrigin - The sign-out form ends up there: browsers hold `form-action` against redirects too.
 */
export function buildConsolePage(view: ConsoleView, idpOrigin: string): ConsolePage {
  const { name, email, subject, issuer, target } = view;
  const policy = [
    "default-src 'none'",
    'img-src data:',
    `style-src ${STYLE_SOURCE}`,
    "script-src 'self'",
    "connect-src 'self'",
    `form-action 'self' ${idpOrigin}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      // After signing out, the back button must not find this page in a cache.
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // `no-referrer` would make the browser send `Origin: null` with the sign-out form.
      'referrer-policy': 'same-origin',
    },
    body: renderDocument({
      title: 'Console – Sallyport',
      style: STYLE,
      head: html`<script src="/console.js" defer></script>\n`,
      body: html`<header><strong>Sallyport console</strong>
<nav aria-label="Account"><a href="${PATHS.account}">Account</a><form method="post" action="${PATHS.logout}"><button type="submit">Sign out</button></form></nav></header>
<div id="banner" role="alert"><p id="ended" hidden><span>Your session has ended. What you typed is still here.</span>
<button class="again" type="button">Sign in again</button></p>
<p id="other" hidden><span>You are signed in with another account now. What you typed belongs to the previous account.</span>
<button class="again" type="button">Sign in with that account</button></p></div>
<main>
<section><h1>Hello, ${name || subject}</h1>
<p>The gateway checked your session before it let you in. This page learns who you are, and sees neither your cookie nor a token.</p>
<p class="dim">You asked for <code id="target">${target}</code></p></section>
<section aria-labelledby="who"><h2 id="who">Who</h2>
<dl><dt>Name</dt><dd>${name}</dd><dt>E-mail</dt><dd>${email}</dd><dt>Subject</dt><dd><code>${subject}</code></dd><dt>Issuer</dt><dd><code>${issuer}</code></dd></dl></section>
<section id="session" aria-labelledby="how-long" aria-live="off"><h2 id="how-long">Session</h2>
<dl><dt>Signed in for</dt><dd id="age">…</dd><dt>Time left if unused</dt><dd id="left" class="good">…</dd></dl>
<noscript><p class="dim">Age and remaining time are shown with JavaScript switched on.</p></noscript></section>
<section><label for="note">Note</label>
<textarea id="note" rows="4" aria-describedby="note-hint"></textarea>
<p class="dim" id="note-hint">It is kept nowhere but in this page, and stays when your session ends and you sign in again.</p></section>
</main>`,
    }),
  };
}
