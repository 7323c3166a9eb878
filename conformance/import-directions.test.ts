import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './wire/process.ts';

const ROOT = new URL('..', import.meta.url).pathname;

/** A folder, and what a file in it imports. */
type Row = readonly [folder: string, from: string];

const BREACHES: readonly Row[] = [
  ['packages/protocol/src', 'node:fs'],
  ['packages/protocol/src', '@sallyport/server'],
  ['packages/protocol/src', '@sallyport/server/doors/hono'],
  ['packages/kubernetes/src', 'node:fs'],
  ['packages/kubernetes/src', '@sallyport/config'],
  ['packages/kubernetes/src', '@sallyport/server/doors/hono'],
  ['packages/protocol/src', '@sallyport/kubernetes/inject'],
  ['packages/client/src', '@sallyport/kubernetes/inject'],
  ['packages/server/src', '@sallyport/kubernetes/inject'],
  ['packages/gateway/src', '@sallyport/kubernetes/inject'],
  ['packages/config/src', '@sallyport/server'],
  ['packages/config/src', '@sallyport/server/doors/hono'],
  ['packages/client/src', '@sallyport/server/verdict'],
  ['packages/client/src', '@sallyport/server/doors/hono'],
  ['packages/server/src', '@sallyport/gateway'],
  ['packages/server/src', '@sallyport/idp'],
  ['packages/server/src', '@sallyport/idp/api-keys'],
  ['packages/client/src', '@sallyport/idp/api-keys'],
  ['packages/server/src/verdict', 'hono'],
  ['packages/server/src/verdict', 'openid-client'],
  ['packages/server/src/verdict', '../sign-in/login.ts'],
  ['packages/gateway/src', '@sallyport/idp'],
  ['packages/gateway/src', '@sallyport/config'],
  ['packages/gateway/src', '@sallyport/client'],
  ['packages/gateway/src', '@sallyport/client/store'],
  ['packages/idp/src', '@sallyport/server'],
  ['packages/idp/src', '@sallyport/server/doors/hono'],
  ['packages/idp/src', '@sallyport/client'],
  ['packages/idp/src', 'sallyport'],
  ['packages/recipes/src', '@sallyport/server/listener'],
  ['packages/recipes/src', '@sallyport/server/doors/hono'],
  ['packages/recipes/src', '@sallyport/gateway'],
  ['packages/recipes/src', 'sallyport'],
  ['packages/server/src', '@sallyport/recipes'],
  ['packages/client/src', '@sallyport/recipes'],
  ['packages/gateway/src', '@sallyport/recipes'],
  ['packages/idp/src', '@sallyport/recipes/nginx'],
  ['packages/doctor/src', '@sallyport/gateway'],
  ['packages/doctor/src', '@sallyport/idp'],
  ['packages/doctor/src', 'sallyport'],
  ['packages/client/src', '@sallyport/doctor'],
  ['packages/server/src', '@sallyport/doctor'],
  ['packages/gateway/src', '@sallyport/doctor'],
  ['packages/idp/src', '@sallyport/doctor'],
  ['packages/recipes/src', '@sallyport/doctor'],
  ['examples/platform', '@sallyport/gateway'],
  ['examples/platform', '@sallyport/server/observe'],
  ['examples/platform', '@sallyport/testing/time/clock'],
  ['examples/platform', '../../packages/client/src/index.ts'],
  ['conformance', '@sallyport/protocol'],
  ['conformance', '@sallyport/server/doors/hono'],
  ['conformance', '../packages/server/src/index.ts'],
  ['conformance', '@sallyport/testing/server/check'],
  ['conformance', '@sallyport/testing/idp/running-idp'],
  ['conformance', '../packages/testing/src/server/check.ts'],
  ['packages/testing/src/wire', '@sallyport/protocol'],
  ['packages/testing/src/wire', '../../../protocol/src/index.ts'],
  ['packages/testing/src/wire', '../server/check.ts'],
];

