/**
 * The keys a configuration file gives, each with its value and line.
 *
 * @module
 */

import { isMap, isNode, isScalar, type Node, type YAMLMap } from 'yaml';
import { type ConfigProblem, describeFound, displayKey } from '../problems.ts';
import { NAMES_BY_BLOCK, SETTING_BY_KEY } from '../schema/schema.ts';
import { joinKey, suggestKey } from '../suggestion.ts';
import { findRepeatedKeys, lineOfPart, type ValuePath } from './nested-value.ts';
import { parseYaml, type YamlFile } from './parse-yaml.ts';

/** One known key of the file. */
interface FileEntry {
  /** Plain JSON-like value, unchecked. */
  readonly value: unknown;
  readonly line: number;
  /** The line of a part of the value, or of the nearest part around it that is there. */
  readonly lineOfPart: (path: ValuePath) => number | undefined;
}

/** What a file gives. */
export interface ConfigFileReading {
  /** By dotted key; known keys only. */
  readonly entries: ReadonlyMap<string, FileEntry>;
  /** Line of each block's key, by dotted key. */
  readonly blockLines: ReadonlyMap<string, number>;
  /** Blocks that are no mapping: nothing under them is known. */
  readonly brokenBlocks: ReadonlySet<string>;
  readonly problems: readonly ConfigProblem[];
  /** False when it is no YAML we take: then it gives nothing, and what is missing is not known. */
  readonly isReadable: boolean;
}

/**
 * Reads a configuration file: unknown and repeated keys are problems, values are not checked yet.
 *
 * A block without a value counts as empty, because a block whose every line is commented out is one.
 *
 * @param foreignBlocks - Names at the top that belong to other programs; nothing under them is looked at.
 */
export function readConfigFile(
  file: { readonly path: string; readonly text: string },
  foreignBlocks: ReadonlySet<string> = new Set(),
): ConfigFileReading {
  const entries = new Map<string, FileEntry>();
  const blockLines = new Map<string, number>();
  const brokenBlocks = new Set<string>();
  const problems: ConfigProblem[] = [];
  const parsed = parseYaml(file.path, file.text);
  if (parsed.ok && parsed.value.top !== undefined) readBlock(parsed.value, parsed.value.top, '');
  return {
    entries,
    blockLines,
    brokenBlocks,
    problems: parsed.ok ? problems : parsed.error,
    isReadable: parsed.ok,
  };

  function readBlock(yaml: YamlFile, map: YAMLMap, block: string): void {
    const lineByName = new Map<string, number>();
    for (const { key: keyNode, value } of map.items) {
      const node = isNode(keyNode) ? keyNode : undefined;
      const line = yaml.lineOf(node?.range?.[0]);
      if (!isScalar(node)) {
        report(line, block, 'a key that is no text', 'text as key');
        continue;
      }
      const name = String(node.value);
      if (block === '' && foreignBlocks.has(name)) continue;
      const firstLine = lineByName.get(name);
      if (firstLine === undefined) {
        lineByName.set(name, line);
        readName(yaml, joinKey(block, name), { block, name, line }, isNode(value) ? value : null);
      } else {
        const key = joinKey(block, displayKey(name));
        report(line, key, `the key again, first on line ${firstLine}`, 'every key once');
      }
    }
  }

  function readName(
    yaml: YamlFile,
    key: string,
    at: { readonly block: string; readonly name: string; readonly line: number },
    value: Node | null,
  ): void {
    const { block, name, line } = at;
    const isOneName = !name.includes('.');
    if (isOneName && SETTING_BY_KEY.has(key)) {
      entries.set(key, {
        value: value === null ? null : value.toJS(yaml.document, { maxAliasCount: 0 }),
        line,
        lineOfPart: (path) => lineOfPart(yaml, value, path),
      });
      for (const { suffix, line: again, firstLine } of findRepeatedKeys(yaml, value))
        report(again, key + suffix, `the key again, first on line ${firstLine}`, 'every key once');
    } else if (isOneName && NAMES_BY_BLOCK.has(key)) {
      blockLines.set(key, line);
      if (isMap(value)) readBlock(yaml, value, key);
      else if (value !== null && !(isScalar(value) && value.value === null)) {
        brokenBlocks.add(key);
        const found = isScalar(value) ? describeFound(value.value, true) : 'a list';
        report(line, key, found, `a mapping of ${(NAMES_BY_BLOCK.get(key) ?? []).join(', ')}`);
      }
    } else {
      const isDotted = !isOneName && (SETTING_BY_KEY.has(key) || NAMES_BY_BLOCK.has(key));
      report(
        line,
        joinKey(block, displayKey(name)),
        'an unknown key',
        isDotted ? 'one mapping inside the other, not a name with dots' : suggestKey(block, name),
      );
    }
  }

  function report(line: number, key: string, found: string, expected: string): void {
    problems.push({ file: file.path, line, key, found, expected });
  }
}
