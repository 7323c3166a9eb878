/**
 * The page of the platform: each service that is no person, whom it calls, as which client, until when its token lives,
 * and what went wrong last.
 *
 * @module
 */

import { type Html, html } from '@sallyport/protocol';
import { type ConsolePage, frameConsolePage } from './console-frame.ts';
import type { ActorView, PlatformView } from './platform-view.ts';

/** Of the page. With `.js` and `.json` at its end: its script, and what that reads. */
export const PLATFORM_PATH = '/platform';

/** What changes on a card, in words. */
export interface ActorWords {
  readonly name: string;
  readonly state: ActorView['state'];
  readonly status: string;
  readonly client: string;
  readonly token: string;
  /** How much of the token's life is left, in percent. */
  readonly life: number;
  /** The same, as the label of its bar. */
  readonly rest: string;
  readonly calls: string;
  readonly bare: string;
  /** Empty when nothing has gone wrong yet. */
  readonly error: string;
  readonly when: string;
  readonly isOver: boolean;
}

/** What changes on the page. */
export interface PlatformWords {
  readonly summary: string;
  /** `starting`: nothing is wrong yet. */
  readonly mood: 'well' | 'starting' | 'bad';
  /** Names of those that fail or wait, in the order of the table. */
  readonly failing: readonly string[];
  readonly actors: readonly ActorWords[];
}

const STYLE = `
main{max-width:76rem}
#failing span{display:inline-flex;flex-wrap:wrap;gap:.1rem .75rem}#failing a{color:var(--bad);font-weight:600}
#summary{font-size:1.1rem;font-weight:600}#summary[data-mood=well]{color:var(--good)}#summary[data-mood=bad]{color:var(--bad)}
.plane{background:none;border:0;padding:0;overflow-wrap:break-word}.plane code{overflow-wrap:anywhere}
.plane h2{font-size:1.1rem;color:var(--text)}
.cards{display:grid;align-items:start;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));gap:1rem}
article{background:var(--card);border:1px solid var(--line);border-top:.25rem solid var(--field);border-radius:.75rem;padding:1.1rem 1.25rem;display:flex;flex-direction:column;gap:.75rem;min-width:0}
article[data-state=calling]{border-top-color:var(--good)}
article[data-state=failing],article[data-state=waiting]{border-top-color:var(--bad);order:-1}
article:target{outline:3px solid var(--accent);outline-offset:2px}article{scroll-margin-top:1rem}
article h3{margin:0;font-size:1.1rem;line-height:1.3}
.top{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:baseline;justify-content:space-between}
.status{font-size:.9rem;font-weight:600;color:var(--dim)}
.status::before{content:"";display:inline-block;width:.6rem;height:.6rem;margin-right:.45rem;border-radius:50%;background:currentColor}
@media (prefers-reduced-motion:no-preference){.beat .status::before{animation:beat .6s ease-out}}
@keyframes beat{0%{box-shadow:0 0 0 0 currentColor}100%{box-shadow:0 0 0 .5rem transparent}}
.way{display:flex;flex-wrap:wrap;gap:.1rem .45rem;align-items:baseline}
.way .dim{font-size:.9rem}.way>*,.top>*,article dd{min-width:0}
.life{display:flex;gap:.6rem;align-items:center}.life .dim{flex:none;font-size:.8rem}
progress{flex:1;min-width:3rem;width:100%;height:.3rem;border:0;border-radius:.2rem;background:var(--line);appearance:none;overflow:hidden}
progress::-webkit-progress-bar{background:var(--line)}progress::-webkit-progress-value{background:var(--accent)}progress::-moz-progress-bar{background:var(--accent)}
[data-state=calling] .status{color:var(--good)}
[data-state=failing] .status,[data-state=waiting] .status{color:var(--bad)}
article p{margin:0}
article dl{grid-template-columns:7.6rem minmax(0,1fr);gap:.2rem .75rem;font-size:.95rem}
.error{border-left:.25rem solid var(--bad);background:var(--code);border-radius:.3rem;padding:.5rem .75rem;font-size:.9rem}
.error.over{border-left-color:var(--line);background:none;color:var(--dim)}
.error .when{display:block;color:var(--dim)}
details{font-size:.9rem;margin-top:auto}
summary{cursor:pointer;color:var(--dim);padding:.2rem 0}
article details dl{margin-top:.4rem;grid-template-columns:minmax(0,1fr);gap:0}details dd{margin:0 0 .4rem}
@media (max-width:30rem){article dl{gap:.2rem .75rem}article dd{margin:0}}
@media (forced-colors:active){article{border:1px solid CanvasText}}
`;

