import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { WEB_CLIENT_ID, WEB_CLIENT_SECRET } from '../../conformance/wire/platform.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { SESSION_COOKIE } from '../../conformance/wire/sign-in.ts';
import RUNTIME from '../../packages/cli/bin/runtime-options.json' with { type: 'json' };
import { createWebhookCertificates } from '../cluster/webhook-certificates.ts';
import { packPackages, readTarball } from '../package/packed-packages.ts';
import { findPart, requirePart } from '../parts.ts';
import { BUILDERS, buildImage, EPOCH, type PrintedImage } from './built-image.ts';
import { createRuntime, type Runtime } from './container.ts';
import { type ImageFile, listTree, readOciArchive, unpackImage } from './unpacked-image.ts';

const BUILD_MS = 240_000;
const PATIENCE = { timeout: 20_000 };
const OWN_MAX_MB = 30;
/** Where the header of an ELF file names the machine, and the numbers of two. */
const ELF_MACHINE_OFFSET = 18;
const MACHINES = [
  { name: 'amd64', machine: 62 },
  { name: 'arm64', machine: 183 },
] as const;
const [THIS, OTHER] = process.arch === 'x64' ? MACHINES : ([MACHINES[1], MACHINES[0]] as const);
/** Shells, and programs that install others. */
const MANAGERS = /\/(?:[a-z]*sh|busybox|coreutils|env|npm|npx|corepack|yarn|dpkg|apt[a-z-]*)$/;

const crun = findPart('crun');
const isLeftOut = [...BUILDERS, crun].some((part) => part.isLeftOut);

