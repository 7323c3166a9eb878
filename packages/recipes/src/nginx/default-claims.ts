/**
 * The claims of a recipe that names none.
 *
 * @module
 */

/** Claims whose headers deploy/nginx sends. */
export const DEFAULT_CLAIMS: readonly string[] = ['groups', 'tenant_id'];
