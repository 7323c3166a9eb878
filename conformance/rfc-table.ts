/**
 * The tables of docs/conformance.md: reading which tests show which section of which RFC or OpenID
 * specification.
 *
 * Pure: the text of the page is handed in. Whether the tests exist is checked where those of the
 * requirement are.
 *
 * @module
 */

import type { Requirement } from './requirement-table.ts';

/** What is named for one section, or for one step of it. */
interface SectionRow extends Pick<Requirement, 'id' | 'delivered' | 'tests' | 'negatives'> {
  /** `RFC 6750`, or an OpenID specification by its title. */
  readonly document: string;
}

/** What a heading opens: a document, and the address of its sections but for their number. */
interface Chapter {
  readonly document: string;
  readonly sections: string;
}

const RFC_HEADING = /^## (RFC (\d+)): \S/;
/** Titles of the specifications, with their names at openid.net. */
const OPENID_NAMES: ReadonlyMap<string, string> = new Map([
  ['OpenID Connect Core 1.0', 'openid-connect-core-1_0'],
  ['OpenID Connect RP-Initiated Logout 1.0', 'openid-connect-rpinitiated-1_0'],
  ['OpenID Connect Back-Channel Logout 1.0', 'openid-connect-backchannel-1_0'],
]);
const TITLES = '| Section | It asks | Shown by | Its opposite by |';
const RULE = '|---|---|---|---|';
const ROW = /^\| \[((\d+(?:\.\d+)*)(?: step \d+)?)\]\((\S+)\) \| (\S.*?) \| (\S.*?) \| (\S.*?) \|$/;
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
  readonly rows: readonly SectionRow[];
  readonly problems: readonly string[];
} {
  const rows: SectionRow[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  let chapter: Chapter | undefined;
  for (const line of page.split('\n')) {
    if (line.startsWith('## ')) {
      chapter = openChapter(line);
      if (chapter === undefined)
        problems.push(`not the heading of an RFC or OpenID specification: ${line}`);
    }
    if (!line.startsWith('|') || line === TITLES || line === RULE) continue;
    const [, step = '', section = '', address, , shown = '', opposite = ''] = ROW.exec(line) ?? [];
    const [tests, negatives] = [shown, opposite].map(parseNamedTests);
    if (tests === undefined || negatives === undefined) {
      problems.push(`not a row: ${line}`);
      continue;
    }
    if (chapter === undefined) {
      problems.push(`the row of no document: ${line}`);
      continue;
    }
    const { document, sections } = chapter;
    const id = `${document} section ${step}`;
    if (address !== sections + section)
      problems.push(`${id}: the address is that of something else`);
    if (seen.has(id)) problems.push(`${id}: the section repeats`);
    seen.add(id);
    rows.push({ document, id, delivered: true, tests, negatives });
  }
  return { rows, problems };
}

/** The chapter of a heading; `undefined` for a document that is not known. */
function openChapter(heading: string): Chapter | undefined {
  const [, rfc, number] = RFC_HEADING.exec(heading) ?? [];
  if (rfc !== undefined)
    return { document: rfc, sections: `https://www.rfc-editor.org/rfc/rfc${number}#section-` };
  const document = heading.slice('## '.length);
  const name = OPENID_NAMES.get(document);
  if (name === undefined) return undefined;
  return { document, sections: `https://openid.net/specs/${name}.html#rfc.section.` };
}

function parseNamedTests(cell: string): Requirement['tests'] | undefined {
  const named = cell.split('<br>').flatMap((link) => {
    const [, title, file] = NAMED_TEST.exec(link) ?? [];
    return title === undefined || file === undefined ? [] : [{ file, title }];
  });
  return named.length === cell.split('<br>').length ? named : undefined;
}
