/**
 * Several `sallyport serve` that are one deployment: one public URL, one state, one key ring.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import type { Browser } from './browser.ts';
import { exchange, type Received } from './exchange.ts';
import { type Asker, createAsker } from './many.ts';
import type { MovedClock } from './moved-clock.ts';
import { type Running, start, stateFolder } from './process.ts';
import type { Login, RotatingIdp } from './rotating-idp.ts';
import { SESSION_COOKIE } from './sign-in.ts';

/** What a fleet needs of its IdP. */
export type FleetIdp = Pick<RotatingIdp, 'publicUrl' | 'environment' | 'signIn'>;

/** Settings of {@link startFleet}. */
export interface FleetOptions {
  readonly processes: number;
  /** Decides the public URL. It stays the caller's to close. */
  readonly idp: FleetIdp;
  readonly clock?: MovedClock;
  /** Added to, or replacing, the deployment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Lines of the configuration file that all of them read; or of each one's own, by its index. */
  readonly file?: readonly string[] | ((index: number) => readonly string[]);
}

/** The running processes, by index. */
export interface Fleet {
  readonly publicUrl: string;
  /** Addresses of the processes; the first is the public URL. */
  readonly urls: readonly string[];
  /** The state directory they share. */
  readonly state: string;
  running(index: number): Running;
  /**
   * Signs in through the first process.
   *
   * @returns The `Cookie` header of the session; every process has to know it.
   * @throws When no session begins.
   */
  signIn(browser: Browser, login?: Login): Promise<string>;
  /** `GET /me` of one process over a connection of its own, as the proxy in front sends it. */
  me(index: number, cookie: string): Promise<Received>;
  /** Asks one process over at most `connections` connections that stay open; closed with the fleet. */
  asker(index: number, connections: number): Asker;
  /** Ends a process without asking. */
  kill(index: number): Promise<void>;
  /** Starts a process again on its port; one that still runs is asked to end before. */
  restart(index: number): Promise<void>;
  /** Asks all that run to end, and removes the state. */
  stop(): Promise<void>;
}

/**
 * Starts them, all at once.
 *
 * @throws When one does not become ready; the others are ended.
 */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { processes, idp, clock, environment = {}, file = [] } = options;
  const { publicUrl } = idp;
  const { host, port: publicPort } = new URL(publicUrl);
  const folder = stateFolder();
  const configFileOf = (index: number): string => {
    const lines = typeof file === 'function' ? file(index) : file;
    const path = join(folder.path, `sallyport-${index}.yaml`);
    writeFileSync(path, lines.length === 0 ? '{}\n' : `${lines.join('\n')}\n`);
    return path;
  };
  const ports = [Number(publicPort)];
  while (ports.length < processes) ports.push(await freePort());
  const urls = ports.map((port) => `http://localhost:${port}`);
  const askers: Asker[] = [];

  const startOne = (index: number): Promise<Running> =>
    start(
      ['serve', '--port', String(at(ports, index)), '--config', configFileOf(index)],
      { ...idp.environment, SALLYPORT_STATE_DIRECTORY: folder.path, ...environment },
      { clock },
    );
  const started = await Promise.allSettled(ports.map((_, index) => startOne(index)));
  const running = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = started.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all(running.map((each) => each.kill()));
    folder.remove();
    throw failed.reason;
  }

  return {
    publicUrl,
    urls,
    state: folder.path,
    running: (index) => at(running, index),
    async signIn(browser, login = 'ada') {
      const received = await idp.signIn(browser, `${publicUrl}/login`, login);
      const value = browser.cookie(new URL(publicUrl).hostname, SESSION_COOKIE);
      if (value === undefined)
        throw new Error(`no session began: ${received.status} at ${received.url}`);
      return `${SESSION_COOKIE}=${value}`;
    },
    me: (index, cookie) => exchange(`${at(urls, index)}/me`, { headers: { host, cookie } }),
    asker(index, connections) {
      const asker = createAsker(at(urls, index), connections);
      askers.push(asker);
      return asker;
    },
    kill: (index) => at(running, index).kill(),
    async restart(index) {
      await at(running, index).stop();
      running[index] = await startOne(index);
    },
    async stop() {
      for (const asker of askers) asker.close();
      await Promise.all(running.map((each) => each.stop()));
      folder.remove();
    },
  };
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`the fleet has no process ${index}`);
  return found;
}
