/**
 * The requirement table: reading it, and checking it against the tests it names.
 *
 * Pure: what a test file contains is handed in, so that the checks can be checked themselves.
 *
 * @module
 */

import { parseDocument } from 'yaml';
import { holdsTest, switchesTestsOff } from './test-title.ts';

/** A test by the file it stands in and its own title, without those of its describe blocks. */
interface NamedTest {
  /** Path from the repository root. */
  readonly file: string;
  readonly title: string;
}

/** One statement of the requirement. */
export interface Requirement {
  readonly id: string;
  /** `section heading / row, rule or step`; entries that split one row share it. */
  readonly source: string;
  readonly text: string;
  readonly level: (typeof LEVELS)[number];
  readonly area: (typeof AREAS)[number];
  readonly delivered: boolean;
  readonly tests: readonly NamedTest[];
  readonly negatives: readonly NamedTest[];
}

/** How much of a section the table must hold. */
export interface SectionCount {
  /** Rows, rules, steps and sentences of the section that state something. */
  readonly statements: number;
  /** Entries made of them; more than statements where one row is delivered in parts. */
  readonly entries: number;
}

const LEVELS = ['must', 'should', 'decided'] as const;
const AREAS = ['gate', 'tokens', 'sessions', 'delivery', 'idp-setup', 'doctor'] as const;
const FIELDS = ['id', 'source', 'text', 'level', 'area', 'delivered', 'tests', 'negatives'];
const ID = /^[a-z][a-z-]*(?:\.[A-Za-z0-9_-]+)+$/;
const SOURCE = /^[^/]+ \/ \S/;
/** Where Vitest looks for tests; a title in any other file would never run. */
const TEST_FILE = /^(?:packages\/[a-z-]+\/src|conformance|interop)\/(?!.*\.\.)[\w./-]+\.test\.ts$/;
/** Tests that several deployments run; they count when the test file of the same name registers them. */
const SUITE_FILE = /^conformance\/(?!.*\.\.)[\w./-]+(?=-suite\.ts$)/;

/**
 * Reads the table.
 *
 * Does not look at the tests an entry names: {@link findTestProblems} does.
 *
 * @param text - The YAML document.
 *
 * @returns The well-formed entries, and one line for each thing that is wrong with the others.
 */
export function parseRequirementTable(text: string): {
  readonly requirements: readonly Requirement[];
  readonly problems: readonly string[];
} {
  const document = parseDocument(text);
  const problems = document.errors.map((error) => error.message);
  const list: unknown = problems.length === 0 ? document.toJS() : [];
  if (!Array.isArray(list)) return { requirements: [], problems: ['the table is not a list'] };

  const requirements: Requirement[] = [];
  const seen = new Set<string>();
  for (const [index, entry] of list.entries()) {
    const found = isRecord(entry) ? findFieldProblems(entry) : ['is not a mapping'];
    const id = isRecord(entry) && typeof entry['id'] === 'string' ? entry['id'] : `entry ${index}`;
    if (seen.has(id)) found.push('the id repeats');
    seen.add(id);
    problems.push(...found.map((problem) => `${id}: ${problem}`));
    if (found.length === 0) requirements.push(entry as Requirement);
  }
  return { requirements, problems };
}

/**
 * Finds delivered entries without proof, and named tests that do not exist.
 *
 * Whether a test proves its statement is for a reader to judge.
 *
 * @param readSource - Text of a file by its path from the repository root; `undefined` when there is none.
 *
 * @returns One line for each problem; empty when all is well.
 */
export function findTestProblems(
  requirements: readonly Pick<Requirement, 'id' | 'delivered' | 'tests' | 'negatives'>[],
  readSource: (file: string) => string | undefined,
): readonly string[] {
  return requirements.flatMap(({ id, delivered, tests, negatives }) => {
    const problems: string[] = [];
    if (delivered && tests.length === 0) problems.push('is delivered and names no test');
    if (delivered && negatives.length === 0)
      problems.push('is delivered and names no negative twin');
    for (const test of [...tests, ...negatives]) {
      const source = readTests(test.file, readSource);
      if (source === undefined) problems.push(`no such test file: ${test.file}`);
      else if (!holdsTest(source, test.title))
        problems.push(`no such test in ${test.file}: ${test.title}`);
      else if (delivered && switchesTestsOff(source))
        problems.push(`a test is switched off or isolated in ${test.file}`);
    }
    for (const twin of negatives) {
      if (tests.some(({ file, title }) => file === twin.file && title === twin.title))
        problems.push(`a test is its own negative twin: ${twin.title}`);
    }
    return problems.map((problem) => `${id}: ${problem}`);
  });
}

