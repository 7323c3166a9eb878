/**
 * Something done to a running service while people work: 3,000 requests a second, every failure counted.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { Service } from '../wire/platform.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import {
  type LoadReport,
  type LoadSettings,
  type SteadyLoad,
  startSteadyLoad,
} from '../wire/steady-load.ts';

/** Requests a second. */
const RATE = 3_000;
/** What a machine that does much else reaches all the same. */
const RATE_FLOOR = 1_500;
/** Open at once, at most. */
export const CONNECTIONS = 32;
/** Before and after what is done; the load has to be there throughout. */
const AROUND_MS = 300;

/** Signs a person in, of whom the IdP says what is given or what it says of all; returns the `Cookie` header. */
export async function signIn(
  service: Service,
  userInfo?: Readonly<Record<string, unknown>>,
): Promise<string> {
  const browser = new Browser();
  const lie = userInfo === undefined ? {} : { userInfo };
  const { status, body } = await service.signIn(browser, '/', lie);
  expect(status, /Reason <code>(\w+)/.exec(body)?.[1]).toBe(302);
  return `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
}

/** Requests of `/me` with each of some sessions. */
export function asSessions(cookies: readonly string[]): LoadSettings['requests'] {
  return cookies.map((cookie) => ({ path: '/me', headers: { cookie } }));
}

/**
 * Does something under load.
 *
 * @param work - Gets the running load.
 *
 * @returns What came of every request from before the work until after it.
 */
export async function underLoad(
  url: string,
  requests: LoadSettings['requests'],
  work: (load: SteadyLoad) => Promise<void>,
): Promise<LoadReport> {
  const load = startSteadyLoad({ url, requests, perSecond: RATE, connections: CONNECTIONS });
  try {
    await pause(AROUND_MS);
    await work(load);
    await pause(AROUND_MS);
  } catch (error) {
    await load.stop();
    throw error;
  }
  return load.stop();
}

/** Expects that nothing failed, at the rate that was wanted or nearly so, and prints it. */
export function expectNoneFailed(what: string, report: LoadReport): void {
  const { asked, ok, failed, ratePerSecond, p99Ms, slowestMs, opened } = report;
  const [rate, p99, slowest] = [ratePerSecond, p99Ms, slowestMs].map((value) => value.toFixed(1));
  console.info(
    `${what}: ${ok} of ${asked} answered, ${rate}/s, p99 ${p99} ms, slowest ${slowest} ms, ${opened} connections`,
  );
  expect(failed).toEqual({});
  expect(ok).toBe(asked);
  expect(ratePerSecond).toBeGreaterThan(RATE_FLOOR);
}
