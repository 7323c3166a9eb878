import { readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMutant, parseMutants, titlePattern } from '../tools/mutate/mutant-table.ts';
import { readMutants } from '../tools/mutate/read-mutants.ts';
import { holdsTest, switchesTestsOff } from './test-title.ts';

const ROOT = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');
/** Contract suites stand in files of their own, which test files and one another import. */
const CONTRACT =
  /from '(?:(\.[^']*-contract\.ts)|@sallyport\/testing\/(store-contracts\/[^']*-contract))'/g;

/** The texts in which a test file's titles may stand: its own, and those of the contracts it runs. */
function textsOf(file: string): readonly string[] {
  const text = read(file);
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  const contracts = [...text.matchAll(CONTRACT)].map(([, path = '', shared]) =>
    shared === undefined ? join(folder, path) : `packages/testing/src/${shared}.ts`,
  );
  return [text, ...contracts.flatMap(textsOf)];
}
const LEAST_MUTANTS = 150;
const AREAS = ['verdict', 'session', 'signin', 'bearer', 'answer', 'gateway', 'redirect', 'apikey'];

describe('the table of security mutants', () => {
  const { mutants, problems } = readMutants();

  it('is well-formed, and holds at least 150 of every area', () => {
    expect(problems).toEqual([]);
    expect(mutants.length).toBeGreaterThanOrEqual(LEAST_MUTANTS);
    expect(new Set(mutants.map(({ id }) => id.split('.', 1)[0]))).toEqual(new Set(AREAS));
  });

  it('fits the code as it is: each text to find stands in its file once', () => {
    const unfit = mutants.flatMap((mutant) => {
      const applied = applyMutant(read(mutant.file), mutant);
      return 'problem' in applied ? [`${mutant.id}: ${applied.problem}`] : [];
    });
    expect(unfit).toEqual([]);
  });

  it('changes product code only, never a test', () => {
    const others = mutants.filter(
      ({ file }) =>
        !/^packages\/[a-z-]+\/src\//.test(file) || /\.test\.ts$|\/testing\/src\//.test(file),
    );
    expect(others.map(({ id }) => id)).toEqual([]);
  });

  it('names tests that exist and are not switched off', () => {
    const missing = mutants.flatMap(({ id, tests }) =>
      tests
        .filter(({ file, title }) => {
          const texts = textsOf(file);
          return !texts.some((text) => holdsTest(text, title)) || texts.some(switchesTestsOff);
        })
        .map(({ title }) => `${id}: ${title}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('reading a table of mutants', () => {
  const entry = {
    id: 'verdict.check.guard',
    file: 'packages/server/src/verdict/check.ts',
    find: 'guard(verdict)',
    replace: 'verdict',
    gain: 'another site writes',
    tests: [{ file: 'packages/server/src/verdict/check.test.ts', title: 'refuses' }],
  };
  const problemsOf = (change: Readonly<Record<string, unknown>>) =>
    parseMutants(JSON.stringify([{ ...entry, ...change }])).problems;

  it('takes an entry that has everything', () => {
    expect(parseMutants(JSON.stringify([entry]))).toEqual({ mutants: [entry], problems: [] });
  });

  it.each([
    ['an id of another form', { id: 'Verdict guard' }],
    ['a change that changes nothing', { replace: 'guard(verdict)' }],
    ['nothing to find', { find: '' }],
    ['no test', { tests: [] }],
    ['a test without a title', { tests: [{ file: 'a.test.ts' }] }],
    ['an unknown member', { test: 'refuses' }],
    ['no gain', { gain: undefined }],
    ['equivalence without a proof', { tests: [], equivalent: 'obviously' }],
    ['tests and a proof at once', { equivalent: 'x'.repeat(60) }],
  ])('refuses %s', (_what, change) => {
    expect(problemsOf(change)).not.toEqual([]);
  });

  it('refuses what is no list', () => {
    expect(parseMutants('id: verdict.check.guard').problems).not.toEqual([]);
    expect(parseMutants('[').problems).not.toEqual([]);
  });
});

describe('changing a source', () => {
  it('replaces the one place, and nothing else', () => {
    const applied = applyMutant('a(b); c(b);', { find: 'a(b)', replace: 'b' });
    expect(applied).toEqual({ mutated: 'b; c(b);' });
  });

  it.each(['x', 'aa'])('refuses a text to find that is absent or there twice: %s', (find) => {
    expect(applyMutant('aaa', { find, replace: '' })).toHaveProperty('problem');
  });
});

describe('the pattern of a title', () => {
  it('matches the title itself, whatever characters it has', () => {
    fc.assert(
      fc.property(fc.string(), (title) => {
        fc.pre(!/[%$]/.test(title));
        expect(title).toMatch(new RegExp(`^${titlePattern(title)}$`, 's'));
      }),
    );
  });

  it('matches what a table fills in, and no other title', () => {
    const pattern = new RegExp(`^${titlePattern('refuses %s (a.b)')}$`);
    expect('refuses a wrong key (a.b)').toMatch(pattern);
    expect('refuses a wrong key (axb)').not.toMatch(pattern);
    expect('admits a wrong key (a.b)').not.toMatch(pattern);
  });
});
