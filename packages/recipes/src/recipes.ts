/**
 * All recipes. A further proxy is a folder beside `nginx/` and one entry here.
 *
 * @module
 */

import { NGINX } from './nginx/options.ts';
import type { Recipe } from './recipe.ts';

/** In the order the help shows them. */
export const RECIPES: readonly Recipe[] = [NGINX];
