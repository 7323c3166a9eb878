/**
 * Reloads the configuration of a running service, and reads what its log says since then.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { exchange } from './exchange.ts';
import type { Service } from './platform.ts';
import { type LogLine, logOf, PATIENCE } from './workers.ts';

/** For workers to be replaced on a machine whose processors are all taken. */
const LONG_PATIENCE = { timeout: 45_000, interval: 20 };

/** The log of a service from one moment on. */
export interface LogSince {
  /** Lines of one event so far. */
  linesOf(event: string): readonly LogLine[];
  /** Resolves with the lines of an event once there are so many. */
  waitForLines(event: string, count: number): Promise<readonly LogLine[]>;
}

/** The log from now on, so that tests can share a service. */
export function fromNow({ running }: Service): LogSince {
  const begun = logOf(running).length;
  const linesOf = (wanted: string) =>
    logOf(running)
      .slice(begun)
      .filter(({ event }) => event === wanted);
  return {
    linesOf,
    async waitForLines(event, count) {
      // Also in a hook, where `expect.poll` is refused.
      await vi.waitFor(
        () => expect(linesOf(event).length).toBeGreaterThanOrEqual(count),
        LONG_PATIENCE,
      );
      return linesOf(event);
    },
  };
}

/** Replaces the configuration file of a service that was started with one. */
export function configure({ state }: Service, lines: readonly string[]): void {
  writeFileSync(join(state, 'sallyport.yaml'), `${lines.join('\n')}\n`);
}

/** Replaces the configuration file, and resolves once the new configuration is in effect. */
export async function reconfigure(service: Service, lines: readonly string[]): Promise<void> {
  const log = fromNow(service);
  configure(service, lines);
  process.kill(service.running.pid, 'SIGHUP');
  await log.waitForLines('configuration_loaded', 1);
}

/** Lines of one event since the service was started. */
export function linesOf({ running }: Service, event: string): readonly LogLine[] {
  return logOf(running).filter((line) => line['event'] === event);
}

/** Resolves with the lines of an event once there are so many since the service was started. */
export async function waitForLines(
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
  const isReady = async () =>
    expect((await exchange(`${service.url}/readyz`)).status, service.running.stderr()).toBe(200);
  await vi.waitFor(isReady, PATIENCE);
}
