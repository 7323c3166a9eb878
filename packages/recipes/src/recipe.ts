/**
 * What a recipe is: a value that describes the configuration of one reverse proxy and renders it.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';

/** An option of a recipe, as the command line has it. */
export interface RecipeOption {
  /** In kebab-case, without the dashes: `bearer-header`. */
  readonly name: string;
  /** What its value is: `name`, `address`, `folder`. Absent for a switch. */
  readonly value?: string;
  /** For the help, without a period at the end. */
  readonly description: string;
  /** Whether it may be given several times; otherwise the last one counts. */
  readonly isRepeatable?: boolean;
  /**
   * Looks at the form of a value. Absent accepts every value.
   *
   * @returns What was expected in its place; `undefined` for a value that can be used.
   */
  check?(value: string): string | undefined;
}

/** Values by the name of their option; a switch that is on has an empty list. */
export type RecipeValues = ReadonlyMap<string, readonly string[]>;

/** The files of one installation. */
export interface RenderedRecipe {
  /** Content by file name, without folders. */
  readonly files: ReadonlyMap<string, string>;
  /** Names that the recipe has with other options. Such a file of an earlier run has to go. */
  readonly absent: readonly string[];
  /**
   * Says what is left to do for the operator, one sentence a line.
   *
   * @param removed - The names of {@link RenderedRecipe.absent} that an earlier run had left.
   */
  describeNextSteps(removed: readonly string[]): readonly string[];
}

/** The part of the configuration that the operator adapts. */
export interface RecipeSite {
  /** Path below the proxy's folder. */
  readonly file: string;
  /**
   * Renders it; loads its code only then.
   *
   * @param publicUrl - An origin.
   * @returns The text; or one line that names what cannot be written.
   */
  render(publicUrl: string): Promise<Result<string, string>>;
  /**
   * Says what is left to do, one command or sentence a line.
   *
   * @param isInPlace - Whether the files lie in the proxy's own folder; otherwise they are to be copied.
   */
  describeNextSteps(publicUrl: string, isInPlace: boolean): readonly string[];
}

/** The recipe of one reverse proxy. */
export interface Recipe {
  /** Name of the proxy, as in `sallyport recipe nginx`. */
  readonly name: string;
  /** For the help, without a period at the end. */
  readonly description: string;
  readonly options: readonly RecipeOption[];
  /** Of a new installation: what includes the files of the recipe, once they lie in `sallyport/` of the proxy's folder. */
  readonly site: RecipeSite;
  /**
   * Renders the files; loads its code only then. Writes nothing.
   *
   * @param values - Each checked by its option.
   * @returns The files; or one line that names the options that do not go together, or what of the machine
   *   forbids a value.
   */
  render(values: RecipeValues): Promise<Result<RenderedRecipe, string>>;
}
