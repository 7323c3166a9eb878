/**
 * Builds the command before the tests that start it as a process: they run what is published, and a process
 * of the bundle starts in half the time of one of the sources.
 *
 * @module
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildCommand } from '../build/build-command.ts';
import { COMMAND_FOLDER, OUTPUT } from '../build/layout.ts';

/** Apart from what `npm run build` makes. conformance/wire/command-file.ts names the same folder. */
const FOLDER = join(OUTPUT, 'suite');

/** On the global object: each project that names this file gets a copy of the module. */
const BUILT = Symbol.for('sallyport.suite.built-command');

/** Builds once in a run. Vitest calls it by this name before the files of a project (`globalSetup`). */
export function setup(): Promise<void> {
  const kept: { [BUILT]?: Promise<void> } = globalThis as object;
  kept[BUILT] ??= build();
  return kept[BUILT];
}

async function build(): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  const made = mkdtempSync(`${FOLDER}-`);
  try {
    await buildCommand(made, undefined);
    // Another run may be using the folder: it stays where nothing changed, which is also what code is kept compiled for.
    if (!areEqual(made, FOLDER)) replaceFolder(FOLDER, made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function replaceFolder(folder: string, made: string): void {
  const old = `${made}-old`;
  try {
    renameSync(folder, old);
  } catch {
    // There is none yet.
  }
  renameSync(made, folder);
  rmSync(old, { recursive: true, force: true });
}

function areEqual(one: string, other: string): boolean {
  try {
    const files = filesBelow(one);
    return (
      files.join() === filesBelow(other).join() &&
      files.every((file) => readFileSync(join(one, file)).equals(readFileSync(join(other, file))))
    );
  } catch {
    return false;
  }
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(folder, COMMAND_FOLDER), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath.slice(folder.length), entry.name))
    .toSorted();
}
