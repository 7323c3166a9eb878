/**
 * What a text of an nginx configuration depends on, through the variables that the configuration makes.
 *
 * @module
 */

import type { Directive } from './parse-nginx.ts';
import type { Location } from './site.ts';

const VARIABLE = /\$(?:\{([a-z0-9_]+)\}|([a-z0-9_]+))/gi;
const MAX_VARIABLES = 1_000;

/**
 * Lists the variables that a text depends on, in lower case, those that `map` and `set` make followed to what they are
 * made from.
 *
 * What a module computes otherwise stays as it is named. A branch counts whether it is ever taken: what is listed is what
 * the text may depend on.
 */
export function listVariables(text: string, { levels }: Pick<Location, 'levels'>): Set<string> {
  const sources = collectSources(levels);
  const found = new Set<string>();
  const open = namesIn(text);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name) || found.size > MAX_VARIABLES) continue;
    found.add(name);
    open.push(...(sources.get(name) ?? []).flatMap(namesIn));
  }
  return found;
}

function namesIn(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(([, braced, plain]) =>
    (braced ?? plain ?? '').toLowerCase(),
  );
}

/** The texts that each variable is made from. */
function collectSources(
  levels: readonly (readonly Directive[])[],
): ReadonlyMap<string, readonly string[]> {
  const sources = new Map<string, string[]>();
  const add = (variable: string, texts: readonly string[]): void => {
    const name = variable.replace('$', '').toLowerCase();
    sources.set(name, [...(sources.get(name) ?? []), ...texts]);
  };
  const visit = (directives: readonly Directive[]): void => {
    for (const { name, words, block = [] } of directives) {
      const [first = '', second = ''] = words;
      if (name === 'set') add(first, [second]);
      if (name === 'map') add(second, [first, ...block.flatMap((entry) => entry.words)]);
      if (name === 'if') visit(block);
    }
  };
  for (const level of levels) visit(level);
  return sources;
}
