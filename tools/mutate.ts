/**
 * `npm run mutate`: changes the security code in many small ways, and sees that the tests notice each.
 *
 * `npm run mutate -- [--only TEXT] [--jobs N] [--json FILE]`. A mutant is killed when every test that
 * its table names fails; `--only` takes those whose id holds the text. Ends with 0 when all are killed
 * or written down as equivalent, else with 1; 2 when a table or the unchanged code is not in order.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type CopiedTree, copyTree } from './mutate/copied-tree.ts';
import { applyMutant, type Mutant, titlePattern } from './mutate/mutant-table.ts';
import { readMutants } from './mutate/read-mutants.ts';
import { runTests, type TestRun } from './mutate/run-tests.ts';

interface Outcome {
  readonly id: string;
  readonly outcome: 'killed' | 'survived' | 'equivalent' | 'not run';
  readonly detail?: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(Math.max(1, availableParallelism() - 1)) },
    json: { type: 'string' },
  },
});

const { mutants, problems } = readMutants();
const chosen = mutants.filter(({ id }) => id.includes(values.only));
if (problems.length > 0 || chosen.length === 0) {
  console.error(problems.length > 0 ? problems.join('\n') : 'no mutant has such an id');
  process.exit(2);
}

const trees = Array.from({ length: Math.max(1, Number(values.jobs) || 1) }, () => copyTree(ROOT));
process.once('SIGINT', () => process.exit(130));
process.once('exit', () => {
  for (const tree of trees) tree.remove();
});

const [first] = trees;
if (first === undefined || !(await isUnchangedCodeInOrder(first))) process.exit(2);
const outcomes = await tryAll();
report(outcomes);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(outcomes, null, 2)}\n`);
process.exit(outcomes.some(({ outcome }) => isOpen(outcome)) ? 1 : 0);

/** A test that fails anyway, or is not there, would kill nothing. */
async function isUnchangedCodeInOrder(tree: CopiedTree): Promise<boolean> {
  const tests = chosen.flatMap((mutant) => mutant.tests);
  if (tests.length === 0) return true;
  console.log(
    `running ${new Set(tests.map(({ title }) => title)).size} tests on the unchanged code`,
  );
  const run = await runTests(tree.root, tests);
  const missing = tests.filter(({ title }) => !isAmong(run.passed, title));
  if (run.failed.length === 0 && run.trouble === undefined && missing.length === 0) return true;
  for (const title of run.failed) console.error(`fails on the unchanged code: ${title}`);
  for (const { file, title } of missing) console.error(`did not pass: ${file}: ${title}`);
  if (run.passed.length === 0) console.error('no test ran');
  if (run.trouble !== undefined) console.error(run.trouble);
  return false;
}

async function tryAll(): Promise<readonly Outcome[]> {
  const waiting = [...chosen];
  const done: Outcome[] = [];
  await Promise.all(
    trees.map(async (tree) => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const outcome = await tryMutant(tree, mutant);
        done.push(outcome);
        console.log(`${done.length}/${chosen.length} ${outcome.outcome.padEnd(10)} ${outcome.id}`);
        if (outcome.detail !== undefined) console.log(`    ${outcome.detail}`);
      }
    }),
  );
  return done.toSorted((one, other) => one.id.localeCompare(other.id));
}

async function tryMutant(tree: CopiedTree, mutant: Mutant): Promise<Outcome> {
  const { id, file, tests } = mutant;
  const applied = applyMutant(readFileSync(join(tree.root, file), 'utf8'), mutant);
  if ('problem' in applied) return { id, outcome: 'not run', detail: applied.problem };
  if (mutant.equivalent !== undefined) return { id, outcome: 'equivalent' };
  const run = await tree.withFile(file, applied.mutated, () => runTests(tree.root, tests));
  return judge(id, tests, run);
}

function judge(id: string, tests: Mutant['tests'], run: TestRun): Outcome {
  if (run.trouble === 'took too long') return { id, outcome: 'killed', detail: run.trouble };
  const quiet = tests.filter(({ title }) => !isAmong(run.failed, title));
  if (quiet.length === 0) return { id, outcome: 'killed' };
  // Code that cannot even be loaded says nothing about the tests.
  if (run.trouble !== undefined) return { id, outcome: 'not run', detail: run.trouble };
  const names = quiet.map(({ title }) => title).join('; ');
  return { id, outcome: 'survived', detail: `did not fail: ${names}` };
}

function isAmong(titles: readonly string[], wanted: string): boolean {
  const pattern = new RegExp(`^${titlePattern(wanted)}$`);
  return titles.some((title) => pattern.test(title));
}

function isOpen(outcome: Outcome['outcome']): boolean {
  return outcome === 'survived' || outcome === 'not run';
}

function report(outcomes: readonly Outcome[]): void {
  const count = (outcome: Outcome['outcome']) =>
    outcomes.filter((each) => each.outcome === outcome).length;
  for (const { id, outcome, detail } of outcomes)
    if (isOpen(outcome))
      console.log(`${outcome}: ${id}${detail === undefined ? '' : ` (${detail})`}`);
  console.log(
    `${outcomes.length} mutants: ${count('killed')} killed, ${count('equivalent')} equivalent, ` +
      `${count('survived')} survived, ${count('not run')} not run`,
  );
}
