/**
 * The identity providers by name, for the command line: it loads nothing else.
 *
 * @module
 */

/** Identity providers that a deployment can be set up at. */
export const PROVIDERS = ['keycloak', 'embedded', 'okta', 'entra', 'auth0', 'dex'] as const;

/** One of {@link PROVIDERS}. */
export type Provider = (typeof PROVIDERS)[number];
