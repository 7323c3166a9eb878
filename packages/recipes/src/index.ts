/**
 * Recipes: configurations of reverse proxies that ask Sallyport about every protected request.
 *
 * @module
 */

export type { Recipe, RecipeOption, RecipeValues, RenderedRecipe } from './recipe.ts';
export { RECIPES } from './recipes.ts';
export { type WrittenRecipe, writeRecipe } from './write-recipe.ts';
