/**
 * Every setting's value, and which source won.
 *
 * @module
 */

import { dirname, resolve } from 'node:path';
import type { ValuePath } from './file/nested-value.ts';
import type { ConfigFileReading } from './file/read-config-file.ts';
import type { ValueProblem } from './kinds/kind.ts';
import { type ConfigProblem, describeFound, displayKey } from './problems.ts';
import { isWithin, type PlacedSetting, SETTING_BY_KEY, SETTINGS } from './schema/schema.ts';
import { suggestKey } from './suggestion.ts';

/** Where a configuration comes from. */
export interface ConfigSources {
  /** The configuration file, read already. Untrusted text. */
  readonly file?: { readonly path: string; readonly text: string };
  /** The environment; only the documented variables are looked at, and an empty one counts as not set. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By dotted key; text is read as from the environment, `undefined` counts as not given. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** Which source gave a value; the earlier one wins. */
export type Origin = 'flag' | 'env' | 'file' | 'default';

/** Where to correct a value. */
type Place = Pick<ConfigProblem, 'file' | 'line' | 'variable'>;

/** Outcome of {@link resolveSettings}. */
export interface ResolvedSettings {
  /** One of the setting's type for every key; the default where the given one is wrong. */
  readonly values: Map<string, unknown>;
  readonly origins: ReadonlyMap<string, Origin>;
  /** Keys whose value stands for a wrong one, so that no rule should judge it. */
  readonly unsound: ReadonlySet<string>;
  /** Says where to correct a key or a part of it (`key[2]`, `key[2].name`), given or not. */
  readonly placeOf: (key: string) => Place;
  /** Whether the file or a flag gives anything within a block. */
  readonly isGiven: (block: string) => boolean;
  readonly problems: readonly ConfigProblem[];
  /** Variables that yielded to one of another value. */
  readonly yielded: readonly ConfigProblem[];
}

/** An environment variable, and how its text is read. */
export interface SettingVariable {
  readonly name: string;
  /** Brings its text into what the file would hold; the kind's own way when absent. */
  readonly fromText?: (text: string) => unknown;
  /** It counts where none before it is set; another value than theirs is then a warning. */
  readonly yields?: true;
}

/** Which variables give a setting, the most specific first. */
export type VariablesOf = (placed: PlacedSetting) => readonly SettingVariable[];

const PATH_KIND = 'path';

const ownVariable: VariablesOf = ({ setting }) =>
  setting.variable === undefined ? [] : [{ name: setting.variable }];

interface GivenValue {
  readonly origin: Origin;
  readonly isYielding?: boolean;
  readonly place: Place;
  readonly value: unknown;
  readonly lineOfPart: (path: ValuePath) => number | undefined;
}

/**
 * Resolves every setting: flag, then environment, then file, then default.
 *
 * A value that is overridden is checked all the same: it is wrong today and takes effect the day the
 * other source goes away. Two variables that give one setting different values are a problem, because no
 * order between them fits every installation; a variable that yields is the exception. Does not check how values
 * relate to each other.
 */
export function resolveSettings(
  sources: ConfigSources,
  file: ConfigFileReading,
  variablesOf: VariablesOf = ownVariable,
): ResolvedSettings {
  const values = new Map<string, unknown>();
  const origins = new Map<string, Origin>();
  const unsound = new Set<string>();
  const winners = new Map<string, GivenValue>();
  const problems: ConfigProblem[] = [];
  const yielded: ConfigProblem[] = [];

  for (const placed of SETTINGS) {
    const { key, setting } = placed;
    values.set(key, setting.fallback);
    origins.set(key, 'default');
    if (!file.isReadable || [...file.brokenBlocks].some((block) => isWithin(key, block)))
      unsound.add(key);
    const givens = listGiven(placed, sources, file, variablesOf(placed));
    for (const { isYielding, ...conflict } of findConflicts(placed, givens))
      (isYielding ? yielded : problems).push(conflict);
    for (const [index, given] of givens.entries()) {
      const parsed = setting.kind.parse(given.value);
      if (!parsed.ok) problems.push(...parsed.error.map((reason) => toProblem(key, given, reason)));
      if (index > 0) continue;
      origins.set(key, given.origin);
      winners.set(key, given);
      if (parsed.ok) values.set(key, toAbsolute(parsed.value, placed, given.origin, sources));
      else unsound.add(key);
    }
  }
  for (const { key, setting } of SETTINGS) {
    if (setting.fallbackFrom === undefined || origins.get(key) !== 'default') continue;
    const source = values.get(setting.fallbackFrom.key);
    if (typeof source === 'string' && source !== '')
      values.set(key, setting.fallbackFrom.derive(source));
  }

  const flagged = Object.keys(sources.flags).filter((key) => sources.flags[key] !== undefined);
  problems.push(...flagged.filter((key) => !SETTING_BY_KEY.has(key)).map(toUnknownFlag));
  return {
    values,
    origins,
    unsound,
    problems,
    yielded,
    isGiven: (block) =>
      [...file.entries.keys(), ...file.blockLines.keys(), ...flagged].some((key) =>
        isWithin(key, block),
      ),
    placeOf: (key) => {
      const [, name = key, rest = ''] = /^([^[]*)(\[.*)$/.exec(key) ?? [];
      const winner = winners.get(name);
      return winner === undefined
        ? selectPlace(name, sources, file)
        : placeOfPart(winner, parsePath(rest));
    },
  };
}

/**
 * A relative path is resolved once, against the folder of the configuration file that gives it, else against the working folder:
 * messages then name the file that was looked for.
 */
function toAbsolute(
  value: unknown,
  { setting }: PlacedSetting,
  origin: Origin,
  { file }: ConfigSources,
): unknown {
  if (setting.kind.name !== PATH_KIND || typeof value !== 'string' || !value.startsWith('.'))
    return value;
  return origin === 'file' && file !== undefined
    ? resolve(dirname(file.path), value)
    : resolve(value);
}

function listGiven(
  { key, setting }: PlacedSetting,
  sources: ConfigSources,
  file: ConfigFileReading,
  variables: readonly SettingVariable[],
): readonly GivenValue[] {
  const given: GivenValue[] = [];
  const fromText = (value: unknown): unknown =>
    typeof value === 'string' ? setting.kind.fromText(value) : value;
  const flag = Object.hasOwn(sources.flags, key) ? sources.flags[key] : undefined;
  if (flag !== undefined) {
    const place = { file: 'flag', line: undefined };
    given.push({ origin: 'flag', place, value: fromText(flag), lineOfPart: noLine });
  }
  for (const { name, fromText: read = fromText, yields } of variables) {
    const text = sources.env[name];
    if (text === undefined || text === '') continue;
    const place = { file: 'environment', line: undefined, variable: name };
    const value = read(text);
    const isYielding = yields === true;
    given.push({ origin: 'env', place, value, lineOfPart: noLine, isYielding });
  }
  const entry = file.entries.get(key);
  if (entry !== undefined && sources.file !== undefined) {
    const { value, line, lineOfPart } = entry;
    given.push({ origin: 'file', place: { file: sources.file.path, line }, value, lineOfPart });
  }
  return given;
}

function findConflicts(
  { key, setting: { kind } }: PlacedSetting,
  givens: readonly GivenValue[],
): readonly (ConfigProblem & { readonly isYielding: boolean })[] {
  const [first, ...others] = givens.filter(({ origin }) => origin === 'env');
  if (first === undefined) return [];
  const isWithheld = kind.isWithheld === true;
  return others
    .filter(({ value }) => JSON.stringify(value) !== JSON.stringify(first.value))
    .map(({ place, value, isYielding = false }) => ({
      ...place,
      key,
      found: describeFound(value, isWithheld),
      expected: isYielding
        ? `${describeFound(first.value, isWithheld)} as in ${first.place.variable}, which wins`
        : `the same as in ${first.place.variable}, or one of the two alone`,
      isYielding,
    }));
}

function toProblem(
  key: string,
  given: GivenValue,
  { expected, index, path = [], found }: ValueProblem,
): ConfigProblem {
  const isWithheld = SETTING_BY_KEY.get(key)?.setting.kind.isWithheld === true;
  const whole = index === undefined ? path : [index, ...path];
  return {
    ...placeOfPart(given, whole),
    key: key + whole.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join(''),
    found: found ?? describeFound(partOf(given.value, whole), isWithheld),
    expected,
  };
}

function partOf(value: unknown, path: ValuePath): unknown {
  let part = value;
  for (const step of path) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, step)) return undefined;
    part = (part as Record<string | number, unknown>)[step];
  }
  return part;
}

