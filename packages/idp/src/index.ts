/**
 * The identity provider side: the three applications and the embedded development IdP.
 *
 * @module
 */

export {
  createEmbeddedIdp,
  type EmbeddedIdp,
  type EmbeddedIdpOptions,
} from './embedded/embedded-idp.ts';
export type { LogIdpEvent } from './embedded/log-event.ts';
export type { SeededUser } from './embedded/users.ts';
export {
  API_SCOPE,
  createIdpSpec,
  type GrantType,
  type IdpApplication,
  type IdpClientIds,
  type IdpSpec,
  type IdpSpecOptions,
  NATIVE_REDIRECT_URI,
} from './spec/idp-spec.ts';
