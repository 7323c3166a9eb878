/**
 * The two things a test talks to: the whole plane of `sallyport up`, and `sallyport serve` in front of
 * an IdP of the test's own.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeIdp, type Lie, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { type Browser, nextAddress, pauseAfter } from './browser.ts';
import type { Received } from './exchange.ts';
import { BESIDE, type Running, type Surroundings, start } from './process.ts';
import { type ServiceHost, sharedHost } from './service-host.ts';

/** A running `sallyport up`. */
export interface Plane {
  readonly url: string;
  readonly issuer: string;
  readonly state: string;
  readonly running: Running;
  password(login: 'ada' | 'grace'): string;
  /** Opens a page and signs in on the way; returns where that ends. */
  signIn(browser: Browser, path: string, login?: 'ada' | 'grace'): Promise<Received>;
  stop(): Promise<void>;
}

/** Starts the plane on free ports, in a folder of its own. */
export async function startPlane(
  args: readonly string[] = [],
  surroundings: Surroundings = {},
): Promise<Plane> {
  const folder = (surroundings.place ?? BESIDE).stateFolder();
  // Port 0 is looked for and given back before the plane listens there.
  const ports = ['--port', String(await freePort()), '--idp-port', String(await freePort())];
  const all = ['up', ...ports, '--state', folder.path, ...args];
  const running = await start(all, {}, surroundings);
  const deployment = readFileSync(join(folder.path, 'deployment.env'), 'utf8');
  const passwords = new Map(
    readFileSync(join(folder.path, 'idp', 'passwords'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
  const password = (login: string) => passwords.get(login) ?? '';
  return {
    url: running.url,
    issuer: /OIDC_BASE_URL='([^']+)'/.exec(deployment)?.[1] ?? '',
    state: folder.path,
    running,
    password,
    async signIn(browser, path, login = 'ada') {
      const page = await browser.visit(running.url + path);
      return browser.submit(page, { login, password: password(login) });
    },
    async stop() {
      await running.stop();
      folder.remove();
    },
  };
}

/** A running `sallyport serve`. */
export interface Service {
  /** Public URL and address at once: no ingress stands in front. */
  readonly url: string;
  readonly idp: FakeIdp;
  readonly state: string;
  readonly running: Running;
  /** Plays the IdP's part of a sign-in: from `/login` to the answer of `/callback`. */
  signIn(browser: Browser, path?: string, lie?: Lie): Promise<Received>;
  /**
   * Plays the IdP's part from where `/login` sent the browser to where the sign-in ends: on the way to
   * the target, or on a page. Follows restarts, and pages that wait for another tab.
   */
  finish(browser: Browser, location: string): Promise<Received>;
  /** Starts it again on the same state, after it was ended. */
  restart(): Promise<Service>;
  stop(): Promise<void>;
}

/** Client id of the web application at the test's IdP. */
export const WEB_CLIENT_ID = 'web-client';
/** Its secret; a canary that must never show. */
export const WEB_CLIENT_SECRET = 'canary-web-client-secret';
const STEPS_MAX = 10;

/**
 * Starts the service beside others in one process: for tests whose subject is not the process. It has a graph,
 * state, port and output of its own all the same.
 *
 * @param host - The process; that of all tests of the worker when absent.
 */
export function startHostedService(
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  given?: FakeIdp,
  file: readonly string[] = [],
  host: ServiceHost = sharedHost(),
): Promise<Service> {
  return startService(environment, args, { host }, given, file);
}

/**
 * Starts the service on a free port, configured by environment variables alone.
 *
 * @param environment - Added to, or replacing, the deployment variables.
 * @param surroundings - Limits and clock, of a restart too.
 * @param given - An IdP that the test has prepared; it is closed with the service.
 * @param file - Lines of a configuration file.
 */
export async function startService(
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  surroundings: Surroundings = {},
  given?: FakeIdp,
  file: readonly string[] = [],
): Promise<Service> {
  const { place = BESIDE } = surroundings;
  const folder = place.stateFolder();
  const configFile = join(folder.path, 'sallyport.yaml');
  if (file.length > 0) writeFileSync(configFile, `${file.join('\n')}\n`);
  const idp = given ?? (await startFakeIdp(WEB_CLIENT_ID));
  const secretFile = join(folder.path, 'oidc_client_secret');
  writeFileSync(secretFile, WEB_CLIENT_SECRET, { mode: 0o600 });
  place.handOver(folder.path);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const run = async (): Promise<Service> => {
    const running = await start(
      [
        'serve',
        '--port',
        String(port),
        ...(file.length > 0 ? ['--config', configFile] : []),
        ...args,
      ],
      {
        PUBLIC_URL: url,
        OIDC_BASE_URL: idp.issuer,
        OIDC_CLIENT_ID: WEB_CLIENT_ID,
        CLI_CLIENT_ID: 'cli-client',
        OIDC_CLIENT_SECRET_FILE: secretFile,
        SALLYPORT_STATE_DIRECTORY: folder.path,
        ...environment,
      },
      surroundings,
    );
    return {
      url,
      idp,
      state: folder.path,
      running,
      async signIn(browser, path = '/', lie = {}) {
        const sent = await browser.step(`${url}/login?redirect_url=${encodeURIComponent(path)}`);
        const answer = idp.authorize(sent.location ?? '', lie);
        return browser.step(`${url}/callback?${answer.toString()}`);
      },
      async finish(browser, location) {
        let next = location;
        for (let steps = 0; steps < STEPS_MAX; steps += 1) {
          const isAtIdp = next.startsWith(`${idp.issuer}/`);
          const received = await browser.step(
            isAtIdp ? `${url}/callback?${idp.authorize(next).toString()}` : next,
          );
          const onward = new URL(nextAddress(received) ?? '/', url).href;
          const isUnderWay = [`${idp.issuer}/`, `${url}/login`, `${url}/callback`].some((start) =>
            onward.startsWith(start),
          );
          if (!isUnderWay) return received;
          await pauseAfter(received);
          next = onward;
        }
        throw new Error('the sign-in is started again and again');
      },
      restart: run,
      async stop() {
        await running.stop();
        await idp.close();
        folder.remove();
      },
    };
  };
  return run();
}
