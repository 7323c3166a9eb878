/**
 * docs/conformance.md names for every section of an RFC a test that exists, and one of its opposite.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findTestProblems } from './requirement-table.ts';
import { parseRfcTables } from './rfc-table.ts';

const ROOT = new URL('../', import.meta.url);
/** Those that tokens follow: bearer, JWT, JWS, their practices, introspection to issuer identification. */
const RFCS = [6750, 7519, 7515, 8725, 7662, 8414, 8628, 7636, 7009, 8252, 9207];

function readSource(file: string): string | undefined {
  try {
    return readFileSync(new URL(file, ROOT), 'utf8');
  } catch {
    return undefined;
  }
}

describe('docs/conformance.md', () => {
  const { rows, problems } = parseRfcTables(readSource('docs/conformance.md') ?? '');

  it('holds well-formed rows only, each section once, with its address', () => {
    expect(problems).toEqual([]);
  });

  it('has rows for every RFC that tokens follow, and for no other', () => {
    expect([...new Set(rows.map(({ rfc }) => rfc))]).toEqual(RFCS);
  });

  it('names for every section a test and one of its opposite that exist', () => {
    expect(findTestProblems(rows, readSource)).toEqual([]);
  });

  it('has a row for every section that a title in one of the named files begins with', () => {
    const files = new Set(
      rows.flatMap(({ tests, negatives }) => [...tests, ...negatives].map(({ file }) => file)),
    );
    const begins = /['"]RFC (\d+) (?:section )?(\d[\d.]*)(?=:? )/g;
    const cited = [...files]
      .flatMap((file) => [...(readSource(file) ?? '').matchAll(begins)])
      .filter(([, rfc]) => RFCS.includes(Number(rfc)))
      .map(([, rfc, section]) => `RFC ${rfc} section ${section}`);
    expect(cited).toContain('RFC 7515 section 4.1.11');
    const known = new Set(rows.map(({ id }) => id));
    expect(cited.filter((id) => !known.has(id))).toEqual([]);
  });
});

const LINK = '[6.1](https://www.rfc-editor.org/rfc/rfc9999#section-6.1)';
const TEST = '[answers 200](../conformance/a.test.ts)';
const TWIN = '[answers 401](../conformance/b.test.ts)';
const HEAD =
  '## RFC 9999: Doors\n\n| Section | It asks | Shown by | Its opposite by |\n|---|---|---|---|\n';
const GOOD = `| ${LINK} | A door | ${TEST} | ${TWIN}<br>${TEST} |`;

describe('reading the tables of RFCs', () => {
  it('reads a row with several tests', () => {
    const answers200 = { file: 'conformance/a.test.ts', title: 'answers 200' };
    const answers401 = { file: 'conformance/b.test.ts', title: 'answers 401' };
    expect(parseRfcTables(HEAD + GOOD)).toEqual({
      rows: [
        {
          rfc: 9999,
          id: 'RFC 9999 section 6.1',
          delivered: true,
          tests: [answers200],
          negatives: [answers401, answers200],
        },
      ],
      problems: [],
    });
  });

  it.each([
    ['without an opposite', `| ${LINK} | A door | ${TEST} |  |`],
    ['without a test', `| ${LINK} | A door |  | ${TWIN} |`],
    ['whose test is no link', `| ${LINK} | A door | answers 200 | ${TWIN} |`],
    ['with one link that is none', `| ${LINK} | A door | ${TEST}<br>more | ${TWIN} |`],
    ['without a section', `| 6.1 | A door | ${TEST} | ${TWIN} |`],
    ['that says nothing', `| ${LINK} |  | ${TEST} | ${TWIN} |`],
  ])('reports a row %s', (_, row) => {
    expect(parseRfcTables(HEAD + row)).toEqual({ rows: [], problems: [`not a row: ${row}`] });
  });

  it('reports a section that repeats, and one whose address is another', () => {
    expect(parseRfcTables(`${HEAD}${GOOD}\n${GOOD}`).problems).toEqual([
      'RFC 9999 section 6.1: the section repeats',
    ]);
    expect(parseRfcTables(HEAD + GOOD.replace('#section-6.1', '#section-6.2')).problems).toEqual([
      'RFC 9999 section 6.1: the address is that of something else',
    ]);
  });

  it('reports a heading that is no RFC', () => {
    expect(parseRfcTables('## Doors').problems).toEqual(['not the heading of an RFC: ## Doors']);
  });

  it('leaves it to the check of the requirement to report a test that does not exist', () => {
    const { rows } = parseRfcTables(HEAD + GOOD);
    const only = (file: string) =>
      file === 'conformance/a.test.ts' ? "it('answers 200', f)" : undefined;
    expect(findTestProblems(rows, only)).toEqual([
      'RFC 9999 section 6.1: no such test file: conformance/b.test.ts',
      'RFC 9999 section 6.1: a test is its own negative twin: answers 200',
    ]);
  });
});