/** Reads `[2].audiences[0]`. */
function parsePath(text: string): ValuePath {
  return [...text.matchAll(/\[(\d+)\]|\.([^.[]+)/g)].map(([, index, name = '']) =>
    index === undefined ? name : Number(index),
  );
}

function placeOfPart({ place, lineOfPart }: GivenValue, path: ValuePath): Place {
  const line = lineOfPart(path);
  return line === undefined ? place : { ...place, line };
}

/** Flags and variables have no lines. */
function noLine(): undefined {
  return undefined;
}

function toUnknownFlag(key: string): ConfigProblem {
  const dot = key.lastIndexOf('.');
  return {
    file: 'flag',
    line: undefined,
    key: displayKey(key),
    found: 'an unknown key',
    expected: suggestKey(key.slice(0, Math.max(0, dot)), key.slice(dot + 1)),
  };
}

/** Where a key that is not given belongs: under its nearest block in the file, else the environment. */
function selectPlace(key: string, sources: ConfigSources, file: ConfigFileReading): Place {
  const variable = SETTING_BY_KEY.get(key)?.setting.variable;
  const place: Place =
    sources.file === undefined
      ? { file: 'environment', line: undefined }
      : { file: sources.file.path, line: nearestLine(key, file.blockLines) };
  return variable === undefined ? place : { ...place, variable };
}

function nearestLine(key: string, blockLines: ReadonlyMap<string, number>): number {
  const names = key.split('.');
  for (let depth = names.length - 1; depth > 0; depth -= 1) {
    const line = blockLines.get(names.slice(0, depth).join('.'));
    if (line !== undefined) return line;
  }
  return 1;
}
