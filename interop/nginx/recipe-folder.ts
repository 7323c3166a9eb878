/**
 * Where the committed recipe lies.
 *
 * @module
 */

/** `deploy/nginx/sallyport`. */
export const RECIPE_FOLDER: URL = new URL('../../deploy/nginx/sallyport/', import.meta.url);
