/**
 * Something done to a running service while people work: 3,000 requests a second, every failure counted.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import type { Service } from '../wire/platform.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import {
  type LoadReport,
  type LoadSettings,
  type SteadyLoad,
  startSteadyLoad,
} from '../wire/steady-load.ts';
import { type LogLine, logOf, PATIENCE } from '../wire/workers.ts';

/** Requests a second. */
const RATE = 3_000;
/** What a machine that does much else reaches all the same. */
const RATE_FLOOR = 1_500;
const CONNECTIONS = 32;
/** Before and after what is done; the load has to be there throughout. */
const AROUND_MS = 500;
/** For workers to be replaced on a machine whose processors are all taken. */
const LONG_PATIENCE = { timeout: 45_000, interval: 20 };

/** Signs somebody in; returns the `Cookie` header. */
export async function signIn(
  service: Service,
  userInfo: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const browser = new Browser();
  const { status, body } = await service.signIn(browser, '/', { userInfo });
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

/** Replaces the configuration file of a service that was started with one. */
export function configure({ state }: Service, lines: readonly string[]): void {
  writeFileSync(join(state, 'sallyport.yaml'), `${lines.join('\n')}\n`);
}

/** Lines of one event so far. */
export function linesOf({ running }: Service, event: string): readonly LogLine[] {
  return logOf(running).filter((line) => line['event'] === event);
}

/** Resolves with the lines of an event once there are so many. */
export async function told(
  service: Service,
  event: string,
  count: number,
): Promise<readonly LogLine[]> {
  await expect
    .poll(() => linesOf(service, event).length, LONG_PATIENCE)
    .toBeGreaterThanOrEqual(count);
  return linesOf(service, event);
}

/** Resolves once a service is ready: then a reload has to be as good. */
export async function ready(service: Service): Promise<void> {
  const status = async () => (await exchange(`${service.url}/readyz`)).status;
  await expect.poll(status, PATIENCE).toBe(200);
}
