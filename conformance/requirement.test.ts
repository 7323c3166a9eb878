/**
 * The requirement table is complete, and every delivered statement of it is proved by a test.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  findCountProblems,
  findTestProblems,
  parseRequirementTable,
  type Requirement,
  type SectionCount,
} from './requirement-table.ts';

const ROOT = new URL('../', import.meta.url);

/** Counted by hand in the requirement, section by section. */
const COUNTS: Readonly<Record<string, SectionCount>> = {
  // Rules 1, 2, 5, 6; two layers of rule 3; eight steps of rule 4.
  'What the service does': { statements: 14, entries: 21 },
  // Three applications, the rule on sharing one, ten settings.
  'IdP applications': { statements: 14, entries: 15 },
  'Authorization server at the IdP': { statements: 5, entries: 5 },
  'Deployment variables': { statements: 6, entries: 6 },
  'Admin service authentication settings': { statements: 15, entries: 15 },
  // Who uses which block 2, admin client 2, union.auth 8, executions 5, injection 2, data plane mount 4 + 2, scheduler mount 2 + 1.
  'Client-credential settings of internal services': { statements: 28, entries: 28 },
  // Two sentences before the table, four rows, one sentence after it.
  'Secrets holding the client secret': { statements: 7, entries: 8 },
  // Five settings, three environment variables.
  'Client-side configuration': { statements: 8, entries: 9 },
  Gaps: { statements: 2, entries: 3 },
  'States and transitions': { statements: 1, entries: 1 },
  // Two sentences before the table, six rows, one sentence after it.
  Endpoints: { statements: 9, entries: 25 },
  // The key prefix, seven rows, three rules.
  'Ingress annotations on protected routes': { statements: 11, entries: 13 },
  'Bearer header': { statements: 2, entries: 4 },
  'Browser sessions': { statements: 1, entries: 3 },
  // Seven steps, the scope, the device code grant.
  'SDK and command-line client (PKCE)': { statements: 9, entries: 9 },
  'Client credentials': { statements: 5, entries: 9 },
  'Secret delivery': { statements: 3, entries: 9 },
  Events: { statements: 1, entries: 1 },
  // Six rows, and what is not shown.
  Errors: { statements: 7, entries: 20 },
  // Four rows, and what is not shown.
  Limits: { statements: 5, entries: 7 },
  Versioning: { statements: 1, entries: 1 },
};

const TABLE = readFileSync(new URL('requirement.yaml', import.meta.url), 'utf8');

function readSource(file: string): string | undefined {
  try {
    return readFileSync(new URL(file, ROOT), 'utf8');
  } catch {
    return undefined;
  }
}

/** The entries that still wait; there are none since the requirement is complete. */
function findUndelivered(requirements: readonly Requirement[]): readonly string[] {
  return requirements.filter(({ delivered }) => !delivered).map(({ id }) => id);
}

describe('the requirement table', () => {
  const { requirements, problems } = parseRequirementTable(TABLE);

  it('holds well-formed entries only, each id once', () => {
    expect(problems).toEqual([]);
  });

  it('holds every statement of the requirement', () => {
    expect(findCountProblems(requirements, COUNTS)).toEqual([]);
  });

  it('names for every delivered statement a test and a negative twin that exist', () => {
    expect(findTestProblems(requirements, readSource)).toEqual([]);
  });

  it('leaves no statement undelivered', () => {
    expect(findUndelivered(requirements)).toEqual([]);
  });

  it('names an entry that is not delivered', () => {
    const open = { ...DELIVERED, delivered: false };
    expect(findUndelivered([DELIVERED, open])).toEqual([DELIVERED.id]);
  });

  it('says of every statement the requirement leaves open what was decided', () => {
    const open = requirements.filter(({ id }) => id.startsWith('gap.'));
    expect(open.length).toBeGreaterThan(0);
    expect(open.filter(({ text }) => !/^Not shown: .+ Decided: .+/s.test(text))).toEqual([]);
    expect(requirements.filter(({ level }) => level === 'decided')).toEqual(open);
  });
});

const FILE = 'conformance/sign-in.test.ts';
const PROOF = { file: FILE, title: 'answers 401 without a session' };
const TWIN = { file: FILE, title: 'answers 200 with a session' };

