/**
 * The configuration of an nginx for the doctor: a file with what it includes, or what `nginx -T` writes.
 *
 * @module
 */

import { readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { type Directive, listSites, type NginxSubject, parseNginx } from '@sallyport/doctor';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';

const TERMS: FileTerms = { maxBytes: 4_194_304, mayBeLink: true, owner: 'any_user' };
const FILES_MAX = 500;
/** In all places where a file is included. */
const DIRECTIVES_MAX = 500_000;
/** How `nginx -T` begins each file. */
const FILE_MARK = /^# configuration file (\/.+):$/gm;

/** Where texts of included files come from. */
interface Source {
  /** Path of the first file. */
  readonly main: string;
  /** Folders that a relative `include` is looked for in, the first that has it. */
  readonly folders: readonly string[];
  /** Names in a folder. */
  readonly list: (folder: string) => readonly string[];
  /** @returns Otherwise what was found in place of a text. */
  readonly read: (path: string) => Result<string, string>;
}

/**
 * Reads it. A file that an `include` names and that is not there is a failure, as it is for nginx; a pattern may match none.
 *
 * A relative `include` is looked for beside the file and one folder above it: nginx itself takes them from the folder of its
 * main file, which is `/etc/nginx` where the file lies in `/etc/nginx/conf.d`.
 */
export function readNginx(path: string): Result<NginxSubject, Failure> {
  const shown = withoutUnprintable(path);
  const unusable = (found: string): Result<never, Failure> =>
    refuse({
      error: 'invalid_configuration',
      description: `${shown}: found ${found}, expected a configuration of nginx, or what nginx -T writes`,
      hint: '',
      exitCode: EXIT.failure,
    });
  const read = readBoundedFile(path, TERMS);
  if (!read.ok) return unusable(read.error.found);
  const directives = expand(toSource(path, read.value));
  if (!directives.ok) return unusable(withoutUnprintable(directives.error));
  return accept({ name: shown, sites: listSites(directives.value) });
}

function toSource(path: string, text: string): Source {
  const marks = [...text.matchAll(FILE_MARK)];
  const [, main] = marks[0] ?? [];
  if (main === undefined)
    return {
      main: path,
      folders: [dirname(path), join(dirname(path), '..')],
      list: listFolder,
      read(asked) {
        if (asked === path) return accept(text);
        const read = readBoundedFile(asked, TERMS);
        return read.ok ? read : refuse(`${asked}: ${read.error.found}`);
      },
    };
  const files = new Map(
    marks.map((mark, at) => [
      mark[1] ?? '',
      text.slice(mark.index + mark[0].length, marks[at + 1]?.index),
    ]),
  );
  return {
    main,
    folders: [dirname(main)],
    list: (folder) =>
      [...files.keys()].filter((file) => dirname(file) === folder).map((file) => basename(file)),
    read(asked) {
      const found = files.get(asked);
      return found === undefined ? refuse(`${asked}: no such file in it`) : accept(found);
    },
  };
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** All directives, those of included files in the place of their `include`. */
function expand(source: Source): Result<readonly Directive[], string> {
  const known = new Map<string, readonly Directive[]>();
  const open = new Set<string>();
  let count = 0;
  return readFile(source.main);

  function readFile(path: string): Result<readonly Directive[], string> {
    const before = known.get(path);
    if (before !== undefined) return accept(before);
    if (open.has(path)) return refuse(`${path}, which includes itself`);
    if (known.size > FILES_MAX) return refuse('files that include too many others');
    const text = source.read(path);
    if (!text.ok) return text;
    const parsed = parseNginx(text.value);
    if (!parsed.ok) return refuse(`${path}, line ${parsed.error.line}: ${parsed.error.found}`);
    open.add(path);
    const filled = fill(parsed.value);
    open.delete(path);
    if (filled.ok) known.set(path, filled.value);
    return filled;
  }

  function fill(directives: readonly Directive[]): Result<readonly Directive[], string> {
    const filled: Directive[] = [];
    for (const directive of directives) {
      const { name, words, block } = directive;
      const within = block === undefined ? accept(undefined) : fill(block);
      if (!within.ok) return within;
      if (name !== 'include' || block !== undefined) {
        filled.push({ ...directive, block: within.value });
        continue;
      }
      for (const path of listIncluded(words[0] ?? '', source)) {
        const included = readFile(path);
        if (!included.ok) return included;
        count += included.value.length;
        if (count > DIRECTIVES_MAX) return refuse('files that include each other too often');
        for (const each of included.value) filled.push(each);
      }
    }
    return accept(filled);
  }
}

/** The files of an `include`, whose last part may be a pattern; nginx's own lists of types and parameters are left out. */
function listIncluded(include: string, { folders, list }: Source): readonly string[] {
  if (/(?:^|\/)(?:mime\.types|\w+_params|\w+\.conf\.default)$/.test(include)) return [];
  const places = isAbsolute(include) ? [include] : folders.map((folder) => join(folder, include));
  const isPattern = /[*?]/.test(basename(include));
  for (const place of places) {
    const pattern = toPattern(basename(place));
    const names = list(dirname(place)).filter((name) => pattern.test(name));
    if (names.length > 0) return names.toSorted().map((name) => join(dirname(place), name));
  }
  return isPattern ? [] : places.slice(0, 1);
}

function toPattern(name: string): RegExp {
  const escaped = name.replaceAll(/[^*?\w-]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