/** Registers the suites of its folder that share a deployment. */
const REGISTRAR_OF_MANY = 'three-processes.test.ts';

/**
 * The text of a file whose tests run; of a suite, with that of the test file which registers it: the one of
 * the same name, or {@link REGISTRAR_OF_MANY}, beside it.
 */
function readTests(
  file: string,
  readSource: (file: string) => string | undefined,
): string | undefined {
  if (TEST_FILE.test(file)) return readSource(file);
  const name = SUITE_FILE.exec(file)?.[0];
  if (name === undefined) return undefined;
  const [folder, suiteName] = splitPath(file);
  const registrar = [`${name}.test.ts`, folder + REGISTRAR_OF_MANY]
    .map(readSource)
    .find((source) => source?.includes(`from './${suiteName}'`));
  if (registrar === undefined) return undefined;
  const suite = readSource(file);
  return suite === undefined ? undefined : `${suite}\n${registrar}`;
}

function splitPath(file: string): readonly [folder: string, name: string] {
  const end = file.lastIndexOf('/') + 1;
  return [file.slice(0, end), file.slice(end)];
}

/**
 * Compares the table with a count of the requirement made by hand, so that no statement is left out.
 *
 * @param counts - For each section heading of the requirement.
 *
 * @returns One line for each section that differs.
 */
export function findCountProblems(
  requirements: readonly Requirement[],
  counts: Readonly<Record<string, SectionCount>>,
): readonly string[] {
  const sourcesBySection = new Map<string, string[]>(Object.keys(counts).map((name) => [name, []]));
  for (const { source } of requirements) {
    const section = source.slice(0, source.indexOf(' / '));
    sourcesBySection.set(section, [...(sourcesBySection.get(section) ?? []), source]);
  }
  return [...sourcesBySection].flatMap(([section, sources]) => {
    const expected = counts[section];
    if (expected === undefined) return [`${section}: the requirement has no such section`];
    const statements = new Set(sources).size;
    return [
      ...differs(section, 'statements', expected.statements, statements),
      ...differs(section, 'entries', expected.entries, sources.length),
    ];
  });
}

function differs(section: string, what: string, expected: number, found: number): string[] {
  return expected === found ? [] : [`${section}: ${found} ${what} instead of ${expected}`];
}

function findFieldProblems(entry: Readonly<Record<string, unknown>>): string[] {
  const { id, source, text, level, area, delivered } = entry;
  const problems = [
    ...FIELDS.filter((field) => !Object.hasOwn(entry, field)).map((field) => `${field} is missing`),
    ...Object.keys(entry)
      .filter((field) => !FIELDS.includes(field))
      .map((field) => `${field} is not a field`),
  ];
  if (problems.length > 0) return problems;
  if (typeof id !== 'string' || !ID.test(id)) problems.push('id is not words joined by dots');
  if (typeof source !== 'string' || !SOURCE.test(source))
    problems.push('source is not "section / row"');
  if (typeof text !== 'string' || text.trim() === '') problems.push('text is empty');
  if (!LEVELS.some((known) => known === level))
    problems.push(`level is none of ${LEVELS.join(', ')}`);
  if (!AREAS.some((known) => known === area)) problems.push(`area is none of ${AREAS.join(', ')}`);
  if (typeof delivered !== 'boolean') problems.push('delivered is neither true nor false');
  for (const field of ['tests', 'negatives']) {
    if (!isNamedTestList(entry[field])) problems.push(`${field} is not a list of file and title`);
  }
  return problems;
}

function isNamedTestList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (test: unknown) =>
        isRecord(test) &&
        Object.keys(test).toSorted().join() === 'file,title' &&
        Object.values(test).every((part) => typeof part === 'string' && part.trim() !== ''),
    )
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
