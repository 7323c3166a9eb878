/**
 * `sallyport recipe`: writes the configuration of a reverse proxy that asks Sallyport about every protected request.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';
import type { Recipe, RecipeOption, RenderedRecipe, WrittenRecipe } from '@sallyport/recipes';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

interface RecipeCommandOptions {
  readonly out: string;
  readonly overwrite?: boolean;
  readonly json?: boolean;
  /** A value for each option of the recipe that was given. */
  readonly [attribute: string]: unknown;
}

/** Declares a command for each recipe. */
export async function declareRecipe(group: Command, stdio: Stdio): Promise<void> {
  const { RECIPES, writeRecipe } = await import('@sallyport/recipes');
  for (const recipe of RECIPES) {
    const command = group
      .command(recipe.name)
      .description(recipe.description)
      .showHelpAfterError(`(sallyport recipe ${recipe.name} --help shows the options)`)
      .requiredOption('--out <folder>', 'where to write; made if it is not there', checkGiven)
      .option('--overwrite', 'replace files that are there with another content');
    const own = recipe.options.map((option) => [option.name, toOption(option)] as const);
    for (const [, option] of own) command.addOption(option);
    command
      .option('--json', 'print as JSON, errors too')
      .addHelpText(
        'after',
        '\nAn option that is not given is not in the recipe: repeat those of the last time, with --overwrite.',
      )
      .action(async (options: RecipeCommandOptions) => {
        const values = new Map<string, readonly string[]>();
        for (const [name, option] of own) {
          const value = options[option.attributeName()];
          if (value !== undefined) values.set(name, Array.isArray(value) ? value : []);
        }
        const rendered = await recipe.render(values);
        if (!rendered.ok) return command.error(`error: ${rendered.error}`);
        const { out, overwrite = false } = options;
        const write = () => writeRecipe(out, rendered.value, overwrite);
        process.exitCode = reportRecipe(recipe, rendered.value, write, options, stdio);
      });
  }
}

function reportRecipe(
  { name }: Recipe,
  rendered: RenderedRecipe,
  write: () => Result<WrittenRecipe, readonly string[]>,
  { out, json = false }: RecipeCommandOptions,
  stdio: Stdio,
): ExitCode {
  const fail = (error: string, description: string, hint = ''): ExitCode =>
    reportFailure({ error, description, hint, exitCode: EXIT.failure }, json, stdio);
  let result: ReturnType<typeof write>;
  try {
    result = write();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return fail(
      'out_unusable',
      `--out: found ${JSON.stringify(out)}, expected a folder that can be written to${code}`,
    );
  }
  if (!result.ok)
    return fail(
      'out_not_empty',
      `${out} has files of another content: ${result.error.join(', ')}; nothing was written`,
      'Give --overwrite to replace them.',
    );
  const { written, unchanged, removed } = result.value;
  const next = rendered.describeNextSteps(removed);
  if (json) {
    stdio.out(JSON.stringify({ ok: true, recipe: name, out, written, unchanged, removed, next }));
    return EXIT.ok;
  }
  const same = unchanged.length === 0 ? '' : `, ${unchanged.length} unchanged`;
  stdio.out(`${written.length} files written to ${out}${same}`);
  for (const file of removed) stdio.out(`${file} removed`);
  if (written.length + removed.length > 0) for (const step of next) stdio.out(`next: ${step}`);
  return EXIT.ok;
}

function toOption(option: RecipeOption): Option {
  const { name, value, description } = option;
  if (value === undefined) return new Option(`--${name}`, description);
  return new Option(`--${name} <${value}>`, description).argParser(
    (text: string, before: readonly string[] | undefined) => {
      checkGiven(text);
      const expected = option.check?.(text);
      if (expected !== undefined) throw new InvalidArgumentError(`Expected ${expected}.`);
      return option.isRepeatable === true ? [...(before ?? []), text] : [text];
    },
  );
}

/** An option that follows at once would otherwise be taken for the value. */
function checkGiven(text: string): string {
  if (text === '' || text.startsWith('-')) throw new InvalidArgumentError('Expected a value.');
  return text;
}
