/**
 * The recipe of nginx, rendered from a program: `@sallyport/recipes/nginx`.
 *
 * @module
 */

export { DEFAULT_RECIPE, type NginxRecipeOptions, renderNginxRecipe } from './render.ts';
export { VERDICT_FOLDER } from './verdict-cache.ts';