/**
 * Puts into words what changes.
 *
 * @param now - Epoch milliseconds.
 */
export function describePlatform(view: PlatformView, now: number): PlatformWords {
  const count = (state: ActorView['state']): number =>
    view.filter((actor) => actor.state === state).length;
  const calling = count('calling');
  const isStarting = calling + count('starting') === view.length;
  const mood = calling === view.length ? 'well' : isStarting ? 'starting' : 'bad';
  return {
    summary:
      mood === 'well'
        ? `All ${view.length} call their peers, each with a token of its own`
        : `${calling} of ${view.length} call their peers${isStarting ? ', the others are starting' : ''}`,
    mood,
    failing: view.filter(isBroken).map(({ name }) => name),
    actors: view.map((actor) => describeActor(actor, now)),
  };
}

function isBroken({ state }: Pick<ActorView, 'state'>): boolean {
  return state === 'failing' || state === 'waiting';
}

/** Builds the page, as it is now; its script keeps it so. */
export function buildPlatformPage(view: PlatformView, now: number, idpOrigin: string): ConsolePage {
  const words = describePlatform(view, now);
  const cards = (plane: ActorView['plane']): readonly Html[] =>
    view.flatMap((actor, index) => {
      const changing = words.actors[index];
      return actor.plane !== plane || changing === undefined ? [] : [buildCard(actor, changing)];
    });
  return frameConsolePage(
    {
      title: 'Platform',
      script: `${PLATFORM_PATH}.js`,
      style: STYLE,
      links: html`<a href="/">Console</a><a href="${PLATFORM_PATH}" aria-current="page">Platform</a>`,
      main: html`<section><h1>Platform</h1>
<p id="summary" data-mood="${words.mood}" role="status">${words.summary}</p>
<p id="failing"${words.failing.length === 0 ? html` hidden` : undefined}>Failing: <span>${words.failing.map((name) => html`<a href="#${name}">${name}</a>`)}</span></p>
<p id="stale" class="dim" hidden>This page has lost its connection; it shows what it heard last. <a href="${PLATFORM_PATH}">Load it again</a></p>
<p class="dim">Service accounts of the platform; no person is signed in as them. Each proves itself with the client secret or API key in its own files, keeps its token fresh, and calls its peer through the gateway. Change a file, and watch what the service says.</p></section>
<section class="plane" aria-labelledby="control"><h2 id="control">Control plane</h2><div class="cards">${cards('control plane')}</div></section>
<section class="plane" aria-labelledby="data"><h2 id="data">Data plane</h2><div class="cards">${cards('data plane')}</div></section>`,
    },
    idpOrigin,
  );
}

