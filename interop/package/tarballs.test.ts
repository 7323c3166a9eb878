import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart, requirePart } from '../parts.ts';
import { findForeignImports } from './foreign-imports.ts';
import { type PackedPackages, packPackages, readTarball } from './packed-packages.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
const execute = promisify(execFile);

const DOCUMENTS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
/** Chunks have the name of a module. The names change with the code; the folder holds nothing else. */
const CHUNK = /^dist\/[a-z][a-z0-9_-]*\.js$/;
const COMMAND_FILES = [
  ...DOCUMENTS,
  'THIRD-PARTY-NOTICES.md',
  'bin/runtime-options.json',
  'bin/sallyport.js',
  'dist/keyring-process.js',
  'dist/local-store-maintenance-thread.js',
  'dist/main.js',
  'dist/platform-actor.js',
  'systemd/sallyport.service',
];
const LIBRARIES = ['protocol', 'kubernetes', 'config', 'client', 'server'];

/**
 * Rehearses a release. The tests that it runs are these: in their place stands an `npm` that writes down what it is
 * asked, answers `run test*` with a code, and leaves all else to the real one.
 */
async function rehearse(
  output: string,
  code: number,
): Promise<{ readonly stdout: string; readonly asked: readonly string[] }> {
  const { path: folder, remove } = temporaryFolder();
  try {
    const record = join(folder, 'record');
    const npm = requirePart(findPart('npm'));
    const script = `#!/bin/sh\ncase "$*" in "run test"*) ;; *) exec "${npm}" "$@";; esac\necho "$* in $PWD, CI=$CI" >>"${record}"\nexit ${code}\n`;
    writeFileSync(join(folder, 'npm'), script, { mode: 0o755 });
    const release = join(CHECKOUT, 'tools/release.ts');
    const { stdout } = await execute(process.execPath, [release, '--dry-run', '--out', output], {
      env: { ...process.env, CI: '', PATH: `${folder}:${process.env['PATH']}` },
    });
    return { stdout, asked: readFileSync(record, 'utf8').trim().split('\n') };
  } finally {
    remove();
  }
}

