import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './wire/process.ts';

const ROOT = new URL('..', import.meta.url).pathname;

/** Lints one planted file, at its path, under the project's own rules. */
function lint(path: string, line: string): string {
  const folder = temporaryFolder();
  folders.push(folder);
  copyFileSync(join(ROOT, '.oxlintrc.json'), join(folder.path, '.oxlintrc.json'));
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), `${line}\nexport const used: unknown = planted;\n`);
  try {
    return execFileSync(join(ROOT, 'node_modules/.bin/oxlint'), ['-f', 'unix'], {
      cwd: folder.path,
      encoding: 'utf8',
    });
  } catch (error) {
    return String((error as { stdout: unknown }).stdout);
  }
}
const folders: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

describe('Imports point to an earlier package only', () => {
  it.each([
    ['packages/protocol/src/planted.ts', "import { planted } from 'node:fs';"],
    ['packages/protocol/src/planted.ts', "import { planted } from '@sallyport/server';"],
    ['packages/config/src/planted.ts', "import { planted } from '@sallyport/server';"],
    ['packages/client/src/planted.ts', "import { planted } from '@sallyport/server/verdict';"],
    ['packages/server/src/planted.ts', "import { planted } from '@sallyport/gateway';"],
    ['packages/server/src/planted.ts', "import { planted } from '@sallyport/idp';"],
    ['packages/server/src/verdict/planted.ts', "import { planted } from 'hono';"],
    ['packages/server/src/verdict/planted.ts', "import { planted } from 'openid-client';"],
    ['packages/server/src/verdict/planted.ts', "import { planted } from '../sign-in/login.ts';"],
    ['packages/gateway/src/planted.ts', "import { planted } from '@sallyport/idp';"],
    ['packages/gateway/src/planted.ts', "import { planted } from '@sallyport/config';"],
    ['packages/gateway/src/planted.ts', "import { planted } from '@sallyport/client';"],
    ['packages/idp/src/planted.ts', "import { planted } from '@sallyport/server';"],
    ['packages/idp/src/planted.ts', "import { planted } from '@sallyport/client';"],
    ['packages/idp/src/planted.ts', "import { planted } from 'sallyport';"],
    ['packages/recipes/src/planted.ts', "import { planted } from '@sallyport/server/listener';"],
    ['packages/recipes/src/planted.ts', "import { planted } from '@sallyport/gateway';"],
    ['packages/recipes/src/planted.ts', "import { planted } from 'sallyport';"],
    ['packages/server/src/planted.ts', "import { planted } from '@sallyport/recipes';"],
    ['packages/client/src/planted.ts', "import { planted } from '@sallyport/recipes';"],
    ['packages/gateway/src/planted.ts', "import { planted } from '@sallyport/recipes';"],
    ['packages/idp/src/planted.ts', "import { planted } from '@sallyport/recipes/nginx';"],
    ['conformance/planted.ts', "import { planted } from '@sallyport/protocol';"],
    ['conformance/planted.ts', "import { planted } from '../packages/server/src/index.ts';"],
  ])('a breach planted in %s (%s) fails the lint', (path, line) => {
    expect(lint(path, line)).toContain('no-restricted-imports');
  });

  it.each([
    ['packages/config/src/planted.ts', "import { planted } from '@sallyport/protocol';"],
    ['packages/client/src/planted.ts', "import { planted } from '@sallyport/config';"],
    ['packages/server/src/planted.ts', "import { planted } from '@sallyport/config';"],
    ['packages/server/src/sign-in/planted.ts', "import { planted } from 'openid-client';"],
    ['packages/gateway/src/planted.ts', "import { planted } from '@sallyport/server/verdict';"],
    ['packages/cli/src/planted.ts', "import { planted } from '@sallyport/gateway';"],
    ['packages/cli/src/planted.ts', "import { planted } from '@sallyport/recipes';"],
    ['packages/recipes/src/planted.ts', "import { planted } from '@sallyport/protocol';"],
    ['packages/recipes/src/planted.ts', "import { planted } from '@sallyport/config/files';"],
  ])('an import in the right direction in %s (%s) does not', (path, line) => {
    expect(lint(path, line)).not.toContain('no-restricted-imports');
  });
});
