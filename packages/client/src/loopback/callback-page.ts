/**
 * What a browser shows after it came back.
 *
 * @module
 */

import type { OutgoingHttpHeaders } from 'node:http';
import type { TokenRefusal } from '../grant.ts';

/** A page with its headers. */
export interface CallbackPage {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1.5rem;' +
  'background:#fff;color:#1b1b1f}' +
  'h1{font-size:1.5rem;line-height:1.25}' +
  'p{overflow-wrap:anywhere}' +
  '@media(prefers-color-scheme:dark){body{background:#16161a;color:#ececf1}}';

/**
 * No script, no address to load from or send to; the style alone may be inline. The code in the
 * page's address must not travel on, so there is no Referer.
 */
const HEADERS: OutgoingHttpHeaders = {
  'cache-control': 'no-store',
  connection: 'close',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
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
export function failedPage({ description, hint }: TokenRefusal): CallbackPage {
  const last = 'Your terminal tells how to go on.';
  return page(400, 'You are not signed in', [description, hint, last]);
}

/** The page for an answer that is not awaited: an old tab, or somebody else's link. */
export function foreignPage(): CallbackPage {
  return page(400, 'This is not the sign-in that is waited for', [
    'It may be of an earlier attempt. Nothing was changed; the sign-in goes on in the page that was opened last.',
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

function page(status: number, title: string, paragraphs: readonly string[]): CallbackPage {
  const text = paragraphs.filter((paragraph) => paragraph !== '');
  return {
    status,
    headers: HEADERS,
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${text.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`).join('\n')}
</main>
</body>
</html>
`,
  };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
