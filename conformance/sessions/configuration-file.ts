/**
 * One configuration file made of several.
 *
 * @module
 */

import { parse } from 'yaml';

type Mapping = Readonly<Record<string, unknown>>;

/** Merges files, each given by its lines, key by key; of two values of one key the later one counts. */
export function mergeFiles(files: readonly (readonly string[])[]): readonly string[] {
  const merged = files
    .map((lines) => (parse(lines.join('\n')) ?? {}) as Mapping)
    .reduce((all, next) => merge(all, next), {});
  // YAML includes JSON.
  return [JSON.stringify(merged)];
}

function merge(first: Mapping, second: Mapping): Mapping {
  const both = Object.entries(second).map(([key, value]) => {
    const before = first[key];
    return [key, isMapping(before) && isMapping(value) ? merge(before, value) : value] as const;
  });
  return { ...first, ...Object.fromEntries(both) };
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
