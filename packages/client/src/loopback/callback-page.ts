/**
 * What a browser shows after it came back.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { html, renderDocument } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';

/** A page with its headers. */
export interface CallbackPage {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** Like the style of the platform's own pages: a person who signs in sees both within a minute. */
const STYLE = `
:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--text:#1b1f26;--dim:#5a6372;--line:#d9dde3;--code:#eef0f3}
@media (prefers-color-scheme:dark){:root{--ground:#12151a;--card:#1b2027;--text:#e8ebf0;--dim:#a0a9b8;--line:#323a46;--code:#252c36}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.25rem;background:var(--ground);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{width:100%;max-width:32rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:2rem;overflow-wrap:anywhere}
h1{margin:0 0 .75rem;font-size:1.35rem;line-height:1.3;text-wrap:balance}
p{margin:0 0 1rem}
p:last-child{margin-bottom:0}
.dim{color:var(--dim);font-size:.9rem}
.dim:last-child{margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line)}
code{background:var(--code);border-radius:.3rem;padding:.1rem .35rem;font-size:.9em;-webkit-box-decoration-break:clone;box-decoration-break:clone}
@media (max-width:24rem){body{padding:.75rem}main{padding:1.25rem}}
@media (forced-colors:active){main{border:1px solid CanvasText}}
`;
const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * No script, no address to load from or send to; this one style alone. The code in the page's address
 * must not travel on, so there is no Referer. The icon is empty, and in the page: a browser that asked
 * for one would send the request to the next owner of the port.
 */
const HEADERS: OutgoingHttpHeaders = {
  'cache-control': 'no-store',
  connection: 'close',
  'content-security-policy': `default-src 'none'; img-src data:; style-src ${STYLE_SOURCE}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The page after tokens were obtained. */
export function signedInPage(): CallbackPage {
  return page(200, 'You are signed in', ['You can close this page and go back to your terminal.']);
}

/**
 * The page after an attempt that failed.
 *
 * @param refusal - Its texts may hold words of the identity provider: they are escaped here.
 */
export function failedPage({ error, description, hint }: TokenRefusal): CallbackPage {
  const last = 'You can close this page and go back to your terminal.';
  return page(400, 'You are not signed in', [description, hint, last], error);
}

/** The page for an answer that is not awaited: an old tab, or a forged link. */
export function foreignPage(): CallbackPage {
  return page(400, 'This page is of another attempt', [
    'Nothing was changed. The sign-in goes on in the page that was opened last.',
  ]);
}

/** An answer without a page. */
export function plainAnswer(status: 400 | 404 | 405): CallbackPage {
  const body = { 400: 'Bad request\n', 404: 'Not found\n', 405: 'Method not allowed\n' }[status];
  return {
    status,
    headers: {
      ...HEADERS,
      'content-type': 'text/plain; charset=utf-8',
      ...(status === 405 ? { allow: 'GET' } : {}),
    },
    body,
  };
}

function page(
  status: number,
  title: string,
  paragraphs: readonly string[],
  reason?: string,
): CallbackPage {
  const lines = paragraphs
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => html`<p>${paragraph}</p>\n`);
  if (reason !== undefined) lines.push(html`<p class="dim">Reason <code>${reason}</code></p>\n`);
  const body = html`<main>
<h1>${title}</h1>
${lines}</main>`;
  return { status, headers: HEADERS, body: renderDocument({ title, style: STYLE, body }) };
}