describe('The tarballs', () => {
  let packed: PackedPackages;
  const entries = new Map<string, ReadonlyMap<string, string>>();

  beforeAll(async () => {
    packed = await packPackages();
    for (const [name, path] of packed.tarballs) entries.set(name, await readTarball(path));
  });

  const of = (name: string): ReadonlyMap<string, string> => entries.get(name) ?? new Map();
  const texts = (): readonly (readonly [string, string])[] =>
    [...entries].flatMap(([name, files]) =>
      [...files].map(([path, text]) => [`${name}: ${path}`, text] as const),
    );

  it('are those of the command and the five public libraries', () => {
    expect([...packed.tarballs.keys()].toSorted()).toEqual(
      ['sallyport', ...LIBRARIES.map((name) => `sallyport-${name}`)].toSorted(),
    );
  });

  it('hold of a library JavaScript, types and a source map for each source file, and nothing else', async () => {
    for (const name of LIBRARIES) {
      const source = `packages/${name}/src/`;
      const { stdout } = await execute('git', ['ls-files', '--cached', '--others', source], {
        cwd: CHECKOUT,
      });
      const expected = stdout
        .trim()
        .split('\n')
        .filter((path) => !path.endsWith('.test.ts') && existsSync(join(CHECKOUT, path)))
        .map((path) => path.slice(source.length))
        .flatMap((path) =>
          path.startsWith('gen/')
            ? [`dist/${path}`]
            : ['.js', '.js.map', '.d.ts'].map((end) => `dist/${path.replace(/\.ts$/, end)}`),
        );
      expect([...of(`sallyport-${name}`).keys()].toSorted()).toEqual(
        [...DOCUMENTS, ...expected].toSorted(),
      );
    }
  });

  it('hold of the command its entries, documents and chunks, and nothing else', () => {
    const paths = [...of('sallyport').keys()];
    expect(paths).toEqual(expect.arrayContaining(COMMAND_FILES));
    expect(paths.filter((path) => !COMMAND_FILES.includes(path) && !CHUNK.test(path))).toEqual([]);
  });

  it('name no path of the machine they were built on', () => {
    const naming = texts().filter(
      ([, text]) => text.includes(CHECKOUT) || text.includes(packed.folder),
    );
    expect(naming.map(([path]) => path)).toEqual([]);
  });

  it('hold no private key and no code of tests', () => {
    const pattern =
      /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\n[A-Za-z0-9+/]|from ["'](?:vitest|fast-check|@sallyport\/testing[^"']*)["']/;
    expect(
      texts()
        .filter(([, text]) => pattern.test(text))
        .map(([path]) => path),
    ).toEqual([]);
  });

  it('declare no export condition `source`, no development dependency and one version', () => {
    const versions = new Set<unknown>();
    for (const [name, files] of entries) {
      const text = files.get('package.json') ?? '{}';
      const manifest = JSON.parse(text) as Readonly<Record<string, unknown>>;
      versions.add(manifest['version']);
      expect(text, name).not.toContain('"source"');
      expect(manifest, name).not.toHaveProperty('devDependencies');
      expect(manifest, name).not.toHaveProperty('private');
      expect(manifest, name).toMatchObject({ license: 'Apache-2.0', engines: { node: '>=24.11' } });
    }
    expect(versions.size).toBe(1);
  });

  it('of the command need no other package but an optional keyring', () => {
    const manifest = JSON.parse(of('sallyport').get('package.json') ?? '{}');
    expect(manifest).not.toHaveProperty('dependencies');
    expect(Object.keys(manifest.optionalDependencies)).toEqual(['@napi-rs/keyring']);
  });

  it.each(LIBRARIES)(
    'have types and code that import only what an installation has: %s',
    (name) => {
      expect(findForeignImports(of(`sallyport-${name}`), entries.values())).toEqual([]);
    },
  );

  it.each([
    ['a private package', "import type { Gateway } from '@sallyport/gateway';"],
    ['a private package, inline', 'export declare const x: import("@sallyport/idp").EmbeddedIdp;'],
    ['a module that is not exported', "export type { Log } from '@sallyport/server/observe';"],
    ['a file below dist', "export * from '@sallyport/protocol/dist/errors.js';"],
    ['a file that is not packed', "export type { Planted } from './private.js';"],
    ['a package that is no dependency', 'import type { Agent } from "undici";'],
    ['what only a checkout has', "import '@sallyport/testing/time/clock';"],
  ])('have no public type that mentions a private module: %s', (_, line) => {
    const files = of('sallyport-client');
    const path = 'dist/index.d.ts';
    const [, specifier] = /["']([^"']+)["']/.exec(line) ?? [];
    expect(
      findForeignImports(
        new Map([...files, [path, `${files.get(path)}${line}\n`]]),
        entries.values(),
      ),
    ).toEqual([`${path} imports ${specifier}`]);
  });

  it('lead every export to a file that is there', () => {
    for (const name of LIBRARIES) {
      const files = of(`sallyport-${name}`);
      const { exports } = JSON.parse(files.get('package.json') ?? '{}') as {
        readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
      };
      expect(Object.keys(exports)).toContain('.');
      for (const target of Object.values(exports).flatMap((conditions) =>
        Object.values(conditions),
      ))
        expect([...files.keys()]).toContain(target.slice('./'.length));
    }
  });

  it.each([
    ['publint', 'publint/src/cli.js', ['run', '--strict']],
    ['attw', '@arethetypeswrong/cli/dist/index.js', ['--profile', 'esm-only', '--no-color']],
  ])('are clean to %s', async (_, file, options) => {
    const tool = join(CHECKOUT, 'node_modules', file);
    for (const tarball of packed.tarballs.values())
      await expect(
        execute(process.execPath, [tool, ...options, tarball]).catch(
          ({ stdout }: { readonly stdout: string }) => Promise.reject(new Error(stdout)),
        ),
      ).resolves.toMatchObject({ stderr: expect.not.stringContaining('rror') as string });
  });

  it('give the licence of each package whose code the command carries', () => {
    const notices = of('sallyport').get('THIRD-PARTY-NOTICES.md') ?? '';
    for (const name of ['commander', 'hono', 'openid-client', 'oidc-provider', 'undici', 'pino'])
      expect(notices).toMatch(new RegExp(`^## ${name} \\d+\\.\\d+\\.\\d+\n\nLicence: [A-Z]`, 'm'));
  });

  it('are at most 3 MB for the command', () => {
    expect(readFileSync(packed.tarballs.get('sallyport') ?? '').length).toBeLessThan(3_000_000);
  });

  it('are the same bytes when a release of the same commit is rehearsed, with digests and SBOMs', async () => {
    const { path: output, remove } = temporaryFolder();
    try {
      const { stdout, asked } = await rehearse(output, 0);
      expect(asked).toEqual(
        ['test', 'test:deployment'].map((script) => `run ${script} in ${CHECKOUT}, CI=true`),
      );
      const folder = join(output, 'tarballs');
      for (const [name, path] of packed.tarballs) {
        const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
        expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), name).toContain(
          `${digest}  ${basename(path)}\n`,
        );
        const bom = readFileSync(
          join(folder, basename(path).replace(/\.tgz$/, '.cdx.json')),
          'utf8',
        );
        expect(JSON.parse(bom)).toMatchObject({ bomFormat: 'CycloneDX' });
      }
      await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
      expect(stdout.match(/^would publish /gm)).toHaveLength(packed.tarballs.size);

      const bom = JSON.parse(readFileSync(join(folder, 'sallyport-0.1.0.cdx.json'), 'utf8'));
      expect(bom.metadata.component).toMatchObject({ name: 'sallyport' });
      const listed = bom.components.map(
        ({ group, name, version }: Readonly<Record<string, string | undefined>>) =>
          `${group === undefined ? '' : `${group}/`}${name} ${version}`,
      );
      const carried = [
        ...(of('sallyport').get('THIRD-PARTY-NOTICES.md') ?? '').matchAll(/^## (\S+ \d+\.\S+)$/gm),
      ].map(([, name]) => name);
      expect(carried.length).toBeGreaterThan(50);
      expect(carried.filter((name) => !listed.includes(name))).toEqual([]);
    } finally {
      remove();
    }
  });

  it('are not packed by a rehearsal whose tests fail, and those of an earlier one are gone', async () => {
    const { path: output, remove } = temporaryFolder();
    try {
      mkdirSync(join(output, 'tarballs'));
      await expect(rehearse(output, 1)).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'would publish nothing: npm run test ended with 1\n',
      });
      expect(readdirSync(output)).not.toContain('tarballs');
    } finally {
      remove();
    }
  });

  it('are published by no command of the repository', async () => {
    const release = execute(process.execPath, [join(CHECKOUT, 'tools/release.ts')]);
    await expect(release).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('docs/releasing.md') as string,
    });
  });
});