const DELIVERED: Requirement = {
  id: 'endpoint.me.session',
  source: 'Endpoints / GET /me',
  text: 'GET /me answers 200 or 401.',
  level: 'must',
  area: 'gate',
  delivered: true,
  tests: [PROOF],
  negatives: [TWIN],
};

const SOURCE = `
it('answers 401 without a session', () => {});
it('answers 200 with a session', () => {});
`;

/** Reads one file and no other. */
const only = (source: string) => (file: string) => (file === FILE ? source : undefined);

describe('reading the table', () => {
  const entry = JSON.stringify(DELIVERED);

  it('reads an entry with all its fields', () => {
    expect(parseRequirementTable(`- ${entry}`)).toEqual({
      requirements: [DELIVERED],
      problems: [],
    });
  });

  it.each(Object.keys(DELIVERED))('reports an entry without %s', (field) => {
    const { [field as keyof Requirement]: _, ...rest } = DELIVERED;
    const { requirements, problems } = parseRequirementTable(`- ${JSON.stringify(rest)}`);
    expect(requirements).toEqual([]);
    expect(problems).toEqual([`${field === 'id' ? 'entry 0' : DELIVERED.id}: ${field} is missing`]);
  });

  it.each([
    ['id', 'Endpoint', 'id is not words joined by dots'],
    ['source', 'Endpoints', 'source is not "section / row"'],
    ['text', ' ', 'text is empty'],
    ['level', 'may', 'level is none of must, should, decided'],
    ['area', 'door', 'area is none of gate, tokens, sessions, delivery, idp-setup, doctor'],
    ['delivered', 'yes', 'delivered is neither true nor false'],
    ['tests', [{ file: FILE }], 'tests is not a list of file and title'],
    ['negatives', [{ ...TWIN, title: '' }], 'negatives is not a list of file and title'],
  ])('reports an entry whose %s is %j', (field, value, problem) => {
    const { requirements, problems } = parseRequirementTable(
      `- ${JSON.stringify({ ...DELIVERED, [field]: value })}`,
    );
    expect(requirements).toEqual([]);
    expect(problems).toEqual([`${field === 'id' ? 'Endpoint' : DELIVERED.id}: ${problem}`]);
  });

  it('reports an unknown field', () => {
    const { problems } = parseRequirementTable(`- ${JSON.stringify({ ...DELIVERED, test: [] })}`);
    expect(problems).toEqual(['endpoint.me.session: test is not a field']);
  });

  it('reports an id that repeats', () => {
    const { problems } = parseRequirementTable(`- ${entry}\n- ${entry}`);
    expect(problems).toEqual(['endpoint.me.session: the id repeats']);
  });

  it('reports an entry that is no mapping, and a table that is no list', () => {
    expect(parseRequirementTable('- 7').problems).toEqual(['entry 0: is not a mapping']);
    expect(parseRequirementTable('id: 7').problems).toEqual(['the table is not a list']);
  });

  it('reports a table that is not YAML instead of reading it as empty', () => {
    expect(parseRequirementTable('- {').problems).not.toEqual([]);
  });
});

