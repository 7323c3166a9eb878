/**
 * docs/install.md: every command of the page, in the order of the page.
 *
 * @module
 */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Running, start, temporaryFolder } from '../../conformance/wire/process.ts';
import { childrenOf, logOf, PATIENCE } from '../../conformance/wire/workers.ts';
import RUNTIME from '../../packages/cli/bin/runtime-options.json' with { type: 'json' };
import { findPart } from '../parts.ts';
import { type FreshHost, HOST, startFreshHost } from './fresh-host.ts';
import { packPackages } from './packed-packages.ts';
import { readUnit, startCommand, startEnvironment } from './systemd-unit.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname;
const PAGE = readFileSync(join(CHECKOUT, 'docs/install.md'), 'utf8');
const ANALYZE = findPart('systemd-analyze');
/** As the service, so that nothing is kept for root. */
const VERSION = 'runuser -u sallyport -- /opt/sallyport/bin/sallyport --version';
const GIGABYTE = 2 ** 30;
const execute = promisify(execFile);

/** Blocks of the page by their language, in order. */
const blocksIn = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );
const [
  MAKE_TARBALLS = '',
  VERIFY = '',
  LIST_PARTS = '',
  INSTALL_COMMAND = '',
  MAKE_FOLDER = '',
  INSTALL_WITHOUT_KEYRING = '',
  RUN_PLANE = '',
  INSTALL_LIBRARIES = '',
  INSTALL_SERVICE = '',
  CHECK_SERVICE = '',
  START_SERVICE = '',
  ASK_SERVICE = '',
  RUN_CHECKOUT = '',
  LINK_CHECKOUT = '',
  UPGRADE_SERVICE = '',
  REMOVE_COMMAND = '',
  REMOVE_SERVICE = '',
  ...FURTHER
] = blocksIn('sh');
const [CONFIGURATION = ''] = blocksIn('yaml');

let tarballs: string;
beforeAll(async () => {
  tarballs = dirname((await packPackages()).tarballs.get('sallyport') ?? '');
});

/** Starts a command that prints `ready <url>`, and ends it again with all that it has started. @returns The URL. */
async function startsUp(
  command: string,
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    for await (const line of createInterface(child.stdout)) {
      const [, url] = /^ready (\S+)/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error(`${command} ended`);
  } finally {
    // The whole group: npm does not pass signals on.
    if (child.exitCode === null) process.kill(-(child.pid ?? Number.NaN), 'SIGTERM');
    child.stdout.destroy();
    await ended;
  }
}

/** Packages come from the cache of this machine's npm where it has them; the home folder is another. */
async function npmWithCache(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await execute('npm', ['config', 'get', 'cache'], { cwd: CHECKOUT });
  return {
    npm_config_cache: stdout.trim(),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
  };
}

function keyringsBelow(folder: string): readonly string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith('node_modules/@napi-rs/keyring'));
}

