/**
 * docs/conformance.md names for every section of an RFC or OpenID specification a test that exists, and
 * one of its opposite.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findTestProblems } from './requirement-table.ts';
import { parseRfcTables } from './rfc-table.ts';

const ROOT = new URL('../', import.meta.url);
/** Those that tokens follow, bearer tokens to issuer identification; then those that sessions follow. */
const DOCUMENTS = [
  ...[6750, 7519, 7515, 8725, 7662, 8414, 8628, 7636, 7009, 8252, 9207].map((rfc) => `RFC ${rfc}`),
  'OpenID Connect Core 1.0',
  'OpenID Connect RP-Initiated Logout 1.0',
  'OpenID Connect Back-Channel Logout 1.0',
  ...[7523, 9126, 9700].map((rfc) => `RFC ${rfc}`),
];

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

  it('has rows for every document that tokens and sessions follow, and for no other', () => {
    expect([...new Set(rows.map(({ document }) => document))]).toEqual(DOCUMENTS);
  });

  it('names for every section a test and one of its opposite that exist', () => {
    expect(findTestProblems(rows, readSource)).toEqual([]);
  });

  const known = new Set(rows.map(({ id }) => id));
  const filesOf = (named: typeof rows) => [
    ...new Set(
      named.flatMap(({ tests, negatives }) => [...tests, ...negatives].map(({ file }) => file)),
    ),
  ];

  it('has a row for every section that a title in one of the named files begins with', () => {
    const begins = /['"](RFC \d+) (?:section )?(\d[\d.]*)(?=:? )/g;
    const cited = filesOf(rows)
      .flatMap((file) => [...(readSource(file) ?? '').matchAll(begins)])
      .filter(([, rfc = '']) => DOCUMENTS.includes(rfc))
      .map(([, rfc, section]) => `${rfc} section ${section}`);
    expect(cited).toContain('RFC 7515 section 4.1.11');
    expect(cited.filter((id) => !known.has(id))).toEqual([]);
  });

  it('has a row for every section and step of back-channel logout that a title in its files begins with', () => {
    const logout = 'OpenID Connect Back-Channel Logout 1.0';
    const files = filesOf(rows.filter(({ document }) => document === logout)).filter((file) =>
      /(?:logout-token|backchannel-logout)[\w-]*\.test\.ts$/.test(file),
    );
    const begins = /['"](?:section )?(\d\.\d)(?: (step \d+))?: |['"](step \d+): /g;
    const cited = files
      .flatMap((file) => [...(readSource(file) ?? '').matchAll(begins)])
      // Steps are those of the validation.
      .map(([, section = '2.6', step, ownStep]) => [section, step ?? ownStep])
      .map((parts) => `${logout} section ${parts.filter((part) => part !== undefined).join(' ')}`);
    expect(cited).toContain(`${logout} section 2.6 step 7`);
    expect(cited).toContain(`${logout} section 2.8`);
    const isKnown = (id: string) =>
      known.has(id) || [...known].some((each) => each.startsWith(`${id} step `));
    expect(cited.filter((id) => !isKnown(id))).toEqual([]);
  });
});

const LINK = '[6.1](https://www.rfc-editor.org/rfc/rfc9999#section-6.1)';
const TEST = '[answers 200](../conformance/a.test.ts)';
const TWIN = '[answers 401](../conformance/b.test.ts)';
const HEAD =
  '## RFC 9999: Doors\n\n| Section | It asks | Shown by | Its opposite by |\n|---|---|---|---|\n';
const GOOD = `| ${LINK} | A door | ${TEST} | ${TWIN}<br>${TEST} |`;

describe('reading the tables', () => {
  it('reads a row with several tests', () => {
    const answers200 = { file: 'conformance/a.test.ts', title: 'answers 200' };
    const answers401 = { file: 'conformance/b.test.ts', title: 'answers 401' };
    expect(parseRfcTables(HEAD + GOOD)).toEqual({
      rows: [
        {
          document: 'RFC 9999',
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

  it.each([
    ['OpenID Connect Core 1.0', 'openid-connect-core-1_0'],
    ['OpenID Connect RP-Initiated Logout 1.0', 'openid-connect-rpinitiated-1_0'],
    ['OpenID Connect Back-Channel Logout 1.0', 'openid-connect-backchannel-1_0'],
  ])('reads rows of %s, whose sections are at its own address', (document, name) => {
    const head = HEAD.replace('RFC 9999: Doors', document);
    const address = `https://openid.net/specs/${name}.html#rfc.section.2.6`;
    const row = `| [2.6](${address}) | A door | ${TEST} | ${TWIN} |`;
    const { rows, problems } = parseRfcTables(head + row);
    expect(problems).toEqual([]);
    expect(rows.map(({ id, ...rest }) => [id, rest.document])).toEqual([
      [`${document} section 2.6`, document],
    ]);
    for (const other of [
      address.replace('2.6', '2.5'),
      address.replace('#rfc.section.', '#section-'),
      address.replace('1_0.html', '1_0-10.html'),
      address.replace(name, 'openid-connect-discovery-1_0'),
      address.replace('https:', 'http:'),
      address.slice(0, address.indexOf('#')),
    ])
      expect(parseRfcTables(head + row.replace(address, other)).problems).toEqual([
        `${document} section 2.6: the address is that of something else`,
      ]);
  });

  it('reads a step of a section, at the address of the section, each once', () => {
    const [first, second] = [1, 2].map((step) => GOOD.replace('[6.1]', `[6.1 step ${step}]`));
    const { rows, problems } = parseRfcTables(`${HEAD}${first}\n${second}\n${GOOD}\n${second}`);
    expect(rows.slice(0, 3).map(({ id }) => id)).toEqual([
      'RFC 9999 section 6.1 step 1',
      'RFC 9999 section 6.1 step 2',
      'RFC 9999 section 6.1',
    ]);
    expect(problems).toEqual(['RFC 9999 section 6.1 step 2: the section repeats']);
  });

  it.each(['6.1 step', '6.1 step one', '6.1 part 1', 'step 1', '6.', '6..1', 'LogoutToken'])(
    'reports a row of %j, which is no section',
    (section) => {
      const row = GOOD.replace('[6.1]', `[${section}]`);
      expect(parseRfcTables(HEAD + row).problems).toEqual([`not a row: ${row}`]);
    },
  );

  it.each([
    '## Doors',
    '## RFC 9999',
    '## OpenID Connect Doors 1.0',
    '## OpenID Connect Core 1.0: Doors',
    '## OpenID Connect Core 2.0',
  ])('reports the heading %s, which names no known document, and rows below it', (heading) => {
    expect(parseRfcTables(`${HEAD}${GOOD}\n${heading}\n${GOOD}`)).toMatchObject({
      rows: [{ document: 'RFC 9999' }],
      problems: [
        `not the heading of an RFC or OpenID specification: ${heading}`,
        `the row of no document: ${GOOD}`,
      ],
    });
  });

  it('reports a row before any heading', () => {
    expect(parseRfcTables(GOOD)).toEqual({
      rows: [],
      problems: [`the row of no document: ${GOOD}`],
    });
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
