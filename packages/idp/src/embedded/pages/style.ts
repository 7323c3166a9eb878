/**
 * The one style sheet of the pages, and the hash that a content security policy admits it by.
 *
 * @module
 */

import { createHash } from 'node:crypto';

/** Style sheet of every page: dark and light, narrow and wide, visible focus. */
export const STYLE = `
:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--text:#1b1f26;--dim:#5a6372;--line:#d9dde3;--field:#767f8d;--accent:#1f5fbf;--on-accent:#fff;--alert:#b3261e;--alert-ground:#fdecea;--code:#eef0f3}
@media (prefers-color-scheme:dark){:root{--ground:#12151a;--card:#1b2027;--text:#e8ebf0;--dim:#a0a9b8;--line:#323a46;--field:#8a94a3;--accent:#7fb0ff;--on-accent:#0d1420;--alert:#ffb4ab;--alert-ground:#3b1f1e;--code:#252c36}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;justify-content:center;padding:1.25rem;background:var(--ground);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{width:100%;max-width:26rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:2rem;overflow-wrap:anywhere}
header{margin:0 0 1.25rem;font-weight:700;letter-spacing:.01em}
header span{display:block;color:var(--dim);font-weight:400;font-size:.875rem;letter-spacing:0}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1rem}
main>:last-child{margin-bottom:0}
form{margin:1.25rem 0 0}
label{display:block;margin:0 0 .3rem;font-weight:600}
input{display:block;width:100%;margin:0 0 1rem;padding:.6rem .75rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--field);border-radius:.5rem}
input[aria-invalid=true]{border-color:var(--alert)}
input.code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:1.25rem;letter-spacing:.12em;text-transform:uppercase}
button{display:block;width:100%;margin:.5rem 0 0;padding:.65rem 1.1rem;font:inherit;font-weight:600;cursor:pointer;border:1px solid transparent;border-radius:.5rem;background:var(--accent);color:var(--on-accent)}
button.quiet{background:transparent;color:var(--text);border-color:var(--field)}
a{color:var(--accent)}
input:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
code{background:var(--code);border-radius:.3rem;padding:.1rem .35rem;font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.9em}
.shown{display:block;margin:1rem 0;padding:.75rem;font-size:1.5rem;letter-spacing:.12em;text-align:center}
.alert{margin:1rem 0;padding:.7rem .9rem;border:1px solid var(--alert);border-radius:.5rem;background:var(--alert-ground);color:var(--alert)}
.dim{color:var(--dim);font-size:.875rem}
.note{margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line)}
dl{margin:1rem 0 0}
dt{color:var(--dim);font-size:.875rem}
dd{margin:0 0 .75rem}
dl>:last-child{margin-bottom:0}
@media (max-width:24rem){body{padding:.75rem}main{padding:1.25rem}}
@media (forced-colors:active){main,button,.alert{border-color:CanvasText}}
`;

/** Source expression for `style-src` that admits {@link STYLE} and nothing else. */
export const STYLE_SOURCE: string = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
