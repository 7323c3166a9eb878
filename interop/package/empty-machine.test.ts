/**
 * The installed command where nothing of the checkout is on the disk: as a person, and as a service whose root folder is
 * read-only and who has no home.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Ended, type Home, makeHome } from '../../conformance/cli/command.ts';
import { signIn } from '../../conformance/operation/under-load.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import {
  type Plane,
  type Service,
  startPlane,
  startService,
} from '../../conformance/wire/platform.ts';
import type { Place } from '../../conformance/wire/process.ts';
import { holdRedirectPort } from '../../conformance/wire/redirect-port.ts';
import { fromNow, ready, reconfigure } from '../../conformance/wire/reloads.ts';
import { SESSION_COOKIE } from '../../conformance/wire/sign-in.ts';
import { childrenOf, isRunning, PATIENCE, workersOf } from '../../conformance/wire/workers.ts';
import { requirePart } from '../parts.ts';
import { createMachine, MACHINE, type Machine, NPM_PROGRAMS } from './empty-machine.ts';
import { findNodes } from './node-versions.ts';
import { type Installation, installTarballs, packPackages } from './packed-packages.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname;
const execute = promisify(execFile);
const NODES = await findNodes();
const [, CURRENT] = NODES;
/** A person has an account and a home; the user of a service has neither. */
const PERSON = 65_534;
const SERVICE = 65_532;
const NO_HOME = '/nonexistent';
const WORKERS = 'server: {workers: 2}';
/** Requests under way while workers are replaced. */
const CLIENTS = 2;

let installed: Installation;
beforeAll(async () => {
  if (MACHINE.isLeftOut) return;
  const { tarballs } = await packPackages();
  installed = await installTarballs([tarballs.get('sallyport') ?? ''], '--offline');
});
afterAll(() => installed?.remove());

