/**
 * The image in a container of crun, with fewer rights than `podman run --read-only --cap-drop all` gives: no
 * file system in memory, no network of its own, no capability, and no way to a new one.
 *
 * @module
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { UnpackedImage } from './unpacked-image.ts';

/** How a container is started. */
export interface ContainerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** In place of the image's own command. */
  readonly command?: readonly string[];
  /** In place of the image's own. */
  readonly entrypoint?: readonly string[];
  /** Files and folders of the machine by their path in the container, where nobody may write to them. */
  readonly mounts?: Readonly<Record<string, string>>;
}

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A container whose program runs. */
export interface Container {
  /** Of its first process, as the machine sees it. */
  readonly pid: number;
  /** The volume of the state, on the machine. */
  readonly state: string;
  /** Runs another program in it, found by the PATH of the image. */
  exec(...args: readonly string[]): Promise<Ended>;
  /** Sends SIGTERM and waits; kills it after ten seconds, as container runtimes do. */
  stop(): Promise<Ended>;
}

/** A runtime for containers of one image. */
export interface Runtime {
  /** Starts a container and waits for its `ready` line. @throws With all it wrote when it ends before. */
  start(options?: ContainerOptions): Promise<Container>;
  /** Runs a container to its end. */
  run(options: ContainerOptions): Promise<Ended>;
}

/** Becomes crun, in a namespace that hides the machine's version 1 of cgroups: crun takes both versions for an error. */
const ISOLATED = [
  ...['unshare', '--mount', '--propagation', 'private', 'sh', '-c'],
  'mount -t cgroup2 none /sys/fs/cgroup && exec "$@"',
  'sh',
];
/** What container runtimes wait before they kill. */
const STOP_MS = 10_000;
const READY = /^ready /m;

/** Creates the runtime. @param folder - Of its own; the state of containers and their volumes. */
export function createRuntime(crun: string, image: UnpackedImage, folder: string): Runtime {
  const base = [crun, '--root', join(folder, 'crun'), '--cgroup-manager=disabled'];
  const command = (...args: readonly string[]): readonly [string, readonly string[]] => {
    const [program = '', ...rest] = [...ISOLATED, ...base, ...args];
    return [program, rest];
  };

  function create(options: ContainerOptions) {
    const id = randomUUID();
    const bundle = join(folder, id);
    const state = join(bundle, 'state');
    mkdirSync(state, { recursive: true, mode: 0o700 });
    // A volume begins with the owner and the mode of the image's folder.
    const { uid, gid, mode } = statSync(join(image.rootFilesystem, image.volume));
    chownSync(state, uid, gid);
    if ((mode & 0o777) !== 0o700) throw new Error('the state folder is open to others');
    const mounts = { ...options.mounts, '/etc/hosts': '/etc/hosts' };
    writeFileSync(
      join(bundle, 'config.json'),
      JSON.stringify(specify(image, state, mounts, options)),
    );
    const [program, args] = command(
      'run',
      '--bundle',
      bundle,
      '--pid-file',
      join(bundle, 'pid'),
      id,
    );
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    return { id, bundle, state, child, written: collect(child) };
  }

  return {
    async start(options = {}) {
      const { id, bundle, state, child, written } = create(options);
      await written.until(READY);
      const pid = Number(readFileSync(join(bundle, 'pid'), 'utf8'));
      return {
        pid,
        state,
        exec: (...args) => execute(...command('exec', id, ...args)),
        async stop() {
          if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGTERM');
          const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
          return written.ended.finally(() => clearTimeout(late));
        },
      };
    },
    run: (options) => create(options).written.ended,
  };
}

/** The specification of a container, as an engine makes it of an image's configuration (OCI runtime specification). */
function specify(
  { rootFilesystem, volume, config }: UnpackedImage,
  state: string,
  mounts: Readonly<Record<string, string>>,
  { environment = {}, command = config.Cmd, entrypoint = config.Entrypoint }: ContainerOptions,
): object {
  const [uid, gid] = config.User.split(':').map(Number);
  const given = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const bind = (destination: string, source: string, ...options: readonly string[]) => ({
    destination,
    type: 'bind',
    source,
    options: ['bind', 'nosuid', 'nodev', ...options],
  });
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...entrypoint, ...command],
      env: [...config.Env, ...given],
      cwd: config.WorkingDir,
      capabilities: {},
      noNewPrivileges: true,
    },
    root: { path: rootFilesystem, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'noexec', 'ro'] },
      bind(volume, state, 'rw'),
      ...Object.entries(mounts).map(([destination, source]) => bind(destination, source, 'ro')),
    ],
    linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
  };
}

interface Written {
  readonly ended: Promise<Ended>;
  /** Resolves when stdout matches. @throws When the program ends before. */
  until(pattern: RegExp): Promise<void>;
}

function collect(child: ChildProcess): Written {
  let stdout = '';
  let stderr = '';
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  child.stdout?.on('data', (piece: Buffer) => {
    stdout += piece.toString();
  });
  child.stderr?.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  child.once('close', (code) => resolve({ code, stdout, stderr }));
  return {
    ended,
    async until(pattern) {
      const { promise: matched, resolve: match } = Promise.withResolvers<undefined>();
      child.stdout?.on('data', () => {
        if (pattern.test(stdout)) match(undefined);
      });
      const early = await Promise.race([matched, ended]);
      if (early !== undefined)
        throw new Error(`ended with ${early.code}\n${early.stdout}\n${early.stderr}`);
    },
  };
}

async function execute(program: string, args: readonly string[]): Promise<Ended> {
  try {
    return { code: 0, ...(await promisify(execFile)(program, [...args])) };
  } catch (error) {
    return error as Ended & Error;
  }
}
