/**
 * Reads every table of mutants in the folder beside this file, one for each area.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { type Mutant, parseMutants } from './mutant-table.ts';

const FOLDER = new URL('mutants/', import.meta.url);

/** All mutants in the order of their files, and what is wrong with the tables, a line each. */
export function readMutants(): {
  readonly mutants: readonly Mutant[];
  readonly problems: readonly string[];
} {
  const mutants: Mutant[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const name of readdirSync(FOLDER).toSorted()) {
    const area = name.replace(/\.yaml$/, '');
    const table = parseMutants(readFileSync(new URL(name, FOLDER), 'utf8'));
    problems.push(...table.problems.map((problem) => `${name}: ${problem}`));
    for (const mutant of table.mutants) {
      if (!mutant.id.startsWith(`${area}.`))
        problems.push(`${name}: ${mutant.id} is of no such area`);
      if (seen.has(mutant.id)) problems.push(`${name}: ${mutant.id} repeats`);
      seen.add(mutant.id);
    }
    mutants.push(...table.mutants);
  }
  return { mutants, problems };
}
