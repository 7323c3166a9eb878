/**
 * Writes the generated files of the nginx recipe from the route groups; `--help` says how.
 *
 * @module
 */

import { parseCommandLine, USAGE } from './nginx-recipe/command-line.ts';
import { renderNginxRecipe } from './nginx-recipe/recipe.ts';
import { writeRecipe } from './nginx-recipe/write-recipe.ts';

process.exitCode = main(process.argv.slice(2));

/** @returns The exit code: 2 for a command line that was not understood, 1 when nothing could be written. */
function main(args: readonly string[]): number {
  const parsed = parseCommandLine(args);
  if (!parsed.ok) {
    console.error(parsed.error);
    return 2;
  }
  const { isHelp, out, recipe } = parsed.value;
  if (isHelp) {
    console.log(USAGE);
    return 0;
  }
  const files = renderNginxRecipe(recipe);
  try {
    for (const line of writeRecipe(out, files)) console.log(line);
    return 0;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    console.error(
      `--out: found ${JSON.stringify(out)}, expected a folder that can be written to${code}`,
    );
    return 1;
  }
}
