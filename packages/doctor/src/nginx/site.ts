/**
 * What an nginx configuration does with a path: its location, and the directives that count there.
 *
 * @module
 */

import type { Directive } from './parse-nginx.ts';

/** One location of a server, with what stands around it. */
export interface Location {
  /** As written, such as `= /me`. */
  readonly title: string;
  /** From `http` to the location itself: what is said further in counts. */
  readonly levels: readonly (readonly Directive[])[];
}

/** One `server`. */
export interface Site {
  /** Its `server_name`, for evidence. */
  readonly name: string;
  readonly levels: readonly (readonly Directive[])[];
}

/** Lists the servers of HTTP in a configuration, or in the part of one that stands in `http`. */
export function listSites(directives: readonly Directive[]): readonly Site[] {
  const http = directives.find(({ name }) => name === 'http')?.block ?? directives;
  return http.flatMap(({ name, block }) => {
    if (name !== 'server' || block === undefined) return [];
    const named = block.find((directive) => directive.name === 'server_name')?.words.join(' ');
    return [{ name: named ?? 'a server without a name', levels: [http, block] }];
  });
}

/**
 * Finds the location of a path as nginx selects one: the exact one, the longest prefix if it forbids regular expressions,
 * the first regular expression that matches, then the longest prefix.
 *
 * @returns `undefined` where none is for it, or where a regular expression cannot be read here.
 */
export function findLocation({ levels }: Site, path: string): Location | undefined {
  const found = find(levels, path);
  return found === 'unreadable' ? undefined : found;
}

function find(
  levels: readonly (readonly Directive[])[],
  path: string,
): Location | 'unreadable' | undefined {
  const inner = (levels.at(-1) ?? []).filter(({ name }) => name === 'location');
  const enter = (directive: Directive): Location | 'unreadable' => {
    const own = [...levels, directive.block ?? []];
    return find(own, path) ?? { title: directive.words.join(' '), levels: own };
  };
  const exact = inner.find(({ words: [kind, uri] }) => kind === '=' && uri === path);
  if (exact !== undefined) return enter(exact);
  let longest: Directive | undefined;
  for (const directive of inner) {
    const prefix = prefixOf(directive);
    if (prefix === undefined || !path.startsWith(prefix)) continue;
    if (longest === undefined || prefix.length > (prefixOf(longest)?.length ?? 0))
      longest = directive;
  }
  if (longest?.words[0] === '^~') return enter(longest);
  for (const directive of inner) {
    const matched = matches(directive, path);
    if (matched === 'unreadable') return matched;
    if (matched) return enter(directive);
  }
  return longest === undefined ? undefined : enter(longest);
}

/** The prefix of a location that has one; named locations and regular expressions have none. */
function prefixOf({ words: [first = '', second] }: Directive): string | undefined {
  if (first === '^~') return second;
  return second === undefined && first.startsWith('/') ? first : undefined;
}

const REGULAR = /^~\*?$/;

function matches({ words: [kind = '', pattern] }: Directive, path: string): boolean | 'unreadable' {
  if (!REGULAR.test(kind) || pattern === undefined) return false;
  try {
    return new RegExp(pattern, kind === '~*' ? 'i' : '').test(path);
  } catch {
    // PCRE knows more than this language.
    return 'unreadable';
  }
}

/** The words of a directive that counts at the innermost level that has it. */
export function wordsOf(
  { levels }: Pick<Location, 'levels'>,
  name: string,
): readonly string[] | undefined {
  for (const level of levels.toReversed()) {
    const said = level.findLast((directive) => directive.name === name);
    if (said !== undefined) return said.words;
  }
  return undefined;
}

/** Every path that `auth_request` asks in a server, each once. */
export function listChecks({ levels }: Site): readonly string[] {
  const paths = new Set<string>();
  const visit = (directives: readonly Directive[]): void => {
    for (const { name, words, block } of directives) {
      const [path = 'off'] = words;
      if (name === 'auth_request' && path !== 'off') paths.add(path);
      if (block !== undefined && name !== 'map') visit(block);
    }
  };
  for (const directive of levels[0] ?? [])
    if (directive.name === 'auth_request') visit([directive]);
  visit(levels.at(-1) ?? []);
  return [...paths];
}
