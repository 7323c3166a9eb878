/**
 * The frame of every page: self-contained, dark and light, readable without a mouse or a screen.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { type HeaderPair, type Html, html, renderDocument } from '@sallyport/protocol';

/** A page ready to send. */
export interface Page {
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/** Colours of every page in one place, dark and light. */
export const PAGE_THEME = `:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--text:#1b1f26;--dim:#5a6372;--line:#d9dde3;--field:#767f8d;--accent:#1f5fbf;--on-accent:#fff;--code:#eef0f3}
@media (prefers-color-scheme:dark){:root{--ground:#12151a;--card:#1b2027;--text:#e8ebf0;--dim:#a0a9b8;--line:#323a46;--field:#8a94a3;--accent:#7fb0ff;--on-accent:#0d1420;--code:#252c36}}
`;

const STYLE = `
${PAGE_THEME}*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.25rem;background:var(--ground);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{width:100%;max-width:32rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:2rem;overflow-wrap:anywhere}
h1{margin:0 0 .75rem;font-size:1.35rem;line-height:1.3;text-wrap:balance}
h2{margin:1.75rem 0 .5rem;font-size:1.05rem;line-height:1.3}
h3{margin:0;font-size:1rem;line-height:1.4}
p{margin:0 0 1rem}
a{color:var(--accent)}
dl{margin:0;display:grid;grid-template-columns:minmax(6rem,10rem) 1fr;gap:.3rem 1rem}
dt{color:var(--dim)}
dd{margin:0}
.dim{color:var(--dim);font-size:.9rem}
.dim:last-child{margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line)}
.dim code{display:inline-block}
code{background:var(--code);border-radius:.3rem;padding:.1rem .35rem;font-size:.9em;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.act{display:inline-block;font:inherit;font-weight:600;text-decoration:none;border:0;border-radius:.5rem;padding:.6rem 1.1rem;background:var(--accent);color:var(--on-accent);cursor:pointer}
.quiet{background:transparent;color:var(--text);box-shadow:inset 0 0 0 1px var(--field)}
.act:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
form{margin:0}
.wide{max-width:44rem}
.note{padding:.6rem .9rem;border-left:.25rem solid var(--accent);background:var(--code);border-radius:.3rem}
.items{list-style:none;margin:0;padding:0}
.items li{display:flex;flex-wrap:wrap;gap:.75rem 1rem;align-items:center;justify-content:space-between;padding:.9rem 0;border-top:1px solid var(--line)}
.items div{flex:1 1 15rem;min-width:0}
.items p{margin:0}
.items .dim{margin:.15rem 0 0;padding:0;border:0}
.mark{display:inline-block;font-size:.8rem;font-weight:600;border:1px solid var(--field);border-radius:1rem;padding:0 .55rem}
.choice{display:flex;flex-wrap:wrap;gap:.75rem;margin:0 0 1rem}
@media (max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
@media (max-width:24rem){body{padding:.75rem}main{padding:1.25rem}}
@media (forced-colors:active){main,.act{border:1px solid CanvasText}}
`;
const STYLE_SOURCE: string = hashSource(STYLE);

/** What a page has beyond text and links. */
export interface PageOptions {
  /**
   * For a page with a form: where it may end up beside our own origin. Browsers hold `form-action`
   * against the redirects that follow a submission as well.
   */
  readonly formTargets?: readonly string[];
  /** The page's one script; it runs when all above it is there. The policy allows these very characters. */
  readonly script?: string;
  /** For lists, which are read across. */
  readonly isWide?: boolean;
}

/**
 * Builds a page.
 *
 * @param title - Said in the tab and as the heading.
 * @param content - What follows the heading.
 */
export function buildPage(title: string, content: Html, options: PageOptions = {}): Page {
  const { formTargets, script, isWide = false } = options;
  const policy = [
    "default-src 'none'",
    'img-src data:',
    `style-src ${STYLE_SOURCE}`,
    ...(script === undefined ? [] : [`script-src ${hashSource(script)}`]),
    `form-action ${formTargets === undefined ? "'none'" : ["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const body = html`${isWide ? html`<main class="wide">` : html`<main>`}
<h1>${title}</h1>
${content}
</main>`;
  return {
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-security-policy', policy],
      ['x-content-type-options', 'nosniff'],
      // Under `no-referrer` a browser sends `Origin: null` with a form, and its origin could not be verified.
      ['referrer-policy', formTargets === undefined ? 'no-referrer' : 'same-origin'],
      ['cache-control', 'no-store'],
      ['x-accel-expires', '0'],
    ],
    body: renderDocument({ title, style: STYLE, body, script }),
  };
}

/** How a policy names an inline style or script. @see [CSP Level 3](https://www.w3.org/TR/CSP3/#framework-directive-source-list) */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
