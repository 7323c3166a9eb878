import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Installation,
  installTarballs,
  type PackedPackages,
  packPackages,
} from './packed-packages.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname;
const COMPILER = join(CHECKOUT, 'node_modules/typescript/bin/tsc');
const LIBRARIES = ['protocol', 'kubernetes', 'config', 'client', 'server'];
/** Programs of the documentation that use no optional peer. */
const DOCUMENTED = {
  'docs/application-layer.md': ['door.ts', 'node-service.ts'],
  'docs/clients.md': ['platform.ts', 'with-fetch.ts'],
  'docs/services.md': ['service.ts'],
};
const execute = promisify(execFile);

/** Takes a program out of a document: a fenced block, by its language and its first line. */
function programOf(document: string, language: string, firstLine = ''): string {
  const text = readFileSync(join(CHECKOUT, document), 'utf8');
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))];
  const found = blocks.map(([, block = '']) => block).find((block) => block.startsWith(firstLine));
  if (found === undefined) throw new Error(`${document} has no ${language} block ${firstLine}`);
  return found;
}

describe('The libraries, installed from their tarballs', () => {
  let packed: PackedPackages;
  let installed: Installation;

  beforeAll(async () => {
    packed = await packPackages();
    const { devDependencies } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
    installed = await installTarballs(
      [
        ...LIBRARIES.map((name) => packed.tarballs.get(`sallyport-${name}`) ?? ''),
        `@types/node@${devDependencies['@types/node']}`,
      ],
      '--prefer-offline',
    );
  });
  afterAll(() => installed.remove());

  it.each(['protocol', 'kubernetes', 'config', 'client'])(
    'run the example of README: %s',
    async (name) => {
      const program = programOf(`packages/${name}/README.md`, 'js');
      const file = installed.write(`${name}.js`, program);
      const { stdout, stderr } = await execute(process.execPath, [file], { cwd: installed.folder });
      expect([stdout.length > 1, stderr]).toEqual([true, '']);
    },
  );

  it('run the example of README: server, whose door refuses a request without credential', async () => {
    const file = installed.write('server.js', programOf('packages/server/README.md', 'js'));
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [url] = await once(createInterface(child.stdout), 'line');
      expect((await fetch(url)).status).toBe(401);
    } finally {
      child.kill();
    }
  });

  it.each(['nodenext', 'bundler'])(
    'compile in a strict program that resolves as %s',
    async (resolution) => {
      const programs = Object.entries(DOCUMENTED).flatMap(([document, names]) =>
        names.map((name) => installed.write(name, programOf(document, 'ts', `// ${name}`))),
      );
      const options = {
        strict: true,
        noEmit: true,
        target: 'es2024',
        module: resolution === 'bundler' ? 'preserve' : 'nodenext',
        moduleResolution: resolution,
        allowImportingTsExtensions: true,
        types: ['node'],
      };
      const project = installed.write(
        'tsconfig.json',
        JSON.stringify({ compilerOptions: options, files: programs }),
      );
      const compiled = await execute(process.execPath, [COMPILER, '--project', project]).catch(
        ({ stdout }: { readonly stdout: string }) => ({ stdout }),
      );
      expect(compiled.stdout).toBe('');
    },
  );

  it('do not compile where a program uses a type wrongly: the types are there', async () => {
    const file = installed.write(
      'wrong.ts',
      "import { parseEndpoint } from '@sallyport/client';\nexport const wrong: number = parseEndpoint;\n",
    );
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--types',
      'node',
      '--ignoreConfig',
    ];
    const compiled = execute(process.execPath, [COMPILER, ...options, file]);
    await expect(compiled).rejects.toMatchObject({
      stdout: expect.stringContaining('TS2322') as string,
    });
  });

  it.each([
    '@sallyport/server/observe',
    '@sallyport/server/issuer',
    '@sallyport/server/dist/index.js',
    '@sallyport/client/dist/store/os-keyring.js',
  ])('let no program reach %s', async (specifier) => {
    const file = installed.write('reach.js', `await import('${specifier}');\n`);
    await expect(execute(process.execPath, [file])).rejects.toMatchObject({
      stderr: expect.stringContaining('ERR_PACKAGE_PATH_NOT_EXPORTED') as string,
    });
  });
});
