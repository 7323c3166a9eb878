/**
 * Finds imports between the rooms of a package that run back up.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';

/** The text of each source file, by its path from the package's source folder. */
export type SourceFiles = ReadonlyMap<string, string>;

/** Static and dynamic imports, re-exports, and files that are started as a thread or process. */
const IMPORTS = [
  /\bfrom '(?<path>\.[^']+)'/g,
  /\bimport '(?<path>\.[^']+)'/g,
  /\bimport\('(?<path>\.[^']+)'\)/g,
  /\bnew URL\('(?<path>\.[^']+)', import\.meta\.url\)/g,
];
/** Tests import what they test and what prepares it, wherever it is. */
const TEST_FILE = /\.test\.ts$|(?:^|\/)testing\//;

/** Reads the product's source files below a folder; tests and what only tests use are left out. */
export function readSourceFiles(folder: string): SourceFiles {
  return new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !TEST_FILE.test(path))
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
}

/**
 * Finds files outside every room, and imports of a room that comes later.
 *
 * Does not look at imports inside one room: the linter's `import/no-cycle` does.
 *
 * @param rooms - Folders, from the bottom to the top; the innermost one that holds a file is its room.
 * @returns One line for each breach, sorted; empty when all is well.
 */
export function findBreaches(files: SourceFiles, rooms: readonly string[]): string[] {
  const breaches: string[] = [];
  for (const [path, text] of files) {
    const level = levelOf(path, rooms);
    if (level === -1) breaches.push(`${path} lies in no room of the table`);
    for (const imported of importsOf(path, text)) {
      const target = levelOf(imported, rooms);
      if (level !== -1 && target > level)
        breaches.push(`${path} imports ${imported}, which is above it`);
    }
  }
  return breaches.toSorted();
}

function importsOf(path: string, text: string): string[] {
  return IMPORTS.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ groups }) =>
      normalize(join(dirname(path), groups?.['path'] ?? '')),
    ),
  );
}

/** The place of a file's room in the table, or -1. */
function levelOf(path: string, rooms: readonly string[]): number {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const level = rooms.indexOf(folder);
    if (level !== -1) return level;
  }
  return path.includes('/') ? -1 : rooms.indexOf('');
}
