import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { accessToken, BEARER_HEADER } from '../../conformance/wire/bearer.ts';
import { requirePart } from '../parts.ts';
import { findNodes } from './node-versions.ts';
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
  'docs/services.md': ['service.mts'],
};
/** What `door.ts` of the documentation accepts. */
const DOCUMENTED_ISSUER = 'http://127.0.0.1:8081';
const DOCUMENTED_AUDIENCE = 'http://localhost:8080';
const NODES = await findNodes();
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

  for (const node of NODES)
    describe.skipIf(node.isLeftOut)(`on ${node.name}`, () => {
      it.each(['protocol', 'kubernetes', 'config', 'client'])(
        'run the example of README: %s',
        async (name) => {
          const program = programOf(`packages/${name}/README.md`, 'js');
          const file = installed.write(`${name}.js`, program);
          const { stdout, stderr } = await execute(requirePart(node), [file]);
          expect([stdout.length > 1, stderr]).toEqual([true, '']);
        },
      );

      it('run the example of README: server, whose door refuses a request without credential', async () => {
        const file = installed.write('server.js', programOf('packages/server/README.md', 'js'));
        const child = spawn(requirePart(node), [file], { stdio: ['ignore', 'pipe', 'inherit'] });
        try {
          const [url] = await once(createInterface(child.stdout), 'line');
          expect((await fetch(url)).status).toBe(401);
        } finally {
          child.kill();
        }
      });

      it('guard a service on node:http: who is admitted reaches it, and no other request does', async () => {
        const idp = await startFakeIdp('web-client');
        const port = await freePort();
        const door = programOf('docs/application-layer.md', 'ts', '// door.ts');
        installed.write('door.ts', door.replaceAll(DOCUMENTED_ISSUER, idp.issuer));
        const service = programOf('docs/application-layer.md', 'ts', '// node-service.ts');
        const file = installed.write('node-service.ts', service.replaceAll('3004', String(port)));
        const child = spawn(requirePart(node), [file], { stdio: ['ignore', 'ignore', 'pipe'] });
        const said = text(child.stderr);
        try {
          const url = `http://127.0.0.1:${port}/`;
          const ask = async (audience?: string) => {
            const token = audience === undefined ? '' : await accessToken(idp, audience);
            const headers = { ...(token && { [BEARER_HEADER]: `Bearer ${token}` }) };
            const answer = await fetch(url, { headers });
            return [answer.status, await answer.text()];
          };
          await vi.waitFor(() => fetch(url), { timeout: 20_000, interval: 20 });
          expect(await ask(DOCUMENTED_AUDIENCE)).toEqual([200, 'ada \n']);
          expect(await ask('http://localhost:8081')).toMatchObject([401, expect.any(String)]);
          expect(await ask()).toMatchObject([401, expect.any(String)]);
        } finally {
          child.kill();
          await idp.close();
        }
        expect(await said).toContain('keys read');
      });
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