const DIRECTED: readonly Row[] = [
  ['packages/config/src', '@sallyport/protocol'],
  ['packages/kubernetes/src', '@sallyport/protocol'],
  ['packages/cli/src', '@sallyport/kubernetes/inject'],
  ['packages/client/src', '@sallyport/config'],
  ['packages/server/src', '@sallyport/config'],
  ['packages/server/src/sign-in', 'openid-client'],
  ['packages/gateway/src', '@sallyport/server/verdict'],
  ['packages/cli/src', '@sallyport/gateway'],
  ['packages/cli/src/up/platform', '../../../../../examples/platform/actors.ts'],
  ['examples/platform', '@sallyport/client'],
  ['examples/platform', '@sallyport/server/doors/connect'],
  ['packages/cli/src', '@sallyport/recipes'],
  ['packages/recipes/src', '@sallyport/protocol'],
  ['packages/doctor/src', '@sallyport/server/issuer'],
  ['packages/doctor/src', '@sallyport/client'],
  ['packages/cli/src', '@sallyport/doctor'],
  ['packages/recipes/src', '@sallyport/config/files'],
  ['conformance', '@sallyport/testing/wire/ports'],
  ['conformance', '@sallyport/testing/idp/fake-idp'],
  ['packages/testing/src/wire', './ports.ts'],
  ['packages/testing/src/server', 'vitest'],
  ['packages/testing/src/server', '../../../server/src/index.ts'],
];

const FOR_TESTS = readdirSync(join(ROOT, 'packages'))
  .filter((name) => name !== 'testing')
  .flatMap((name): readonly Row[] => [
    [`packages/${name}/src`, '@sallyport/testing/time/clock'],
    [`packages/${name}/src/verdict`, '../../../testing/src/time/clock.ts'],
    [`packages/${name}/src`, 'vitest'],
    [`packages/${name}/src`, 'fast-check'],
  ]);

/** Names the planted file in what the linter prints. */
function nameOf([folder, from]: Row, ending: string): string {
  return `${folder}/${from.replaceAll(/\W/g, '_')}${ending}`;
}

/** What the linter says of all planted files, under the project's own rules. */
let report: string;

beforeAll(() => {
  const folder = temporaryFolder();
  const plant = (row: Row, ending: string): void => {
    mkdirSync(join(folder.path, row[0]), { recursive: true });
    const line = `import { planted } from '${row[1]}';\nexport const used: unknown = planted;\n`;
    writeFileSync(join(folder.path, nameOf(row, ending)), line);
  };
  try {
    copyFileSync(join(ROOT, '.oxlintrc.json'), join(folder.path, '.oxlintrc.json'));
    for (const row of [...BREACHES, ...DIRECTED, ...FOR_TESTS]) plant(row, '.ts');
    for (const row of FOR_TESTS) plant(row, '.test.ts');
    report = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), ['-f', 'unix'], {
      cwd: folder.path,
      encoding: 'utf8',
    }).stdout;
  } finally {
    folder.remove();
  }
});

/** Whether the linter refuses the import of a planted file. */
function isRefused(row: Row, ending = '.ts'): boolean {
  const name = `${nameOf(row, ending)}:`;
  return report
    .split('\n')
    .some((line) => line.includes(name) && line.includes('no-restricted-imports'));
}

describe('Imports point to an earlier package only', () => {
  it.each(BREACHES)('a breach planted in %s (%s) fails the lint', (...row) => {
    expect(isRefused(row)).toBe(true);
  });

  it.each(DIRECTED)('an import in the right direction in %s (%s) does not', (...row) => {
    expect(isRefused(row)).toBe(false);
  });
});

describe('What is for tests is never published', () => {
  it.each(FOR_TESTS)('a published file in %s that imports %s fails the lint', (...row) => {
    expect(isRefused(row)).toBe(true);
  });

  it.each(FOR_TESTS)('a test in %s that imports %s does not', (...row) => {
    expect(isRefused(row, '.test.ts')).toBe(false);
  });
});
