/**
 * The person's file of profiles, and the project's file that picks one of them.
 *
 * @module
 */

import { formatConfigProblem, parseYaml } from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { type Document, isMap, isScalar, parseDocument, YAMLMap } from 'yaml';
import { DEFAULT_PROFILE, isProfileName, type NamedAt } from './profile.ts';

/** A file as it was read. */
export interface TextFile {
  /** For messages: printable, and so perhaps not what the system calls it. */
  readonly path: string;
  readonly text: string;
}

/** What the person's file holds. */
export interface ProfileFile {
  /** The profile it uses when nothing else names one. */
  readonly selected: NamedAt | undefined;
  /** Names, in the order of the file. */
  readonly names: readonly string[];
  /**
   * The file with nothing but the profile's settings in it, each on its own line still, so that a
   * problem found in them names the right line. Empty text for a profile it does not have.
   */
  readonly settingsOf: (name: string) => TextFile;
}

const USER_KEYS = new Set(['profile', 'profiles']);

/**
 * Reads the person's file, within the limits of every configuration file: size, nesting, no anchors,
 * aliases and tags. Settings are only located: they are checked when they are loaded.
 *
 * @returns Otherwise sentences with file and line, one a line.
 */
export function parseProfileFile(file: TextFile): Result<ProfileFile, string> {
  const parsed = parseMap(file);
  if (!parsed.ok) return parsed;
  const { map, lineOf, lineAt } = parsed.value;
  const blocks = new Map<string, YAMLMap>();
  const selected = readSelected(file, map, lineOf);
  if (!selected.ok) return selected;
  const own = new Set<string>();
  for (const { key } of map.items) if (!USER_KEYS.has(keyText(key))) own.add(keyText(key));
  if (own.size > 0) blocks.set(DEFAULT_PROFILE, map);

  const profiles = map.get('profiles', true);
  if (profiles !== undefined && !isEmpty(profiles)) {
    if (!isMap(profiles)) return refuse(`${file.path}: profiles is a list of names with settings`);
    for (const { key, value } of profiles.items) {
      const name = keyText(key);
      const at = `${file.path}:${lineOf(key)}`;
      if (!isProfileName(name))
        return refuse(`${at}: a profile is named with letters, digits, ".", "_" and "-"`);
      if (blocks.has(name))
        return refuse(`${at}: profile "${name}" stands in the file already; keep one of them`);
      if (!isMap(value)) return refuse(`${at}: profile "${name}" has no settings`);
      if (value.flow === true || profiles.flow === true)
        return refuse(`${at}: write a profile on lines of its own, not in braces`);
      blocks.set(name, value);
    }
  }
  return accept({
    selected: selected.value,
    names: [...blocks.keys()],
    settingsOf(name) {
      const block = blocks.get(name);
      if (block === undefined) return { path: file.path, text: '' };
      if (block === map && blocks.size === 1 && selected.value === undefined) return file;
      return {
        path: file.path,
        text: extractLines(file.text, block, lineAt, block === map ? USER_KEYS : new Set()),
      };
    },
  });
}

/**
 * Reads the project's file: `profile: NAME` and nothing else. A repository that was just cloned must
 * not be able to say where tokens and secrets are sent, or which command is run.
 *
 * @returns Otherwise sentences with file and line, which repeat nothing of what stands there: it may
 *   be another file than it seems.
 */
export function parseProjectFile(file: TextFile): Result<NamedAt | undefined, string> {
  const parsed = parseMap(file);
  if (!parsed.ok) return parsed;
  const { map, lineOf } = parsed.value;
  const foreign = map.items.find(({ key }) => keyText(key) !== 'profile');
  if (foreign !== undefined) {
    return refuse(
      `${file.path}:${lineOf(foreign.key)}: a project's file may only name a profile ("profile: NAME"); settings belong into your own file`,
    );
  }
  return readSelected(file, map, lineOf);
}

/**
 * Writes a profile's settings into the text of the person's file. What else is there stays as it is,
 * comments included. A new profile becomes the one that is used only when it is the first.
 *
 * @param settings - Dotted keys, `admin.endpoint`. `undefined` takes a key away.
 *
 * @throws {TypeError} When the text is not a file that {@link parseProfileFile} accepts.
 */
export function writeProfile(
  text: string,
  name: string,
  settings: Readonly<Record<string, string | boolean | undefined>>,
): string {
  const document: Document = parseDocument(text);
  const isAtTop = name === DEFAULT_PROFILE && !document.hasIn(['profiles', DEFAULT_PROFILE]);
  const isFirst = document.contents === null;
  const root = isAtTop ? [] : ['profiles', name];
  if (!isAtTop && isFirst) document.set('profile', name);
  for (const [key, value] of Object.entries(settings)) {
    const path = [...root, ...key.split('.')];
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, value);
  }
  return document.toString();
}

interface ParsedMap {
  readonly map: YAMLMap;
  readonly lineOf: (node: unknown) => number;
  /** The line of an offset, from 1. */
  readonly lineAt: (offset: number) => number;
}

function parseMap({ path, text }: TextFile): Result<ParsedMap, string> {
  const parsed = parseYaml(path, text);
  if (!parsed.ok) return refuse(parsed.error.map(formatConfigProblem).join('\n'));
  const { top: map = new YAMLMap(), lineOf: lineAt } = parsed.value;
  const lineOf = (node: unknown): number => lineAt(startOf(node));
  const names = new Set<string>();
  for (const { key } of map.items) {
    if (names.has(keyText(key))) return refuse(`${path}:${lineOf(key)}: a key for the second time`);
    names.add(keyText(key));
  }
  return accept({ map, lineOf, lineAt });
}

function readSelected(
  { path }: TextFile,
  map: YAMLMap,
  lineOf: (node: unknown) => number,
): Result<NamedAt | undefined, string> {
  const node = map.get('profile', true);
  if (node === undefined || isEmpty(node)) return accept(undefined);
  const at = `${path}:${lineOf(node)}`;
  if (!isScalar(node) || typeof node.value !== 'string' || !isProfileName(node.value))
    return refuse(`${at}: profile: the name of a profile`);
  return accept({ name: node.value, origin: at });
}

/**
 * Keeps the lines of a block, moved to the left edge, and empties all others: the block can then be
 * read as a file of its own and keeps its line numbers.
 */
function extractLines(
  text: string,
  block: YAMLMap,
  lineAt: ParsedMap['lineAt'],
  without: ReadonlySet<string>,
): string {
  const starts = block.items.map(({ key }) => startOf(key));
  const end = block.range?.[2] ?? text.length;
  const kept = new Set<number>();
  for (const [index, { key }] of block.items.entries()) {
    if (without.has(keyText(key))) continue;
    const last = lineAt((starts[index + 1] ?? end) - 1);
    for (let line = lineAt(starts[index] ?? 0); line <= last; line += 1) kept.add(line);
  }
  const first = starts[0] ?? 0;
  const indent = first - (text.lastIndexOf('\n', first - 1) + 1);
  return text
    .split('\n')
    .map((line, index) => (kept.has(index + 1) ? line.slice(Math.min(indent, leading(line))) : ''))
    .join('\n');
}

function startOf(node: unknown): number {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
    ? Number(node.range[0])
    : 0;
}

function leading(line: string): number {
  return line.length - line.trimStart().length;
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function isEmpty(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}
