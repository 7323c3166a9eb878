/**
 * The table of mutants: changes to security code, each with the tests that must fail because of it.
 *
 * Pure: sources are handed in, so that the checks can be checked themselves.
 *
 * @module
 */

import { parseDocument } from 'yaml';

/** A test by the file it stands in and its own title, without those of its describe blocks. */
interface NamedTest {
  /** Path from the repository root. */
  readonly file: string;
  /** As it stands in the source: placeholders of a table (`%s`, `$name`) included. */
  readonly title: string;
}

/** One change that makes the product less safe, or an equivalent one with its proof. */
export interface Mutant {
  /** `area.subject.change`; never used again for another change. */
  readonly id: string;
  /** The source file it changes, from the repository root. */
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly find: string;
  /** What takes its place. */
  readonly replace: string;
  /** What an attacker, or an outage, would gain by it. */
  readonly gain: string;
  /** Each of them must fail; empty only with {@link equivalent}. */
  readonly tests: readonly NamedTest[];
  /** Why no input can distinguish the changed code from the original. */
  readonly equivalent?: string;
}

const ID = /^[a-z]+(?:\.[a-z0-9-]+){2}$/;
const REQUIRED = ['id', 'file', 'find', 'replace', 'gain'] as const;
const OPTIONAL: ReadonlySet<string> = new Set([...REQUIRED, 'tests', 'equivalent']);

/**
 * Reads a table.
 *
 * Does not look whether a mutant still fits its file ({@link applyMutant}) or a test exists.
 *
 * @param text - A YAML list.
 *
 * @returns The well-formed mutants, and one line for each thing that is wrong with the others.
 */
export function parseMutants(text: string): {
  readonly mutants: readonly Mutant[];
  readonly problems: readonly string[];
} {
  const document = parseDocument(text);
  const problems = document.errors.map((error) => error.message);
  const list: unknown = problems.length === 0 ? document.toJS() : [];
  if (!Array.isArray(list)) return { mutants: [], problems: ['the table is not a list'] };
  const mutants: Mutant[] = [];
  for (const [index, entry] of list.entries()) {
    const found = isRecord(entry) ? findProblems(entry) : ['is not a mapping'];
    const id = isRecord(entry) && typeof entry['id'] === 'string' ? entry['id'] : `entry ${index}`;
    problems.push(...found.map((problem) => `${id}: ${problem}`));
    if (found.length === 0) mutants.push({ tests: [], ...entry } as Mutant);
  }
  return { mutants, problems };
}

/**
 * Changes a source.
 *
 * @returns The changed text, or what is wrong: the text to find is not there, or more than once.
 */
export function applyMutant(
  source: string,
  { find, replace }: Pick<Mutant, 'find' | 'replace'>,
): { readonly mutated: string } | { readonly problem: string } {
  const at = source.indexOf(find);
  if (at === -1) return { problem: 'the text to find is not in the file' };
  if (source.includes(find, at + 1)) return { problem: 'the text to find stands there twice' };
  return { mutated: source.slice(0, at) + replace + source.slice(at + find.length) };
}

/** A regular expression that a title matches once its placeholders are filled in. */
export function titlePattern(title: string): string {
  return title
    .split(/%[sdifjoOc#$%]|\$\{[^}]*\}|\$[\w.]+/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`))
    .join('.*');
}

function findProblems(entry: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  for (const name of REQUIRED)
    if (typeof entry[name] !== 'string') problems.push(`${name} is not a text`);
  for (const name of Object.keys(entry))
    if (!OPTIONAL.has(name)) problems.push(`${name} is unknown`);
  const { id, find, replace, tests = [], equivalent } = entry;
  if (typeof id === 'string' && !ID.test(id)) problems.push('the id is not area.subject.change');
  if (find === '' || find === replace) problems.push('changes nothing');
  if (!Array.isArray(tests) || !tests.every(isNamedTest))
    problems.push('tests is not a list of file and title');
  else if (equivalent === undefined ? tests.length === 0 : tests.length > 0)
    problems.push('has neither tests nor a proof that it is equivalent, or both');
  if (equivalent !== undefined && (typeof equivalent !== 'string' || equivalent.length < 40))
    problems.push('equivalent is not a proof');
  return problems;
}

function isNamedTest(value: unknown): value is NamedTest {
  return isRecord(value) && typeof value['file'] === 'string' && typeof value['title'] === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
