/**
 * The identity provider side: the three applications and the embedded development IdP.
 *
 * @module
 */

export {
  createEmbeddedIdp,
  type EmbeddedIdp,
  type EmbeddedIdpOptions,
} from './embedded-idp.ts';
export {
  API_SCOPE,
  createIdpSpec,
  type GrantType,
  type IdpApplication,
  type IdpClientIds,
  type IdpSpec,
  type IdpSpecOptions,
  NATIVE_REDIRECT_URI,
} from './idp-spec.ts';
export type { LogIdpEvent } from './log-event.ts';
export type { SeededUser } from './users.ts';