function buildCard(actor: ActorView, words: ActorWords): Html {
  const { name, peer, protocol, readsFrom, secret, secretFile, folder, logFile } = actor;
  const isShown = words.error !== '';
  return html`<article id="${name}" data-state="${words.state}" aria-labelledby="${name}-name">
<div class="top"><h3 id="${name}-name">${name}</h3><span class="status" data-is="status">${words.status}</span></div>
<p class="way"><span class="dim">calls</span> <strong>${peer}</strong> <span class="dim">over ${protocol}</span></p>
<dl><dt>As client</dt><dd data-is="client">${words.client}</dd><dt>Proves it with</dt><dd>${secret}</dd><dt>Token ends</dt><dd><span data-is="token">${words.token}</span><span class="life"${words.life === 0 ? html` hidden` : undefined}><progress max="100" value="${words.life}" aria-label="Rest of the token’s life"></progress><span class="dim" data-is="rest">${words.rest}</span></span></dd><dt>Calls</dt><dd data-is="calls">${words.calls}</dd><dt>Without a token</dt><dd data-is="bare">${words.bare}</dd></dl>
<p class="error${words.isOver ? ' over' : ''}"${isShown ? undefined : html` hidden`}><span class="when" data-is="when">${words.when}</span><span data-is="error">${words.error}</span></p>
<details><summary>Its files</summary><dl><dt>Reads</dt><dd><code>${readsFrom}</code></dd><dt>Secret file</dt><dd><code>${secretFile}</code></dd><dt>Its root</dt><dd><code>${folder}</code></dd><dt>Log</dt><dd><code>${logFile}</code></dd></dl></details>
</article>`;
}

const STATUS: Readonly<Record<ActorView['state'], string>> = {
  starting: 'starting',
  calling: 'calling',
  failing: 'failing',
  waiting: 'failing: restarts now',
};

function describeActor(actor: ActorView, now: number): ActorWords {
  const { name, state, tokenEndsAt, admitted, starts, lastError } = actor;
  // Paths as the pod would see them.
  const error = lastError?.words.replaceAll(actor.folder, '').replace(SINCE, '') ?? '';
  return {
    name,
    state,
    status: describeStatus(actor, now),
    client: describeClient(actor),
    token: tokenEndsAt === undefined ? 'none' : describeEnd(tokenEndsAt - now),
    life: describeLife(actor, now),
    rest: `${describeLife(actor, now)} % left`,
    calls: `${admitted} admitted${starts > 1 ? ` since restart ${starts - 1}` : ''}`,
    bare: describeBare(actor),
    error,
    when:
      lastError === undefined
        ? ''
        : lastError.until === undefined
          ? `For ${describeTime(now - lastError.since)}:`
          : `Ended ${describeTime(now - lastError.until)} ago, after ${describeTime(lastError.until - lastError.since)}:`,
    isOver: lastError?.until !== undefined,
  };
}

/** The card says since when beside it. */
const SINCE = / since \d{4}-\d\d-\d\dT[\d:.]+Z/;

function describeStatus({ state, startsAgainAt }: ActorView, now: number): string {
  const rest = (startsAgainAt ?? now) - now;
  return state === 'waiting' && rest > 0
    ? `failing: restarts in ${Math.ceil(rest / 1_000)} s`
    : STATUS[state];
}

function describeClient({ state, clientId, knownAs }: ActorView): string {
  if (clientId === undefined) return describeUnknown(state);
  return knownAs === undefined || knownAs === clientId
    ? clientId
    : `${clientId}, known as ${knownAs}`;
}

function describeBare({ state, withoutToken: answer }: ActorView): string {
  if (answer === undefined) return state === 'failing' ? 'not tried' : describeUnknown(state);
  return answer === 'admitted' ? 'ADMITTED, which is a fault' : `refused (${answer})`;
}

function describeUnknown(state: ActorView['state']): string {
  return state === 'starting' ? '…' : 'none';
}

function describeEnd(leftMs: number): string {
  return leftMs <= 0 ? 'has ended' : `in ${describeTime(leftMs)}`;
}

function describeLife({ tokenEndsAt, tokenSince }: ActorView, now: number): number {
  if (tokenEndsAt === undefined || tokenSince === undefined || tokenEndsAt <= tokenSince) return 0;
  const rest = (tokenEndsAt - now) / (tokenEndsAt - tokenSince);
  return Math.round(Math.min(1, Math.max(0, rest)) * 100);
}

const MINUTE_MS = 60_000;

function describeTime(ms: number): string {
  return ms < MINUTE_MS
    ? `${Math.max(0, Math.floor(ms / 1_000))} s`
    : `${Math.floor(ms / MINUTE_MS)} min`;
}