describe.skipIf(isLeftOut)('The container image', () => {
  const { path: folder, remove } = temporaryFolder();
  let tarball: string;
  let built: PrintedImage;
  let file: ImageFile;
  let rootFilesystem: string;
  let runtime: Runtime;
  let idp: FakeIdp;

  beforeAll(async () => {
    for (const part of BUILDERS) requirePart(part);
    tarball = (await packPackages()).tarballs.get('sallyport') ?? '';
    built = await buildImage(tarball, join(folder, 'first'));
    const image = unpackImage(built.dockerArchive, join(folder, 'unpacked'));
    ({ file, rootFilesystem } = image);
    runtime = createRuntime(requirePart(crun), image, join(folder, 'containers'));
    idp = await startFakeIdp(WEB_CLIENT_ID);
    mkdirSync(join(folder, 'secrets'));
    writeFileSync(join(folder, 'secrets/oidc'), WEB_CLIENT_SECRET);
  }, BUILD_MS);
  afterAll(async () => {
    await idp?.close();
    remove();
  });

  /** The service, configured by its environment alone. */
  async function configure(more: Readonly<Record<string, string>> = {}) {
    const port = String(await freePort());
    const url = `http://localhost:${port}`;
    const environment = {
      PUBLIC_URL: url,
      OIDC_BASE_URL: idp.issuer,
      OIDC_CLIENT_ID: WEB_CLIENT_ID,
      CLI_CLIENT_ID: 'cli-client',
      OIDC_CLIENT_SECRET_FILE: '/run/secrets/oidc',
      SALLYPORT_LISTEN_PORT: port,
      ...more,
    };
    return { url, environment, mounts: { '/run/secrets': join(folder, 'secrets') } };
  }
  async function startService(more: Readonly<Record<string, string>> = {}) {
    const { url, ...options } = await configure(more);
    return { url, container: await runtime.start(options) };
  }
  const readiness = async (url: string) => (await exchange(`${url}/readyz`)).status;
  /** What a process was started with, and its children. */
  const commandOf = (pid: number) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const childrenOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');

  describe('with a read-only root, without capabilities and without a writable /tmp', () => {
    it('signs a person in, is healthy, ends with 0 on SIGTERM and leaves files in its state folder alone', async () => {
      const before = listTree(rootFilesystem);
      const { url, container } = await startService();
      await expect.poll(() => readiness(url), PATIENCE).toBe(200);
      const browser = new Browser();
      const sent = await browser.step(`${url}/login?redirect_url=%2F`);
      await browser.step(`${url}/callback?${idp.authorize(sent.location ?? '').toString()}`);
      const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
      expect((await exchange(`${url}/me`, { headers: { cookie } })).status).toBe(200);
      expect((await exchange(`${url}/me`)).status).toBe(401);
      const status = readFileSync(`/proc/${container.pid}/status`, 'utf8');
      expect(status.match(/^(?:Uid|Cap\w+|NoNewPrivs):.*$/gm)).toEqual([
        'Uid:\t65532\t65532\t65532\t65532',
        ...['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'].map((set) => `Cap${set}:\t${'0'.repeat(16)}`),
        'NoNewPrivs:\t1',
      ]);
      const [, ...test] = file.config.Healthcheck?.Test ?? [];
      expect(await container.exec(...test)).toMatchObject({ code: 0, stderr: '' });
      expect(await container.stop()).toMatchObject({ code: 0 });
      expect(readdirSync(container.state).toSorted()).toEqual([
        'cache',
        'key-ring.json',
        'metadata',
        'sessions.sqlite',
      ]);
      expect(listTree(rootFilesystem)).toEqual(before);
    });

    it.each(['/new', '/tmp/new', '/opt/sallyport/new', '/etc/sallyport/new'])(
      'can write nothing elsewhere: %s',
      async (path) => {
        const program = `fs.writeFileSync(${JSON.stringify(path)}, '')`;
        const ended = await runtime.run({
          entrypoint: ['/usr/local/bin/node', '--eval'],
          command: [program],
        });
        expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/EROFS|EACCES/) });
      },
    );

    it('answers the API server of Kubernetes about task pods, with nothing but a certificate', async () => {
      const certificates = join(folder, 'webhook');
      mkdirSync(certificates);
      const { certFile } = createWebhookCertificates(certificates);
      const port = await freePort();
      const container = await runtime.start({
        command: [
          ...[
            'inject',
            '--tls-cert',
            '/etc/sallyport/tls.crt',
            '--tls-key',
            '/etc/sallyport/tls.key',
          ],
          ...['--listen', `127.0.0.1:${port}`],
        ],
        mounts: { '/etc/sallyport': dirname(certFile) },
      });
      expect(await container.stop()).toMatchObject({
        code: 0,
        stdout: `ready https://127.0.0.1:${port}/inject\n`,
      });
    });

    it('is unhealthy while it waits for its identity provider', async () => {
      const { container } = await startService({ OIDC_BASE_URL: 'http://localhost:9' });
      const [, ...test] = file.config.Healthcheck?.Test ?? [];
      expect(await container.exec(...test)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('waits for identity_provider'),
      });
      expect(await container.stop()).toMatchObject({ code: 0 });
    });

    it('answers while it drains, and ends with 0 when that is over', async () => {
      const { url, container } = await startService({ SALLYPORT_DRAIN_DELAY: '2s' });
      await expect.poll(() => readiness(url), PATIENCE).toBe(200);
      const stopped = container.stop();
      await expect.poll(() => readiness(url), PATIENCE).toBe(503);
      expect((await exchange(`${url}/me`)).status).toBe(401);
      expect(await stopped).toMatchObject({ code: 0 });
    });
  });

  describe('starts its process once', () => {
    it('that keeps the command line of ENTRYPOINT and CMD', async () => {
      const { container } = await startService();
      const { Entrypoint, Cmd } = file.config;
      expect(commandOf(container.pid)).toEqual([...Entrypoint, ...Cmd]);
      expect(childrenOf(container.pid)).toBe('');
      await container.stop();
    });

    it('which without the options of ENTRYPOINT would start itself again', async () => {
      const { url: _, ...options } = await configure();
      const entrypoint = ['/usr/local/bin/node', '/opt/sallyport/bin/sallyport.js'];
      const container = await runtime.start({ ...options, entrypoint });
      const command = commandOf(container.pid);
      expect(command).not.toEqual([...entrypoint, ...file.config.Cmd]);
      expect(command).toEqual(expect.arrayContaining(RUNTIME.options.slice(0, -1)));
      await container.stop();
    });

    it('beside as many workers as are configured, which have its options too', async () => {
      const { url, container } = await startService({ SALLYPORT_WORKERS: '2' });
      await expect.poll(() => readiness(url), PATIENCE).toBe(200);
      const workers = childrenOf(container.pid).trim().split(' ').map(Number);
      expect(workers).toHaveLength(2);
      for (const worker of workers)
        expect(commandOf(worker)).toEqual(expect.arrayContaining(RUNTIME.options));
      expect(await container.stop()).toMatchObject({ code: 0 });
    });

    it('with the options that `serve` gives itself, and no others', () => {
      const { Entrypoint, Env } = file.config;
      expect(Entrypoint.slice(1, -1)).toEqual(RUNTIME.options);
      const variables = Object.entries(RUNTIME.environment).map(
        ([name, value]) => `${name}=${value}`,
      );
      expect(Env).toEqual(expect.arrayContaining(variables));
    });
  });

  describe('holds', () => {
    it('of the command what its tarball has', async () => {
      const packed = [...(await readTarball(tarball)).keys()].map((path) => `/${path}`);
      const files = listFiles(join(rootFilesystem, 'opt/sallyport'));
      expect(files.map(({ path }) => path)).toEqual(packed.toSorted());
    });

    it('no program but Node and the command: no shell, no npm, no package manager', () => {
      const programs = listFiles(rootFilesystem)
        .filter(({ mode, path }) => (mode & 0o111) !== 0 && !/\.so(?:\.\d+)*$/.test(path))
        .map(({ path }) => path);
      expect(programs).toEqual([
        '/opt/sallyport/bin/sallyport.js',
        '/usr/local/bin/node',
        '/usr/local/bin/sallyport',
      ]);
      const managers = listFiles(rootFilesystem).filter(({ path }) => MANAGERS.test(path));
      expect(managers).toEqual([]);
      expect(['/bin/sh', '/usr/bin/npm'].filter((path) => !MANAGERS.test(path))).toEqual([]);
    });

    it('no file of another owner than root but the state folder, and none that gives rights', () => {
      const lines = listTree(rootFilesystem);
      const owned = lines.filter((line) => !line.includes(' 0:0 '));
      expect(owned).toEqual([expect.stringMatching(/^\/var\/lib\/sallyport 40700 65532:65532 /)]);
      expect(listFiles(rootFilesystem).filter(({ mode }) => (mode & 0o6022) !== 0)).toEqual([]);
    });

    it('the packages of its base for scanners, and nothing of the machine that built it', () => {
      const packages = readdirSync(join(rootFilesystem, 'var/lib/dpkg/status.d'));
      expect(packages).toEqual(expect.arrayContaining(['libc6', 'libstdc++6']));
      expect(readdirSync(join(rootFilesystem, 'etc')).toSorted()).toEqual(
        [
          ...['debian_version', 'group', 'hosts', 'nsswitch.conf', 'os-release', 'passwd'],
          'sallyport',
        ].toSorted(),
      );
    });
  });

  it('says what it is in both formats; only that of Docker has the health check', () => {
    const oci = readOciArchive(built.ociArchive, join(folder, 'oci'));
    const { version } = JSON.parse(
      readFileSync(join(rootFilesystem, 'opt/sallyport/package.json'), 'utf8'),
    ) as { readonly version: string };
    for (const { architecture, created, config, history } of [file, oci]) {
      expect(architecture).toBe(THIS.name);
      expect(new Date(created).getTime()).toBe(EPOCH * 1_000);
      expect(config).toMatchObject({
        User: '65532:65532',
        WorkingDir: '/var/lib/sallyport',
        Volumes: { '/var/lib/sallyport': {} },
        StopSignal: 'SIGTERM',
        Labels: {
          'org.opencontainers.image.title': 'sallyport',
          'org.opencontainers.image.version': version,
          'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}/),
          'org.opencontainers.image.licenses': 'Apache-2.0',
          'org.opencontainers.image.created': new Date(EPOCH * 1_000).toISOString(),
        },
      });
      expect(history.map(({ created_by }) => created_by)).not.toContainEqual(
        expect.stringMatching(/\/bin\/sh -c (?!#\(nop\))/),
      );
    }
    expect(file.config.Healthcheck?.Test.slice(0, 3)).toEqual(['CMD', 'sallyport', 'healthcheck']);
    expect(oci.config).not.toHaveProperty('Healthcheck');
  });

  it('adds at most 30 MB to its base and Node', () => {
    const { base, Node, Sallyport } = built.sizes;
    expect(base).toBeGreaterThan(1);
    expect(Node).toBeGreaterThan(50);
    expect(Sallyport).toBeGreaterThan(1);
    expect(Sallyport).toBeLessThanOrEqual(OWN_MAX_MB);
  });

  it('is not made from the tarball of a library', async () => {
    const library = (await packPackages()).tarballs.get('sallyport-protocol') ?? '';
    const root = join(folder, 'first', `root-${THIS.name}.tar`);
    await expect(
      buildImage(library, join(folder, 'library'), '--root', root),
    ).rejects.toMatchObject({ stderr: expect.stringContaining('@sallyport/protocol') });
  });

  it(
    'has the same digests when it is built again, and the archives the same bytes',
    async () => {
      const again = await buildImage(tarball, join(folder, 'second'));
      expect(again.digests).toHaveLength(2);
      expect(again.digests).toEqual(built.digests);
      for (const archive of ['ociArchive', 'dockerArchive'] as const)
        expect(digestOf(again[archive])).toBe(digestOf(built[archive]));
    },
    BUILD_MS,
  );

  it(
    'is built for the other architecture without emulation, with the Node of that one',
    async () => {
      const output = join(folder, 'other');
      const other = await buildImage(tarball, output, '--arch', OTHER.name);
      const unpacked = unpackImage(other.dockerArchive, join(output, 'unpacked'));
      expect(unpacked.file.architecture).toBe(OTHER.name);
      const machineOf = (root: string) =>
        readFileSync(join(root, 'usr/local/bin/node')).readUInt16LE(ELF_MACHINE_OFFSET);
      expect(machineOf(unpacked.rootFilesystem)).toBe(OTHER.machine);
      expect(machineOf(rootFilesystem)).toBe(THIS.machine);
      expect(other.digests).not.toEqual(built.digests);
    },
    BUILD_MS,
  );
});

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Regular files below a folder. */
function listFiles(folder: string): readonly { readonly path: string; readonly mode: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path: `/${relative(folder, path)}`, mode: statSync(path).mode }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
