/**
 * Names that the command line has as choices and defaults: it loads nothing else.
 *
 * @module
 */

/** Identity providers that a deployment can be set up at. */
export const PROVIDERS = ['keycloak', 'embedded', 'okta', 'entra', 'auth0', 'dex'] as const;

/** One of {@link PROVIDERS}. */
export type Provider = (typeof PROVIDERS)[number];

/** The Secret of the control plane's services, as the chart names it: the requirement leaves the name open. */
export const CONTROL_PLANE_SECRET = 'control-plane-services';
