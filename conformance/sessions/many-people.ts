/**
 * Many people at one deployment, and what each of them does there.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import { Browser } from '../wire/browser.ts';
import type { Received } from '../wire/exchange.ts';
import { signInOf } from '../wire/logout-token.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import type { AttackedFleetIdp } from './attacked-fleet-idp.ts';
import type { KeptAnswer, KeptConnection } from './kept-connection.ts';

/** A session as its browser got it. */
export interface Begun {
  /** The `Cookie` header. */
  readonly cookie: string;
  readonly subject: string;
  /** When its end was acknowledged, by a sign-out or a sign-in in its place; `performance.now()`. */
  endedAt: number | undefined;
  /** Whether its end was asked for. */
  isEnding: boolean;
}

/** A person with a browser of their own, in which others sign in at times. */
export interface Person {
  readonly subject: string;
  readonly browser: Browser;
  /** Of this browser, oldest first. */
  readonly sessions: Begun[];
}

/** Draws the next number, at least 0 and below the given one. */
export type Draw = (below: number) => number;

/** The life of access tokens; a renewal is due before that. */
const ACCESS_TOKEN_SECONDS = 30;
const ATTEMPTS = 5;

/** A sequence that is the same for the same seed (mulberry32). */
export function createDraw(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** Signs in in a person's browser: begun at one process and finished at another. */
export async function signIn(
  person: Person,
  subject: string,
  { attacker, publicUrl }: AttackedFleetIdp,
  urls: { readonly begin: string; readonly finish: string },
): Promise<void> {
  const { browser, sessions } = person;
  const { host, hostname } = new URL(publicUrl);
  const replaced = sessions.at(-1);
  if (replaced !== undefined) replaced.isEnding = true;
  const headers = { host };
  const lie = { ...signInOf(subject), rotation: { accessTokenSeconds: ACCESS_TOKEN_SECONDS } };
  await untilDone(302, async () => {
    // Asked for by name: with a session `/login` would go straight to the target.
    const sent = await browser.step(`${urls.begin}/login?prompt=login`, { headers });
    const query = attacker.authorize(sent.location ?? '', lie);
    return browser.step(`${urls.finish}/callback?${query}`, { headers });
  });
  if (replaced !== undefined) replaced.endedAt ??= performance.now();
  const cookie = `${SESSION_COOKIE}=${browser.cookie(hostname, SESSION_COOKIE)}`;
  sessions.push({ cookie, subject, endedAt: undefined, isEnding: false });
}

/** Signs the browser out, at one process, if it is signed in. */
export async function signOut(
  { browser, sessions }: Person,
  { publicUrl }: Pick<AttackedFleetIdp, 'publicUrl'>,
  url: string,
): Promise<void> {
  const { host, origin } = new URL(publicUrl);
  const ended = sessions.at(-1);
  if (ended === undefined || ended.isEnding) return;
  ended.isEnding = true;
  const headers = { host, origin, 'sec-fetch-site': 'same-origin' };
  await untilDone(303, () => browser.step(`${url}/logout`, { form: {}, headers }));
  ended.endedAt = performance.now();
}

/** Tries again after Retry-After when a store on a busy disk is out of reach for a moment. */
async function untilDone(wanted: number, work: () => Promise<Received>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { status, headers } = await work();
    if (status === wanted) return;
    if (status !== 503 || attempt === ATTEMPTS) throw new Error(`${status} instead of ${wanted}`);
    await pause(Number(headers['retry-after']) * 1_000);
  }
}

/** A person with a browser that has not signed in yet. */
export function createPerson(subject: string): Person {
  return { subject, browser: new Browser(), sessions: [] };
}

/** `GET /me` with a cookie, on a connection that other people's questions go over too. */
export async function ask(connection: KeptConnection, cookie: string): Promise<KeptAnswer> {
  return connection.send('/me', { headers: { cookie } });
}

/** An ended session may be admitted for so long by a process that did not end it itself. */
const SEEN_WITHIN_MS = 1_000;

/**
 * What is wrong with an answer to a session's cookie; `undefined` when nothing is.
 *
 * @param askedAt - When it was asked; `performance.now()`.
 */
export function findFault(
  { cookie, subject, endedAt, isEnding }: Begun,
  { status, headers, body, at }: KeptAnswer,
  askedAt: number,
): string | undefined {
  if (status === 401) return isEnding ? undefined : `${subject} is refused: ${body}`;
  if (status !== 200) return `${subject} gets ${status}: ${body}`;
  const record = JSON.parse(body) as { readonly subject?: string; readonly name?: string };
  const named = [headers['x-user-subject'], headers['x-user-name'], record.subject, record.name];
  if (named.some((name) => name !== subject)) return `${subject} is taken for ${named.join(', ')}`;
  for (const line of headers['set-cookie'] ?? [])
    if (!line.startsWith(`${cookie};`)) return `${subject} gets another cookie`;
  if (endedAt !== undefined && askedAt > endedAt + SEEN_WITHIN_MS)
    return `${subject} is admitted ${at - endedAt} ms after the end`;
  return undefined;
}
