/**
 * What `sallyport init` prints of the folder that it has written.
 *
 * @module
 */

import { dirname, relative, sep } from 'node:path';
import { formatSection, joinSections } from '../terminal/sections.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { Installation } from './installation.ts';

/** A path as the operator would write it. */
export function here(path: string): string {
  return relative(process.cwd(), path) || '.';
}

/**
 * Says what was written, what is to be registered, and what comes next.
 *
 * @param files - Absolute paths; those of a recipe are counted.
 * @param next - One step a line.
 */
export function reportInstallation(
  { clientIds, recipe, register }: Pick<Installation, 'clientIds' | 'recipe' | 'register'>,
  files: readonly string[],
  next: readonly string[],
): readonly string[] {
  const others = files.filter((file) => dirname(file) !== recipe?.folder);
  return joinSections([
    formatSection('Written', [
      ...others.map((file) => [here(file)]),
      ...(recipe === undefined
        ? []
        : [[`${here(recipe.folder)}: ${files.length - others.length} files of the recipe`]]),
    ]),
    formatSection(
      'To register at the identity provider',
      Object.entries(register).map(([name, address]) =>
        name === 'native_redirect_uri'
          ? [clientIds.native, 'redirect_uri', address]
          : [clientIds.web, name, address],
      ),
    ),
    formatSection(
      'Next',
      next.map((step, index) => [`${index + 1}.`, step]),
    ),
  ]);
}

/** How the service is started, and how the whole is checked then. */
export interface StartCommands {
  readonly serve: string;
  readonly doctor: string;
}

/** Writes the commands for a configuration. */
export function describeStart({ configFile }: Pick<Installation, 'configFile'>): StartCommands {
  const config = shellWord(here(configFile));
  return {
    serve: `sallyport serve --config ${config}`,
    doctor: `sallyport doctor --config ${config}`,
  };
}

/**
 * The last lines: what is not there yet, what starts the service, and what checks it then.
 *
 * @param hasSecret - Whether the secret of the web app is there.
 */
export function reportEnd(
  { clientIds, secrets }: Pick<Installation, 'clientIds' | 'secrets'>,
  hasSecret: boolean,
  { serve, doctor }: StartCommands,
): readonly string[] {
  const [web] = secrets;
  return hasSecret || web === undefined
    ? [`Done. Not running yet: start it with ${serve}`, `Then check it with ${doctor}`]
    : [
        `Done. Still to do: write the secret of the web app ${clientIds.web} into ${here(web.file)}`,
        `Not running yet: start it with ${serve}`,
        `Then check it with ${doctor}`,
      ];
}

/** Says which files are there already: by folder how many, the installation's own folder as a whole; one alone by its name. */
export function describePresent(folder: string, present: readonly string[]): string {
  const byFolder = Map.groupBy(present, (file) =>
    file.startsWith(folder + sep) ? folder : dirname(file),
  );
  const shown = [...byFolder].map(([at, files]) =>
    files.length === 1 ? here(files[0] ?? at) : `${here(at)} (${files.length} files)`,
  );
  return `there already: ${shown.join(', ')}; nothing was written`;
}
