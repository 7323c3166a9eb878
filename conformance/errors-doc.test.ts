/**
 * The catalogue of errors names what the source can say, and nothing else.
 *
 * Reads the source as text: nothing is imported.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../', import.meta.url);
const CATALOGUE = readFileSync(new URL('docs/errors.md', ROOT), 'utf8');
const CODES = readFileSync(new URL('packages/protocol/src/errors.ts', ROOT), 'utf8');
const SERVER = new URL('packages/server/src/', ROOT);
const CLIENTS = ['packages/client/src/', 'packages/cli/src/'].map((path) => new URL(path, ROOT));

/** Every `SP_` code in a text, sorted. */
function codesIn(text: string): readonly string[] {
  return distinct(text.match(/\bSP_[A-Z0-9_]+/g) ?? []);
}

/** Codes and reasons that have a section of their own, sorted. */
function sectionsIn(catalogue: string): readonly string[] {
  return distinct([...catalogue.matchAll(/^### `(\w+)`$/gm)].map(([, name = '']) => name));
}

/** Names in the first column of a chapter's table, sorted. */
function rowsIn(catalogue: string, chapter: string): readonly string[] {
  const [, text = ''] = catalogue.split(`\n## ${chapter}\n`);
  const [own = ''] = text.split('\n## ');
  const cells = [...own.matchAll(/^\|((?: ?`\w+`,?)+) \|/gm)].map(([, cell = '']) => cell);
  return distinct(cells.flatMap((cell) => cell.match(/\w+/g) ?? []));
}

/** Literals that become the `error` of a refusal, sorted. */
function errorsIn(source: string): readonly string[] {
  const values = [...source.matchAll(/\berror ?:([^,;)\n]*)/g)].map(([, value = '']) => value);
  return distinct(values.flatMap((value) => value.match(/(?<=')[a-z_]+(?=')/g) ?? []));
}

/** Members of the union type of that name, those of unions it names included, sorted. */
function membersOf(source: string, union: string): readonly string[] {
  const plain = source.replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
  const body = new RegExp(`export type ${union} =((?:\\s*\\|?\\s*(?:'\\w+'|\\w+))+)\\s*;`).exec(
    plain,
  )?.[1];
  const members = (body ?? '').split('|').map((member) => member.trim());
  return distinct(
    members.flatMap((member) => {
      if (member === '') return [];
      return member.startsWith("'") ? [member.slice(1, -1)] : membersOf(plain, member);
    }),
  );
}

/** Codes or reasons the source has and the catalogue does not explain, or the other way round. */
function compare(said: readonly string[], explained: readonly string[]): readonly string[] {
  return [
    ...said.filter((name) => !explained.includes(name)).map((name) => `${name} is not explained`),
    ...explained.filter((name) => !said.includes(name)).map((name) => `${name} does not exist`),
  ];
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}

function sourceIn(folder: URL): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|^testing\//.test(file))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
}

describe('the catalogue of errors', () => {
  const sections = sectionsIn(CATALOGUE);

  it('explains every failure code, and no code that does not exist', () => {
    expect(codesIn(CODES)).not.toEqual([]);
    expect(
      compare(
        codesIn(CODES),
        sections.filter((name) => name.startsWith('SP_')),
      ),
    ).toEqual([]);
  });

  it('mentions no failure code that does not exist', () => {
    expect(codesIn(CATALOGUE).filter((code) => !codesIn(CODES).includes(code))).toEqual([]);
  });

  it('explains every reason of a refusal, and no reason that does not exist', () => {
    const source = sourceIn(SERVER);
    const refusals = membersOf(source, 'RefusalReason');
    const undecided = membersOf(source, 'UndecidedReason');
    const failures = membersOf(source, 'FailureReason');
    expect(refusals).not.toEqual([]);
    expect(undecided).not.toEqual([]);
    expect(failures).not.toEqual([]);
    expect(
      compare(
        distinct([...refusals, ...undecided, ...failures]),
        sections.filter((name) => !name.startsWith('SP_')),
      ),
    ).toEqual([]);
  });

  it('explains every reason a redirect target is replaced for', () => {
    const source = readFileSync(new URL('packages/protocol/src/redirect-target.ts', ROOT), 'utf8');
    const rows = [...CATALOGUE.matchAll(/^\| `(target_\w+)` \|/gm)].map(([, name = '']) => name);
    expect(membersOf(source, 'RedirectRefusal')).not.toEqual([]);
    expect(compare(membersOf(source, 'RedirectRefusal'), distinct(rows))).toEqual([]);
  });

  it('explains every answer that the gateway gives by itself, and none that does not exist', () => {
    const source = readFileSync(new URL('packages/gateway/src/problem.ts', ROOT), 'utf8');
    const reasons = membersOf(source, 'ProblemReason');
    expect(reasons).not.toEqual([]);
    expect(compare(reasons, rowsIn(CATALOGUE, 'Refusals of the gateway'))).toEqual([]);
  });

  it('explains every refusal of the client library and the command, and none that does not exist', () => {
    const errors = distinct(CLIENTS.flatMap((folder) => errorsIn(sourceIn(folder))));
    const reasons = membersOf(sourceIn(SERVER), 'RefusalReason');
    expect(errors).not.toEqual([]);
    expect(
      compare(
        // What the platform refuses with is passed on, and stands with the refusals of a request.
        errors.filter((error) => !reasons.includes(error)),
        rowsIn(CATALOGUE, 'Refusals of a client'),
      ),
    ).toEqual([]);
  });
});

describe('comparing a catalogue with the source', () => {
  const source = "export type Code =\n  | 'SP_ONE'\n  | 'SP_TWO';";

  it('reports a code the catalogue leaves out', () => {
    expect(compare(codesIn(source), sectionsIn('### `SP_ONE`\n\nNot SP_TWO.'))).toEqual([
      'SP_TWO is not explained',
    ]);
  });

  it('reports a code the source does not have', () => {
    const catalogue = '### `SP_ONE`\n### `SP_TWO`\n### `SP_THREE`';
    expect(compare(codesIn(source), sectionsIn(catalogue))).toEqual(['SP_THREE does not exist']);
  });

  it('reads the members of a union, on one line or on several', () => {
    expect(membersOf(source, 'Code')).toEqual(['SP_ONE', 'SP_TWO']);
    expect(membersOf("export type Kind = 'a' | 'b';", 'Kind')).toEqual(['a', 'b']);
    const commented =
      "export type Kind =\n  /** One. */\n  | 'a'\n  | Other;\nexport type Other = 'b';";
    expect(membersOf(commented, 'Kind')).toEqual(['a', 'b']);
  });

  it('reads the rows of one chapter, and of no other', () => {
    const catalogue = '\n## A\n| `a` |\n| `b`, `c` | `d` |\n\n## B\n| `e` |\n';
    expect(rowsIn(catalogue, 'A')).toEqual(['a', 'b', 'c']);
    expect(rowsIn(catalogue, 'C')).toEqual([]);
  });

  it('reads an error that is given, and each of two that one is chosen from', () => {
    expect(errorsIn("{ error: 'a_b', description: 'c' }")).toEqual(['a_b']);
    expect(errorsIn("error: late ? 'a' : 'b',")).toEqual(['a', 'b']);
    expect(errorsIn("{ error, hint: 'c' }")).toEqual([]);
    expect(errorsIn("(error: Error) => resolve('c')")).toEqual([]);
  });

  it('reads nothing from a union that is not there', () => {
    expect(membersOf(source, 'Other')).toEqual([]);
  });
});
