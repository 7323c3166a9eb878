/**
 * The tables of docs/conformance.md: reading which tests show which section of which RFC.
 *
 * Pure: the text of the page is handed in. Whether the tests exist is checked where those of the
 * requirement are.
 *
 * @module
 */

import type { Requirement } from './requirement-table.ts';

/** What is named for one section. */
interface RfcRow extends Pick<Requirement, 'id' | 'delivered' | 'tests' | 'negatives'> {
  /** Number of the RFC. */
  readonly rfc: number;
}

const HEADING = /^## RFC (\d+): \S/;
const TITLES = '| Section | It asks | Shown by | Its opposite by |';
const RULE = '|---|---|---|---|';
const ROW = /^\| \[([\d.]+)\]\((\S+)\) \| (\S.*?) \| (\S.*?) \| (\S.*?) \|$/;
const NAMED_TEST = /^\[([^\]]+)\]\(\.\.\/(\S+)\)$/;

/**
 * Reads the tables.
 *
 * @param page - Text of docs/conformance.md.
 *
 * @returns The well-formed rows, each as a delivered statement, and one line for each thing that is
 *   wrong with the others.
 */
export function parseRfcTables(page: string): {
  readonly rows: readonly RfcRow[];
  readonly problems: readonly string[];
} {
  const rows: RfcRow[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  let rfc = 0;
  for (const line of page.split('\n')) {
    if (line.startsWith('## ')) {
      rfc = Number(HEADING.exec(line)?.[1] ?? 0);
      if (rfc === 0) problems.push(`not the heading of an RFC: ${line}`);
    }
    if (!line.startsWith('|') || line === TITLES || line === RULE) continue;
    const [, section = '', address, , shown = '', opposite = ''] = ROW.exec(line) ?? [];
    const [tests, negatives] = [shown, opposite].map(parseNamedTests);
    if (section === '' || tests === undefined || negatives === undefined) {
      problems.push(`not a row: ${line}`);
      continue;
    }
    const id = `RFC ${rfc} section ${section}`;
    if (address !== `https://www.rfc-editor.org/rfc/rfc${rfc}#section-${section}`)
      problems.push(`${id}: the address is that of something else`);
    if (seen.has(id)) problems.push(`${id}: the section repeats`);
    seen.add(id);
    rows.push({ rfc, id, delivered: true, tests, negatives });
  }
  return { rows, problems };
}

function parseNamedTests(cell: string): Requirement['tests'] | undefined {
  const named = cell.split('<br>').flatMap((link) => {
    const [, title, file] = NAMED_TEST.exec(link) ?? [];
    return title === undefined || file === undefined ? [] : [{ file, title }];
  });
  return named.length === cell.split('<br>').length ? named : undefined;
}