describe('docs/install.md', () => {
  it('has no commands but those that are run here', () => {
    expect(FURTHER).toEqual([]);
    expect(REMOVE_SERVICE).toContain('userdel');
  });

  it('makes tarballs by the commands that CI and the build of these tests run', () => {
    expect(MAKE_TARBALLS).toBe('npm ci\nnpm run build -- --pack\n');
    expect(readFileSync(join(CHECKOUT, '.ci/run'), 'utf8')).toMatch(/^npm ci\b/m);
    const { scripts } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
    expect(scripts.build).toBe('node tools/build.ts');
  });

  it('verifies the tarballs, and finds one that was changed', async () => {
    const { stdout } = await execute('bash', ['-euc', VERIFY], { cwd: tarballs });
    const files = readdirSync(tarballs).filter((name) => name !== 'SHA256SUMS');
    expect(stdout.trim().split('\n').toSorted()).toEqual(
      files.map((name) => `${name}: OK`).toSorted(),
    );

    const { path, remove } = temporaryFolder();
    try {
      await execute('bash', ['-euc', `cp ${tarballs}/* . && echo >>sallyport-0.1.0.tgz`], {
        cwd: path,
      });
      await expect(execute('bash', ['-euc', VERIFY], { cwd: path })).rejects.toMatchObject({
        stdout: expect.stringContaining('sallyport-0.1.0.tgz: FAILED') as string,
      });
    } finally {
      remove();
    }
  });

  it('lists the packages that the command carries', async () => {
    const { stdout } = await execute('bash', ['-euc', LIST_PARTS], { cwd: tarballs });
    expect(stdout).toMatch(/^pkg:npm\/commander@\d/m);
  });

  it('installs the command with npm, which says its version and runs the plane, and removes it', async () => {
    const { path: home, remove } = temporaryFolder();
    const env = {
      PATH: `${home}/bin:${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: home,
      npm_config_prefix: home,
      ...(await npmWithCache()),
    };
    try {
      const { stdout } = await execute('bash', ['-euc', INSTALL_COMMAND], { cwd: tarballs, env });
      const [said = ''] = blocksIn('text');
      const form = (text: string) =>
        text.replace(/v\d+\.\d+\.\d+$/m, 'vNODE').replace(/[0-9a-f]{40}(?:-modified)?$/m, 'COMMIT');
      expect(form(stdout)).toMatch(new RegExp(`${form(said)}$`));
      expect(form(said)).toContain('built from COMMIT');
      expect(keyringsBelow(home)).not.toEqual([]);

      expect(MAKE_FOLDER).toBe('sallyport init\n');
      // Without a terminal nothing is asked, and nothing listens there.
      const named = '--public-url https://localhost:1 --issuer https://localhost:1/realm';
      const make = `${MAKE_FOLDER.trim()} ${named} --offline made`;
      await execute('bash', ['-euc', make], { cwd: home, env });
      expect(existsSync(join(home, 'made/sallyport.yaml'))).toBe(true);
      rmSync(join(home, 'made'), { recursive: true });

      expect(RUN_PLANE).toBe('sallyport up\n');
      expect(await startsUp(`${RUN_PLANE.trim()} --port 0`, { cwd: home, env })).toMatch(
        /^http:\/\/localhost:\d+$/,
      );
      expect(existsSync(join(home, '.sallyport'))).toBe(true);

      const left = () =>
        readdirSync(home, { recursive: true, encoding: 'utf8' })
          .filter((path) => /(?:^|[/])sallyport/.test(path) && !/^\.(?:npm|sallyport)\//.test(path))
          .toSorted();
      expect(left()).toEqual(
        expect.arrayContaining(['.cache/sallyport', 'bin/sallyport', 'lib/node_modules/sallyport']),
      );
      await execute('bash', ['-euc', REMOVE_COMMAND], { cwd: home, env });
      expect(left()).toEqual([]);
    } finally {
      remove();
    }
  });

  it('installs the command into a folder without the keyring', async () => {
    const { path: home, remove } = temporaryFolder();
    const FOLDER = join(home, 'folder');
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, FOLDER, ...(await npmWithCache()) };
    try {
      await execute('bash', ['-euc', INSTALL_WITHOUT_KEYRING], { cwd: tarballs, env });
      const command = join(FOLDER, 'node_modules/.bin/sallyport');
      const { stdout } = await execute(process.execPath, [command, '--version'], { env });
      expect(stdout).toMatch(/^\d+\.\d+\.\d+\n/);
      expect(keyringsBelow(home)).toEqual([]);
    } finally {
      remove();
    }
  });

  it('installs the libraries into the folder of a program', async () => {
    const { path: home, remove } = temporaryFolder();
    const env = { ...process.env, ...(await npmWithCache()) };
    try {
      const install = `cp ${tarballs}/*.tgz . && npm init -y\n${INSTALL_LIBRARIES}`;
      await execute('bash', ['-euc', install], { cwd: home, env });
      expect(readdirSync(join(home, 'node_modules/@sallyport')).toSorted()).toEqual([
        'client',
        'config',
        'protocol',
        'server',
      ]);
    } finally {
      remove();
    }
  });

  it('runs the plane from a checkout, and makes the command known in all folders', async () => {
    const { path: home, remove } = temporaryFolder();
    const env = { PATH: process.env['PATH'] ?? '', HOME: home };
    try {
      expect(RUN_CHECKOUT).toBe('npm ci\nnpm start\n');
      const command = `npm start -- --port 0 --state ${home}/state`;
      expect(await startsUp(command, { cwd: CHECKOUT, env })).toMatch(/^http:\/\/localhost:\d+$/);
      await execute('bash', ['-euc', LINK_CHECKOUT], { cwd: CHECKOUT, env });
      const { stdout } = await execute(join(home, '.local/bin/sallyport'), ['--version'], {
        cwd: home,
        env,
      });
      expect(stdout).toMatch(/^\d+\.\d+\.\d+\n/);
    } finally {
      remove();
    }
  });
});

describe.skipIf(HOST.isLeftOut || ANALYZE.isLeftOut)(
  'docs/install.md: the service on a host with systemd',
  () => {
    const unit = readUnit();
    const [program = '', ...args] = startCommand(unit);
    /** What systemd gives a process beside the unit's variables. */
    const bare = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
    let host: FreshHost;
    let idp: FakeIdp;
    let port: number;
    let before: readonly string[];

    beforeAll(async () => {
      host = await startFreshHost(tarballs);
      idp = await startFakeIdp('web-app');
      port = await freePort();
      before = await host.list();
    });
    afterAll(async () => {
      await host.remove();
      await idp.close();
    });

    /** Starts a command line as systemd does: folders, user, privileges, variables. */
    const startAs = async (
      command: readonly string[],
      environment: Readonly<Record<string, string>>,
    ): Promise<Running> => {
      const user = unit.get('User')?.[0] ?? '';
      const folders = [
        ['StateDirectory', '/var/lib'],
        ['LogsDirectory', '/var/log'],
        ['CacheDirectory', '/var/cache'],
      ] as const;
      for (const [setting, parent] of folders) {
        const mode = unit.get(`${setting}Mode`)?.[0] ?? '0755';
        const folder = join(parent, unit.get(setting)?.[0] ?? '');
        await host.bash(`install -d -m ${mode} -o ${user} -g ${user} ${folder}`);
      }
      const become = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs'];
      const privileges = ['setpriv', ...become, '--bounding-set=-all', '--inh-caps=-all'];
      const place = {
        program: [...host.enter, ...privileges, 'env', '--ignore-environment'].concat(
          Object.entries({ ...bare, ...environment }).map(([name, value]) => `${name}=${value}`),
          command.slice(0, 1),
        ),
        stateFolder: temporaryFolder,
        handOver: () => {},
      };
      return start(command.slice(1), {}, { place });
    };
    const ofProcess = (pid: number, file: 'cmdline' | 'environ') =>
      readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').slice(0, -1);

    it('installs package, user, configuration and unit, and enables it', async () => {
      await host.bash(INSTALL_SERVICE);
      // This host has no network, and npm works offline: the keyring is not there then.
      expect(await host.bash('find /opt -name "@napi-rs"')).toBe('');
      const configuration = CONFIGURATION.replace(
        'https://platform.example.com',
        `http://localhost:${port}`,
      ).replace('https://idp.example.com', idp.issuer);
      await host.bash(`cat >/etc/sallyport/sallyport.yaml <<'END'
${configuration}listen: { port: ${port} }
END
printf secret >/etc/sallyport/oidc_client_secret`);
      expect(await host.bash(CHECK_SERVICE)).toMatch(/^ok: /m);
      await host.bash(START_SERVICE);
      const enabled = await host.bash('systemctl is-enabled sallyport');
      expect(enabled).toBe('enabled\n');
    });

    it('keeps configuration and secret from being written by the service, and read by others', async () => {
      const files = '/etc/sallyport/sallyport.yaml /etc/sallyport/oidc_client_secret';
      const tries = (user: string) =>
        host.bash(`for file in ${files}; do for mode in r w; do
          runuser -u ${user} -- test -$mode $file && echo $mode || true
        done; done`);
      expect(await tries('sallyport')).toBe('r\nr\n');
      expect(await tries('nobody')).toBe('');
    });

    it('starts by the unit: ready, in one process that has not started itself again', async () => {
      const running = await startAs(
        [program, ...args],
        startEnvironment(unit, { '%C': '/var/cache' }),
      );
      try {
        await expect
          .poll(async () => (await exchange(`http://localhost:${port}/readyz`)).status, PATIENCE)
          .toBe(200);
        expect(await host.bash(ASK_SERVICE)).toBe(`ready http://127.0.0.1:${port}\n`);
        expect(ofProcess(running.pid, 'cmdline')).toEqual([program, ...args]);
        expect(childrenOf(running.pid)).toEqual([]);
        await host.bash((unit.get('ExecReload')?.[0] ?? '').replace('$MAINPID', `${running.pid}`));
        await expect
          .poll(() => logOf(running).map(({ event }) => event), PATIENCE)
          .toContain('configuration_loaded');
        expect(await running.stop()).toBe(0);
        await expect(host.bash(ASK_SERVICE)).rejects.toMatchObject({ code: 1 });
      } finally {
        await running.kill();
      }
      const added = (await host.list()).filter((path) => !before.includes(path));
      expect(added.filter((path) => path.startsWith('/var/lib/sallyport/'))).not.toEqual([]);
      expect(added.filter((path) => path.startsWith('/var/cache/sallyport/'))).not.toEqual([]);
      const installed = /^\/(?:opt|etc|var\/(?:lib|log|cache)\/sallyport)(?:\/|$)/;
      expect(added.filter((path) => !installed.test(path))).toEqual([]);
    });

    it('without what the unit gives the runtime, starts itself again with the same', async () => {
      const running = await startAs(
        [program, ...args.filter((arg) => !RUNTIME.options.includes(arg))],
        {
          XDG_CACHE_HOME: '/var/cache',
        },
      );
      try {
        const hasMemory = totalmem() >= 4 * GIGABYTE;
        const given = args.filter((arg) => hasMemory || !arg.includes('old-space-size'));
        expect(ofProcess(running.pid, 'cmdline')).toEqual([
          expect.stringMatching(/\/node$/),
          ...given,
        ]);
        expect(ofProcess(running.pid, 'environ')).toEqual(
          expect.arrayContaining(
            Object.entries(RUNTIME.environment).map(([name, value]) => `${name}=${value}`),
          ),
        );
        expect(await running.stop()).toBe(0);
      } finally {
        await running.kill();
      }
    });

    it('upgrades, and keeps configuration, sessions and keys', async () => {
      const kept = 'find /etc/sallyport /var/lib/sallyport -type f -exec sha256sum {} + | sort';
      const earlier = await host.bash(kept);
      expect(earlier).toContain('/var/lib/sallyport/');
      await host.bash(UPGRADE_SERVICE);
      expect(await host.bash(kept)).toBe(earlier);
      expect(await host.bash(VERSION)).toMatch(/^\d+\.\d+\.\d+\n/);
    });

    it('is removed with everything that it has left', async () => {
      expect((await host.list()).filter((path) => /sallyport/.test(path))).not.toEqual([]);
      await host.bash(REMOVE_SERVICE);
      const left = (await host.list()).filter((path) => !before.includes(path));
      // useradd and userdel keep the previous version of each file.
      expect(
        left.filter((path) => !/^\/etc\/(?:sub)?[gsu]\w+-$|^\/etc\/passwd-$/.test(path)),
      ).toEqual([]);
      expect(await host.bash("grep -c '^sallyport:' /etc/passwd /etc/group || true")).toBe(
        '/etc/passwd:0\n/etc/group:0\n',
      );
    });
  },
);