describe('checking the named tests', () => {
  it('finds nothing wrong with a delivered entry whose test and twin exist', () => {
    expect(findTestProblems([DELIVERED], only(SOURCE))).toEqual([]);
  });

  it('reports a delivered entry without a test', () => {
    expect(findTestProblems([{ ...DELIVERED, tests: [] }], only(SOURCE))).toEqual([
      'endpoint.me.session: is delivered and names no test',
    ]);
  });

  it('reports a delivered entry without a negative twin', () => {
    expect(findTestProblems([{ ...DELIVERED, negatives: [] }], only(SOURCE))).toEqual([
      'endpoint.me.session: is delivered and names no negative twin',
    ]);
  });

  it('asks no test of an entry that is not delivered', () => {
    const open = { ...DELIVERED, delivered: false, tests: [], negatives: [] };
    expect(findTestProblems([open], only(SOURCE))).toEqual([]);
  });

  it('reports a test that is its own negative twin', () => {
    expect(findTestProblems([{ ...DELIVERED, negatives: [PROOF] }], only(SOURCE))).toEqual([
      'endpoint.me.session: a test is its own negative twin: answers 401 without a session',
    ]);
  });

  it('reports a test file that does not exist, also of an entry that is not delivered', () => {
    const absent = { file: 'conformance/absent.test.ts', title: 'answers 401 without a session' };
    expect(
      findTestProblems([{ ...DELIVERED, delivered: false, tests: [absent] }], only(SOURCE)),
    ).toEqual(['endpoint.me.session: no such test file: conformance/absent.test.ts']);
  });

  it.each([
    'conformance/../sign-in.test.ts',
    '/etc/sign-in.test.ts',
    'conformance/sign-in.ts',
    'bench/sign-in.test.ts',
  ])('reports %s, a file no test run looks at, although it exists', (file) => {
    const problems = findTestProblems(
      [{ ...DELIVERED, tests: [{ ...PROOF, file }] }],
      () => SOURCE,
    );
    expect(problems).toEqual([`endpoint.me.session: no such test file: ${file}`]);
  });

  it.each([
    'answers 401',
    'answers 401 without a session ',
    'Answers 401 without a session',
    'answers 403 without a session',
  ])('reports the title %j, which the file does not have', (title) => {
    const problems = findTestProblems(
      [{ ...DELIVERED, tests: [{ file: FILE, title }] }],
      only(SOURCE),
    );
    expect(problems).toEqual([`endpoint.me.session: no such test in ${FILE}: ${title}`]);
  });

  it.each([
    [
      'an apostrophe escaped',
      String.raw`it('refuses another\'s session', f)`,
      "refuses another's session",
    ],
    ['double quotes', `it("refuses another's session", f)`, "refuses another's session"],
    ['a backslash escaped', String.raw`it('refuses /\\evil', f)`, String.raw`refuses /\evil`],
    ['a backslash as it stands', String.raw`it('refuses /\\evil', f)`, String.raw`refuses /\\evil`],
    ['a placeholder as it stands', "it.each(rows)('refuses %s -> %s', f)", 'refuses %s -> %s'],
    ['a tagged table', 'it.each`a | b`(\n  "refuses $a", f)', 'refuses $a'],
    ['a template with a name in it', `it(\`refuses \${name} twice\`, f)`, `refuses \${name} twice`],
    ['a template with an escape', `it(\`costs \\\${price}\`, f)`, `costs \${price}`],
    ['a line of its own', "it(\n    'refuses a long one',\n    f)", 'refuses a long one'],
    ['test instead of it', "test('refuses', f)", 'refuses'],
    ['test.concurrent', "test.concurrent('refuses', f)", 'refuses'],
    ['a condition', "it.skipIf(!found)('refuses', f)", 'refuses'],
  ])('finds a title with %s', (_, source, title) => {
    const named = { ...DELIVERED, tests: [{ file: FILE, title }] };
    expect(findTestProblems([named], only(`${SOURCE}${source}`))).toEqual([]);
  });

  it.each([
    ['a comment', "// it('refuses', f)"],
    ['a documentation comment', " * it('refuses', f)"],
    ['a describe block', "describe('refuses', f)"],
    [
      'a table of describe blocks',
      "it.each(rows)('sends %s', f);\ndescribe.each(rows)('refuses', f)",
    ],
    ['an expectation', "expect('refuses')"],
    ['a second argument', "it(name, 'refuses')"],
    ['a method that happens to be called test', "pattern.test('refuses')"],
    ['a longer name', "submit('refuses')"],
    ['a skipped test', "it.skip('refuses', f)"],
    ['a test still to write', "it.todo('refuses')"],
    ['a longer title', "it('refuses all', f)"],
  ])('does not take %s for a test', (_, source) => {
    const named = { ...DELIVERED, tests: [{ file: FILE, title: 'refuses' }] };
    expect(findTestProblems([named], only(`${SOURCE}${source}`))).toContain(
      `endpoint.me.session: no such test in ${FILE}: refuses`,
    );
  });

  it.each([
    "describe.skip('all', f)",
    "it.skip.each(rows)('refuses %s', f)",
    "it.only('refuses', f)",
    "test.concurrent.fails('refuses', f)",
  ])('reports a delivered entry whose file holds %s', (source) => {
    const problems = findTestProblems(
      [{ ...DELIVERED, negatives: [TWIN] }],
      only(`${SOURCE}${source}`),
    );
    expect(new Set(problems)).toEqual(
      new Set([`endpoint.me.session: a test is switched off or isolated in ${FILE}`]),
    );
  });
});

