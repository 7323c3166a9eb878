/**
 * Text to a YAML document, or to problems with their lines.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  LineCounter,
  Parser,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import type { ConfigProblem } from '../problems.ts';

/** Longest configuration file, in UTF-16 code units. */
export const FILE_MAX_LENGTH = 131_072;
const NESTING_MAX = 32;
const REPORTED_MAX = 20;

/** A file that is one mapping, free of syntax errors, aliases, anchors and tags. */
export interface YamlFile {
  readonly document: Document;
  /** Absent when the file holds nothing but blanks and comments. */
  readonly top: YAMLMap | undefined;
  /** The line of an offset, from 1. */
  readonly lineOf: (offset: number | undefined) => number;
}

/**
 * Parses a configuration file.
 *
 * Does not check the keys. Problems have messages of their own, because the parser's messages quote the
 * text, which may be a secret. Aliases, anchors and tags are refused: a file contains what it shows and
 * cannot grow by expansion. Nesting is limited before any recursive code reads the document, because a
 * stack overflow can end the process.
 *
 * @returns The file; or at most 20 problems, one a line, in order.
 */
export function parseYaml(path: string, text: string): Result<YamlFile, readonly ConfigProblem[]> {
  const problem = (line: number | undefined, found: string, expected: string): ConfigProblem => ({
    file: path,
    line,
    key: '',
    found,
    expected,
  });
  if (text.length > FILE_MAX_LENGTH)
    return refuse([
      problem(undefined, `${text.length} characters`, `at most ${FILE_MAX_LENGTH} characters`),
    ]);

  const lines = new LineCounter();
  const lineOf = (offset: number | undefined): number =>
    Math.max(1, lines.linePos(offset ?? 0).line);
  const tooDeep = findTooDeep(text, lines);
  if (tooDeep !== undefined)
    return refuse([
      problem(lineOf(tooDeep), 'deep nesting', `at most ${NESTING_MAX} levels of nesting`),
    ]);

  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  const syntax = [...document.errors, ...document.warnings].map(({ code, pos }) =>
    problem(lineOf(pos[0]), ...describeSyntaxError(code)),
  );
  const problems = syntax.length > 0 ? syntax : findIndirections(document, lineOf, problem);
  if (problems.length > 0) return refuse(onePerLine(problems));

  const top = document.contents;
  const isEmpty = top === null || (!isMap(top) && document.toJS() === null);
  if (!isEmpty && !isMap(top)) {
    const line = isNode(top) ? lineOf(top.range?.[0]) : 1;
    return refuse([problem(line, 'no mapping', 'a mapping of keys at the top of the file')]);
  }
  return accept({ document, top: isMap(top) ? top : undefined, lineOf });
}

/** The offset at which nesting exceeds the limit. Iterative, on the token tree, unlike the composer. */
function findTooDeep(text: string, lines: LineCounter): number | undefined {
  const open: { readonly token: unknown; readonly depth: number }[] = [];
  for (const token of new Parser(lines.addNewLine).parse(text)) open.push({ token, depth: 0 });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (typeof token !== 'object' || token === null) continue;
    if ('items' in token && Array.isArray(token.items)) {
      if (depth >= NESTING_MAX) return 'offset' in token ? Number(token.offset) : 0;
      for (const item of token.items) open.push({ token: item, depth: depth + 1 });
    } else {
      if ('key' in token) open.push({ token: token.key, depth });
      if ('value' in token) open.push({ token: token.value, depth });
    }
  }
  return undefined;
}

function findIndirections(
  document: Document,
  lineOf: YamlFile['lineOf'],
  problem: (line: number, found: string, expected: string) => ConfigProblem,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const value = 'the value itself';
  visit(document, {
    Node(_, node) {
      const line = lineOf(node.range?.[0]);
      if (isAlias(node)) problems.push(problem(line, 'an alias (*)', value));
      else if (node.anchor !== undefined) problems.push(problem(line, 'an anchor (&)', value));
      else if (node.tag !== undefined) problems.push(problem(line, 'a tag (!)', value));
    },
  });
  return problems;
}

function onePerLine(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const first = new Map<number | undefined, ConfigProblem>();
  for (const problem of problems) if (!first.has(problem.line)) first.set(problem.line, problem);
  return [...first.values()]
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .slice(0, REPORTED_MAX);
}

function describeSyntaxError(code: ErrorCode): readonly [found: string, expected: string] {
  switch (code) {
    case 'TAB_AS_INDENT':
      return ['a tab', 'blanks: YAML is not indented by tabs'];
    case 'MULTIPLE_DOCS':
      return ['a second document (---)', 'one document'];
    case 'DUPLICATE_KEY':
      return ['a key for the second time', 'every key once'];
    case 'NON_STRING_KEY':
      return ['a key that is no text', 'text as key'];
    case 'BAD_INDENT':
      return [
        'a value on the wrong level, or a { or [ above it that is not closed',
        'indentation by blanks, one key a line, and every bracket closed',
      ];
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'BLOCK_IN_FLOW':
      return ['a value on the wrong level', 'indentation by blanks, one key a line'];
    case 'MISSING_CHAR':
      return ['an unfinished key or value', 'a closing quote or bracket, a colon or a comma'];
    case 'BAD_DQ_ESCAPE':
      return ['an unknown escape (\\) in double quotes', 'single quotes, or the backslash twice'];
    case 'BAD_SCALAR_START':
      return ['a value that begins with a reserved character', 'the value in quotes'];
    case 'KEY_OVER_1024_CHARS':
    case 'MULTILINE_IMPLICIT_KEY':
      return ['a key over more than one line or 1,024 characters', 'a short key'];
    case 'ALIAS_PROPS':
    case 'BAD_ALIAS':
    case 'MULTIPLE_ANCHORS':
      return ['an anchor or alias', 'the value itself'];
    case 'BAD_COLLECTION_TYPE':
    case 'MULTIPLE_TAGS':
    case 'TAG_RESOLVE_FAILED':
      return ['a tag (!)', 'the value itself'];
    case 'BAD_DIRECTIVE':
      return ['a directive (%)', 'none'];
    case 'BAD_PROP_ORDER':
    case 'IMPOSSIBLE':
    case 'RESOURCE_EXHAUSTION':
    case 'UNEXPECTED_TOKEN':
      return ['text that is no YAML here', 'key: value'];
  }
}
