/**
 * The frame of the console's pages: style, policy, and the bar at the top.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { type Html, html, PATHS, renderDocument } from '@sallyport/protocol';
import { PAGE_THEME } from '@sallyport/server';

/** A page with the headers it is sent with. */
export interface ConsolePage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a page puts into the frame. */
export interface ConsoleContent {
  readonly title: string;
  /** Path of its script. */
  readonly script: string;
  /** Rules beyond the frame's own. */
  readonly style?: string;
  /** Links beside those that every page has. */
  readonly links?: Html | undefined;
  /** Stands between the bar and the content. */
  readonly banner?: Html;
  readonly main: Html;
}

const STYLE = `
${PAGE_THEME}:root{--good:#19713a;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--good:#6fd693;--bad:#ff9d94}}
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
nav a{color:var(--text);font-weight:600;padding:.25rem 0}nav a[aria-current]{text-decoration:none;box-shadow:inset 0 -.2rem var(--accent)}
[hidden]{display:none!important}
button,.act{display:inline-block;font:inherit;font-weight:600;border:0;border-radius:.5rem;padding:.5rem 1rem;background:var(--accent);color:var(--on-accent);cursor:pointer;text-decoration:none}
button:focus-visible,a:focus-visible,textarea:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
@media (max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}header,main{padding:1rem}}
@media (forced-colors:active){section,button,.act{border:1px solid CanvasText}}
`;

/**
 * Frames a page.
 *
 * @param idpOrigin - The sign-out form ends up there: browsers hold `form-action` against redirects too.
 */
export function frameConsolePage(content: ConsoleContent, idpOrigin: string): ConsolePage {
  const style = STYLE + (content.style ?? '');
  const policy = [
    "default-src 'none'",
    'img-src data:',
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
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
      title: `${content.title} – Sallyport`,
      style,
      head: html`<script src="${content.script}" defer></script>\n`,
      body: html`<header><strong>Sallyport console</strong>
<nav aria-label="Account">${content.links}<a href="${PATHS.account}">Account</a><form method="post" action="${PATHS.logout}"><button type="submit">Sign out</button></form></nav></header>
${content.banner}<main>
${content.main}
</main>`,
    }),
  };
}
