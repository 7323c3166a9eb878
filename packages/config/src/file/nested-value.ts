/**
 * Lines and repeated keys within a value that is itself made of mappings and lists.
 *
 * @module
 */

import { isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import { displayKey } from '../problems.ts';
import type { YamlFile } from './parse-yaml.ts';

/** The way from a value to a part of it: names of mappings and positions in lists. */
export type ValuePath = readonly (string | number)[];

/** A key that stands in one mapping for the second time. */
interface RepeatedKey {
  /** As it follows the setting's own key: `[0].issuer`. */
  readonly suffix: string;
  readonly line: number;
  readonly firstLine: number;
}

/** The line of a part of a value: of its key in a mapping, of its beginning in a list; the nearest that is there. */
export function lineOfPart(
  yaml: YamlFile,
  value: Node | null,
  path: ValuePath,
): number | undefined {
  let node: unknown = value;
  let line: number | undefined;
  for (const step of path) {
    if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      if (!isNode(node)) return line;
      line = yaml.lineOf(node.range?.[0]);
    } else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined || !isNode(pair.key)) return line;
      line = yaml.lineOf(pair.key.range?.[0]);
      node = pair.value;
    } else return line;
  }
  return line;
}

/** Finds keys that are given twice: YAML does not define which of the two counts. */
export function findRepeatedKeys(yaml: YamlFile, value: unknown, suffix = ''): RepeatedKey[] {
  if (isSeq(value))
    return value.items.flatMap((item, index) =>
      findRepeatedKeys(yaml, item, `${suffix}[${index}]`),
    );
  if (!isMap(value)) return [];
  const lineByName = new Map<string, number>();
  return value.items.flatMap(({ key, value: child }) => {
    const name = isScalar(key) ? String(key.value) : '';
    const line = yaml.lineOf(isNode(key) ? key.range?.[0] : undefined);
    const inner = `${suffix}.${displayKey(name)}`;
    const firstLine = lineByName.get(name);
    if (firstLine !== undefined) return [{ suffix: inner, line, firstLine }];
    lineByName.set(name, line);
    return findRepeatedKeys(yaml, child, inner);
  });
}