/** Warnings of Node 24 about a part of itself. */
const NODE_WARNING =
  /^\(node:\d+\) ExperimentalWarning: SQLite .*\n\(Use `node --trace-warnings.*\n/m;

/** Runs a program there to its end, in the folder of the installation. */
async function run(
  place: Place,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [program = '', ...rest] = place.program;
  const env = { PATH: process.env['PATH'] ?? '', HOME: NO_HOME, ...environment };
  const { code, stdout, stderr } = await execute(program, [...rest, ...args], { env }).then(
    (ended) => ({ ...ended, code: 0 }),
    (ended: Ended) => ended,
  );
  return { code, stdout, stderr: stderr.replace(NODE_WARNING, '') };
}

/** npm says by itself that there is a newer one. */
const QUIET_NPM = { npm_config_update_notifier: 'false' };

/** Runs the command there by `npx`. */
function npx(machine: Machine): Place {
  return { ...machine, ...machine.node(`${NPM_PROGRAMS}/npx-cli.js`, 'sallyport') };
}

async function status(url: string, headers: Readonly<Record<string, string>> = {}) {
  return (await exchange(url, { headers })).status;
}

/** Ends a plane that npx has started: npm does not pass signals on. */
async function stopPlane(plane: Plane): Promise<void> {
  let pid = plane.running.pid;
  for (let [child] = childrenOf(pid); child !== undefined; [child] = childrenOf(pid)) pid = child;
  process.kill(pid, 'SIGTERM');
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENCE);
  await plane.stop();
}

/** Signs in by a browser that follows the printed address. */
async function login(home: Home, plane: Plane): Promise<Ended> {
  const giveBack = await holdRedirectPort();
  try {
    const under = home.start(['login', '--flow', 'pkce', '--no-browser', '--endpoint', plane.url]);
    const said = await under.says('waiting for the browser');
    const browser = new Browser();
    const page = await browser.visit(/^ {2}(http\S+)$/m.exec(said)?.[1] ?? '');
    await browser.submit(page, { login: 'ada', password: plane.password('ada') });
    return await under.ended;
  } finally {
    await giveBack();
  }
}

/** Asks all the time until the work is done. @returns Statuses and failures that came. */
async function whileAsked(
  service: Service,
  cookie: string,
  work: () => Promise<void>,
): Promise<ReadonlySet<unknown>> {
  const outcomes: unknown[] = [];
  let isOver = false;
  const client = async () => {
    while (!isOver)
      outcomes.push(
        await status(`${service.url}/me`, { cookie }).catch((error: Error) => error.message),
      );
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await work();
  const seen = outcomes.length;
  await expect.poll(() => outcomes.length, PATIENCE).toBeGreaterThan(seen + CLIENTS);
  isOver = true;
  await Promise.all(clients);
  return new Set(outcomes);
}

/** What holds for every user on every machine. */
function testServe(machine: () => Machine): void {
  it('serves with workers: a reload takes effect, all are replaced, and no request is refused', async () => {
    const service = await startService({}, [], { place: machine() }, undefined, [WORKERS]);
    onTestFinished(() => service.stop());
    await ready(service);
    const cookie = await signIn(service, { groups: ['core'] });
    const before = [...workersOf(service.running).values()];
    const log = fromNow(service);
    const outcomes = await whileAsked(service, cookie, async () => {
      process.kill(service.running.pid, 'SIGUSR2');
      await log.waitForLines('restart_done', 1);
    });
    expect(outcomes).toEqual(new Set([200]));
    const after = [...workersOf(service.running).values()];
    expect(after).toHaveLength(2);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);

    await reconfigure(service, [WORKERS, 'access: {groups: [ops]}']);
    expect(await status(`${service.url}/me`, { cookie })).toBe(403);
    const ops = await signIn(service, { groups: ['ops'] });
    expect(await status(`${service.url}/me`, { cookie: ops })).toBe(200);
    expect(await service.running.stop()).toBe(0);
  });
}

for (const node of NODES)
  describe.skipIf(MACHINE.isLeftOut || node.isLeftOut)(
    `The installed command for a person on ${node.name}`,
    () => {
      let machine: Machine;
      let plane: Plane;
      let home: Home;
      beforeAll(async () => {
        machine = createMachine({
          installation: installed.folder,
          node: requirePart(node),
          user: PERSON,
          hasTemporaryFolder: true,
        });
        plane = await startPlane([], { place: npx(machine) });
        home = makeHome(undefined, machine);
      });
      afterAll(async () => {
        await stopPlane(plane);
        home.remove();
        machine.remove();
      });

      it('runs where nothing of the checkout is on the disk, and nothing else can be written', async () => {
        const looks = `
        const { existsSync, writeFileSync } = require('node:fs');
        const canWrite = (folder) => { try { writeFileSync(folder + '/x', ''); return true; } catch { return false; } };
        console.log(JSON.stringify({
          node: process.version, user: process.getuid(), checkout: existsSync(process.argv[1]),
          bundle: existsSync('/app/node_modules/sallyport/dist/main.js'),
          written: ['/', '/app', '/usr', '/etc', '/root'].filter(canWrite),
        }));`;
        const { stdout } = await run(machine.node('--eval', looks), [
          join(CHECKOUT, 'package.json'),
        ]);
        expect(JSON.parse(stdout)).toEqual({
          node: `v${node.name.slice('Node '.length)}`,
          user: PERSON,
          checkout: false,
          bundle: true,
          written: [],
        });
        expect(existsSync(join(CHECKOUT, 'package.json'))).toBe(true);
      });

      it('says its version and that of Node', async () => {
        const { stdout } = await run(machine, ['--version']);
        expect(stdout.split('\n').slice(0, 2)).toEqual([
          expect.stringMatching(/^\d+\.\d+\.\d+$/),
          node.name.replace(' ', ' v'),
        ]);
      });

      it('npx sallyport up: a browser signs in', async () => {
        const browser = new Browser();
        expect(await plane.signIn(browser, '/')).toMatchObject({ status: 200 });
        const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
        expect(await status(`${plane.url}/me`, { cookie })).toBe(200);
        expect(await status(`${plane.url}/me`)).toBe(401);
      });

      it('login keeps tokens, which token prints, until logout', async () => {
        expect(await login(home, plane)).toMatchObject({
          code: 0,
          stderr: expect.stringContaining('as Ada Lovelace') as string,
        });
        const { stdout } = await home.run(['token', '--header']);
        const [name = '', value = ''] = stdout.trimEnd().split(': ');
        expect(await status(`${plane.url}/me`, { [name]: value })).toBe(200);
        expect((await home.run(['whoami'])).stdout).toContain('Ada Lovelace');
        expect((await home.run(['logout'])).code).toBe(0);
        expect(await home.run(['token', '--no-login'])).toMatchObject({ code: 4, stdout: '' });
      });

      testServe(() => machine);

      it('npx sallyport up in a folder that one may not write to says so in one sentence', async () => {
        expect(await run(npx(machine), ['up', '--port', '0'], QUIET_NPM)).toEqual({
          code: 1,
          stdout: '',
          stderr:
            'sallyport: SP_STATE_UNUSABLE (/app/.sallyport): this user cannot make or write the state folder (EACCES); start it in a folder of your own, or name another with --state\n',
        });
      });

      it('leaves nothing in /tmp', () => {
        // That is where npm keeps its own compiled code.
        expect(machine.leftovers()).toEqual(['node-compile-cache']);
      });
    },
  );

describe.skipIf(MACHINE.isLeftOut)(
  'The installed command as a service, on a read-only root and without a home',
  () => {
    let machine: Machine;
    let plane: Plane;
    beforeAll(async () => {
      machine = createMachine({
        installation: installed.folder,
        node: requirePart(CURRENT),
        user: SERVICE,
        hasTemporaryFolder: false,
      });
      plane = await startPlane([], { place: machine });
    });
    afterAll(async () => {
      await plane.stop();
      machine.remove();
    });
    const credentials = () => ({
      CORE_CREDENTIALS_CLIENT_ID: 'sallyport-service',
      CORE_CREDENTIALS_CLIENT_SECRET: readFileSync(
        join(plane.state, 'idp/service-client-secret'),
        'utf8',
      ).trim(),
      CORE_CREDENTIALS_AUTH_MODE: 'basic',
    });

    it('runs the whole plane: a browser signs in', async () => {
      const browser = new Browser();
      expect(await plane.signIn(browser, '/')).toMatchObject({ status: 200 });
      const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
      expect(await status(`${plane.url}/me`, { cookie })).toBe(200);
      expect(await status(`${plane.url}/me`)).toBe(401);
    });

    testServe(() => machine);

    it('token prints one for the credentials of an application, and nothing else', async () => {
      const args = ['token', '--header', '--endpoint', plane.url];
      const { code, stdout, stderr } = await run(machine, args, credentials());
      expect([code, stderr]).toEqual([0, '']);
      const [name = '', value = ''] = stdout.trimEnd().split(': ');
      expect(await status(`${plane.url}/me`, { [name]: value })).toBe(200);
    });

    it.each([
      ['token', []],
      ['login', ['--flow', 'pkce', '--no-browser']],
    ])('%s of a person says in one sentence that no token can be kept', async (name, options) => {
      expect(await run(machine, [name, ...options, '--endpoint', plane.url])).toEqual({
        code: 1,
        stdout: '',
        stderr: `sallyport: ${NO_HOME}/.local/share/sallyport/tokens cannot be used (EROFS) (SP_TOKEN_STORE_UNUSABLE)\n`,
      });
    });

    it('up on the read-only disk says in one sentence that it cannot make its state folder', async () => {
      expect(await run(machine, ['up', '--port', '0', '--state', '/var/state'])).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^sallyport: SP_STATE_UNUSABLE \(\/var\/state\): .*\(EROFS\).*\n$/,
        ) as string,
      });
    });

    it('leaves nothing but files of its own in its state folder', async () => {
      expect(await plane.running.stop()).toBe(0);
      expect(readdirSync(plane.state).toSorted()).toEqual([
        'deployment.env',
        'idp',
        'key-ring.json',
        'metadata',
        'sallyport.log',
        'sessions.sqlite',
        'tls',
        'up.lock',
      ]);
    });
  },
);