describe('a test of a suite', () => {
  const SUITE = 'conformance/sessions/storm-suite.ts';
  const REGISTRAR = 'conformance/sessions/storm.test.ts';
  const registrar = "import { testStorm } from './storm-suite.ts';\n";
  const inSuite = { ...DELIVERED, tests: [{ ...PROOF, file: SUITE }], negatives: [TWIN] };
  const check = (files: Readonly<Record<string, string>>, requirement = inSuite) =>
    findTestProblems([requirement], (file) => ({ [FILE]: SOURCE, ...files })[file]);

  const OF_MANY = 'conformance/sessions/three-processes.test.ts';

  it.each([REGISTRAR, OF_MANY])('counts when %s beside it registers it', (file) => {
    expect(check({ [SUITE]: SOURCE, [file]: registrar })).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['has no such test file', { [SUITE]: SOURCE }],
    ['is not what that file imports', { [SUITE]: SOURCE, [REGISTRAR]: "from './other-suite.ts'" }],
    ['is not what the file for many imports', { [SUITE]: SOURCE, [OF_MANY]: "from './b.ts'" }],
    ['is registered in another folder', { [SUITE]: SOURCE, 'three-processes.test.ts': registrar }],
    ['does not exist', { [REGISTRAR]: registrar }],
  ])('is reported when the suite %s', (_, files) => {
    expect(check(files)).toEqual([`endpoint.me.session: no such test file: ${SUITE}`]);
  });

  it.each([
    'conformance/../sessions/storm-suite.ts',
    'packages/server/src/session/storm-suite.ts',
    'bench/storm-suite.ts',
    'conformance/sessions/storm-suites.ts',
  ])('is reported in %s, which is no suite, whatever stands beside it', (file) => {
    const requirement = { ...inSuite, tests: [{ ...PROOF, file }] };
    const beside = file.replace(/-suites?\.ts$/, '.test.ts');
    const name = file.slice(file.lastIndexOf('/') + 1);
    expect(check({ [file]: SOURCE, [beside]: `from './${name}'` }, requirement)).toEqual([
      `endpoint.me.session: no such test file: ${file}`,
    ]);
  });

  it('is reported when the suite or the file that registers it is switched off', () => {
    const off = `endpoint.me.session: a test is switched off or isolated in ${SUITE}`;
    const skip = "describe.skip('all', f);\n";
    expect(check({ [SUITE]: SOURCE, [REGISTRAR]: registrar + skip })).toEqual([off]);
    expect(check({ [SUITE]: SOURCE + skip, [REGISTRAR]: registrar })).toEqual([off]);
  });

  it('is reported when the suite does not have it', () => {
    expect(check({ [SUITE]: '', [REGISTRAR]: registrar })).toEqual([
      `endpoint.me.session: no such test in ${SUITE}: ${PROOF.title}`,
    ]);
  });
});

describe('counting the statements', () => {
  const counts = { Endpoints: { statements: 1, entries: 2 } };
  const second = { ...DELIVERED, id: 'endpoint.me.bearer' };

  it('counts entries that share a row as one statement', () => {
    expect(findCountProblems([DELIVERED, second], counts)).toEqual([]);
  });

  it('reports a part of a row that has no entry', () => {
    expect(findCountProblems([DELIVERED], counts)).toEqual(['Endpoints: 1 entries instead of 2']);
  });

  it('reports a row that has no entry', () => {
    expect(findCountProblems([], counts)).toEqual([
      'Endpoints: 0 statements instead of 1',
      'Endpoints: 0 entries instead of 2',
    ]);
  });

  it('reports an entry of a section the requirement does not have', () => {
    const stray = { ...DELIVERED, source: 'Quotas / row 1' };
    expect(findCountProblems([DELIVERED, second, stray], counts)).toEqual([
      'Quotas: the requirement has no such section',
    ]);
  });
});
