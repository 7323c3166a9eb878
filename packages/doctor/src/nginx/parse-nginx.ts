/**
 * The text of an nginx configuration as directives.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';

/** A directive: a name, words, and for a block what stands in it. */
export interface Directive {
  readonly name: string;
  /** Without their quotes. */
  readonly words: readonly string[];
  /** `undefined`: it ends with a semicolon. */
  readonly block: readonly Directive[] | undefined;
  readonly line: number;
}

/** Where a text is no configuration. */
export interface SyntaxProblem {
  readonly line: number;
  /** Completes "found …". */
  readonly found: string;
}

/** Blocks within blocks; nginx itself knows five. */
const MAX_DEPTH = 20;
const CODE_BLOCK = /_by_lua_block$/;

interface Token {
  /** A word, or one of the three marks. */
  readonly kind: 'word' | ';' | '{' | '}';
  readonly text: string;
  readonly line: number;
}

/**
 * Parses a file. Directives are not known to it, but for blocks of Lua, which are skipped.
 *
 * @param text - Untrusted; bounded by the caller.
 */
export function parseNginx(text: string): Result<readonly Directive[], SyntaxProblem> {
  const tokens = readTokens(text);
  const last = tokens.at(-1)?.line ?? 1;
  let at = 0;
  return readBlock(0);

  function readBlock(depth: number): Result<readonly Directive[], SyntaxProblem> {
    const directives: Directive[] = [];
    let words: Token[] = [];
    for (;;) {
      const token = tokens[at];
      at += 1;
      const isEnd = token === undefined || token.kind === '}';
      const [first] = words;
      if (isEnd && first !== undefined)
        return refuse({ line: first.line, found: `${first.text} without a semicolon` });
      if (isEnd) {
        if ((token === undefined) === (depth === 0)) return accept(directives);
        return refuse({
          line: token?.line ?? last,
          found: token === undefined ? 'a block without an end' : 'a brace too many',
        });
      }
      if (token.kind === 'word') {
        words.push(token);
        continue;
      }
      if (first === undefined) return refuse({ line: token.line, found: `${token.kind} alone` });
      if (depth === MAX_DEPTH)
        return refuse({ line: token.line, found: 'too many blocks within blocks' });
      const block = token.kind === '{' ? readBlock(depth + 1) : accept(undefined);
      if (!block.ok) return block;
      const [{ text: name, line }, ...rest] = [first, ...words.slice(1)];
      directives.push({ name, line, words: rest.map((word) => word.text), block: block.value });
      words = [];
    }
  }
}

/** White space, a comment, a quoted word, a mark, or a plain word, in which `${name}` holds no brace. */
const TOKEN =
  /(?<space>\s+)|(?<comment>#[^\n]*)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>(?:[^'\\]|\\.)*)'|(?<mark>[;{}])|(?<plain>(?:\\.|\$\{\w{1,200}\}|[^\s;{}"'\\])(?:\\.|\$\{\w{1,200}\}|[^\s;{\\])*)|(?<other>.)/gsu;

function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let skippedTo = 0;
  for (const match of text.matchAll(TOKEN)) {
    const { double, single, mark, plain, other } = match.groups ?? {};
    const isSkipped = match.index < skippedTo;
    if (!isSkipped && mark === '{' && CODE_BLOCK.test(tokens.at(-1)?.text ?? '')) {
      skippedTo = endOfCode(text, match.index);
      tokens.push({ kind: ';', text: ';', line });
    } else if (!isSkipped && mark !== undefined)
      tokens.push({ kind: mark as Token['kind'], text: mark, line });
    else if (!isSkipped) {
      const word = double ?? single;
      if (word !== undefined)
        tokens.push({ kind: 'word', text: word.replaceAll(/\\(["'\\])/g, '$1'), line });
      else if (plain !== undefined || other !== undefined)
        tokens.push({ kind: 'word', text: plain ?? other ?? '', line });
    }
    line += countLines(match[0]);
  }
  return tokens;
}

/** The place behind the brace that ends a block of code; braces in its strings are taken for braces. */
function endOfCode(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}
