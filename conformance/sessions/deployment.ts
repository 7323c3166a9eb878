/**
 * A deployment of three processes that share their sessions, as the session suites see it.
 *
 * @module
 */

import { expect } from 'vitest';
import type { Browser } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { type Fleet, type FleetIdp, startFleet } from '../wire/fleet.ts';
import { createAsker, type Sending } from '../wire/many.ts';
import type { MovedClock } from '../wire/moved-clock.ts';
import type { Running } from '../wire/process.ts';
import type { Login } from '../wire/rotating-idp.ts';
import {
  allEnded,
  alone,
  isRunning,
  type LogLine,
  logOf,
  PATIENCE,
  workersOf,
} from '../wire/workers.ts';
import { mergeFiles } from './configuration-file.ts';

/** What a suite runs on. */
export interface DeploymentUnderTest {
  /** Shown in the titles. */
  readonly name: string;
  /** Whether the processes are the workers of one `serve`; three `serve` when absent. */
  readonly hasWorkers?: boolean;
  /** Lines of a configuration file; a suite's own settings are put over them. */
  readonly file?: readonly string[];
  /** Added to, or replacing, the deployment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Starts what the processes need beside themselves; called for each deployment that a suite starts. */
  setUp?(): Promise<PreparedSurroundings>;
}

/** What {@link DeploymentUnderTest.setUp} has started. */
export interface PreparedSurroundings extends Pick<DeploymentUnderTest, 'file' | 'environment'> {
  /**
   * Lets so much time pass for what keeps time itself and does not follow the moved clock.
   *
   * @param state - The state directory of the processes.
   */
  elapse?(ms: number, state: string): Promise<void>;
  /** Called when no process runs any more. */
  tearDown?(): Promise<void>;
}

/** What a suite brings. */
export interface DeploymentSettings {
  readonly idp: FleetIdp;
  readonly clock?: MovedClock;
  /** Lines of a configuration file. */
  readonly file?: readonly string[];
}

/** The running processes; an index names one of them, also after it was replaced. */
export interface Deployment {
  readonly publicUrl: string;
  /** The state directory they share. */
  readonly state: string;
  readonly indexes: readonly number[];
  /** Signs in; returns the `Cookie` header of the session. */
  signIn(browser: Browser, login?: Login): Promise<string>;
  /** Does something while what is sent to the given URL on a new connection reaches one process alone. */
  through<T>(index: number, work: (url: string) => Promise<T>): Promise<T>;
  /** `GET /me` of one process. */
  me(index: number, cookie: string): Promise<Received>;
  /** `GET /me` of whichever process takes it; another one for another number, where each has an address. */
  meAnywhere(number: number, cookie: string): Promise<Received>;
  /** What each process answers to `GET /me`: the status, with the reason where there is one. */
  verdicts(cookie: string): Promise<readonly string[]>;
  /** `GET /me` so many times at once, each on a connection of its own, spread over the processes. */
  askAtOnce(cookie: string, times: number): Sending;
  /** Ends a process without asking, and resolves when another one has taken its place. */
  replace(index: number): Promise<void>;
  /** Lines of all processes so far, those of killed ones too. */
  log(event: string): readonly LogLine[];
  /** Lets time pass for what does not follow the moved clock; to be called before its `advance`. */
  elapse(ms: number): Promise<void>;
  stop(): Promise<void>;
}

const PROCESSES = 3;

/** Starts it. */
export async function startDeployment(
  under: DeploymentUnderTest,
  { idp, clock, file = [] }: DeploymentSettings,
): Promise<Deployment> {
  const prepared = (await under.setUp?.()) ?? {};
  const workers = under.hasWorkers === true ? [`server: {workers: ${PROCESSES}}`] : [];
  const fleet = await startFleet({
    processes: under.hasWorkers === true ? 1 : PROCESSES,
    idp,
    ...(clock === undefined ? {} : { clock }),
    environment: { ...under.environment, ...prepared.environment },
    file: mergeFiles([under.file ?? [], prepared.file ?? [], file, workers]),
  }).catch(async (error: unknown) => {
    await prepared.tearDown?.();
    throw error;
  });
  const places = under.hasWorkers === true ? workerPlaces(fleet) : fleetPlaces(fleet);
  const { host } = new URL(fleet.publicUrl);

  const me: Deployment['me'] = (index, cookie) =>
    places.through(index, (url) => exchange(`${url}/me`, { headers: { host, cookie } }));
  return {
    publicUrl: fleet.publicUrl,
    state: fleet.state,
    indexes: Array.from({ length: PROCESSES }, (_, index) => index),
    signIn: (browser, login) => fleet.signIn(browser, login),
    through: places.through,
    me,
    meAnywhere: (number, cookie) =>
      exchange(`${fleet.urls[number % fleet.urls.length]}/me`, { headers: { host, cookie } }),
    async verdicts(cookie) {
      const statuses: string[] = [];
      for (let index = 0; index < PROCESSES; index += 1)
        statuses.push(statusOf(await me(index, cookie)));
      return statuses;
    },
    askAtOnce(cookie, times) {
      const { urls } = fleet;
      const all = urls.map((url, index) => {
        const share = Math.floor((times + index) / urls.length);
        const asker = createAsker(url, share);
        const paths = Array.from({ length: share }, () => '/me');
        const sending = asker.send(paths, { host, cookie });
        return { ...sending, heads: sending.heads.finally(() => asker.close()) };
      });
      return {
        sent: Promise.all(all.map(({ sent }) => sent)).then(() => undefined),
        answered: () => all.reduce((sum, { answered }) => sum + answered(), 0),
        heads: Promise.all(all.map(({ heads }) => heads)).then((heads) => heads.flat()),
      };
    },
    replace: places.replace,
    log: (event) => places.log().filter((line) => line['event'] === event),
    elapse: async (ms) => prepared.elapse?.(ms, fleet.state),
    async stop() {
      await fleet.stop();
      await prepared.tearDown?.();
    },
  };
}

/** The status of an answer, with the reason where there is one: `401 renewal_lost`. */
export function statusOf({ status, headers, body }: Received): string {
  if (headers['content-type'] !== 'application/problem+json') return String(status);
  const { reason = '' } = JSON.parse(body) as { readonly reason?: string };
  return `${status} ${reason}`;
}

type Places = Pick<Deployment, 'through' | 'replace'> & { log(): readonly LogLine[] };

/** Processes with an address each. */
function fleetPlaces(fleet: Fleet): Places {
  const ended: Running[] = [];
  const all = () => fleet.urls.map((_, index) => fleet.running(index));
  return {
    through: (index, work) => work(fleet.urls[index] ?? ''),
    async replace(index) {
      ended.push(fleet.running(index));
      await fleet.kill(index);
      await fleet.restart(index);
    },
    log: () => [...new Set([...ended, ...all()])].flatMap(logOf),
  };
}

/** Processes that share an address, and are started again by themselves. */
function workerPlaces(fleet: Fleet): Places {
  const running = fleet.running(0);
  const pidOf = (index: number): number => workersOf(running).get(index + 1) ?? 0;
  return {
    through: (index, work) => {
      const pids = [...workersOf(running).values()].filter(isRunning);
      return alone(pids, pidOf(index), () => work(fleet.publicUrl));
    },
    async replace(index) {
      const pid = pidOf(index);
      process.kill(pid, 'SIGKILL');
      await allEnded([pid]);
      await expect.poll(() => isRunning(pidOf(index)), PATIENCE).toBe(true);
    },
    log: () => logOf(running),
  };
}
