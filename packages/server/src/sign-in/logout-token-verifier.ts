/**
 * Verifies logout tokens against what the IdP publishes.
 *
 * @module
 */

import { type Result, refuse, SallyportError } from '@sallyport/protocol';
import { IssuerKeys } from '../bearer/issuer-keys.ts';
import type { IssuerFetch } from '../bearer/issuer-metadata.ts';
import { parseJwt } from '../bearer/jwt.ts';
import { verifyJwtSignature } from '../bearer/jwt-signature.ts';
import { isSignatureAlgorithm } from '../bearer/signature.ts';
import type { Schedule } from '../issuer/idp-metadata.ts';
import { type LogoutToken, validateLogoutToken } from './logout-token.ts';
import type { LogoutTokenRefusal } from './relying-party.ts';

/** As much of the IdP's metadata as it takes. */
export interface PublishedIdp {
  readonly issuer: string;
  readonly jwks_uri?: string;
  readonly id_token_signing_alg_values_supported?: readonly string[];
}

/** Settings and ports of {@link createLogoutTokenVerifier}. */
export interface LogoutTokenVerifierOptions {
  readonly clientId: string;
  /** The metadata, when there is any. */
  readonly current: () => PublishedIdp | undefined;
  /** The metadata, or the result of one attempt to get it now. */
  readonly need: () => Promise<PublishedIdp | undefined>;
  readonly fetch: IssuerFetch;
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly onFailure: (cause: unknown) => void;
}

/** Verifies logout tokens until it is closed. */
export interface LogoutTokenVerifier {
  /** Never rejects for a token, nor for an IdP that is down. */
  verify(token: string): Promise<Result<LogoutToken, LogoutTokenRefusal>>;
  close(): void;
}

/** What an IdP signs with that does not say (OIDC Back-Channel Logout 1.0 section 2.6, step 3). */
const DEFAULT_ALGORITHMS: readonly string[] = ['RS256'];

/**
 * Creates the verifier. It fetches nothing before the first token.
 *
 * The algorithms are those that the IdP offers for id_tokens, as far as they are asymmetric. Whatever
 * costs nothing is checked before the signature; forged tokens make the IdP be asked once per
 * cool-down, for the metadata that is missing and for a key that is not known together. Within it a key
 * that is not known decides nothing: whoever forges a token just before the IdP takes a new key into use
 * would otherwise have the IdP's own tokens refused for good.
 */
export function createLogoutTokenVerifier(
  options: LogoutTokenVerifierOptions,
): LogoutTokenVerifier {
  const { clientId, current, now, fetch, schedule, onFailure } = options;
  const keys = new IssuerKeys({
    now,
    fetch,
    schedule,
    onFailure,
    component: 'idp',
    locate: async () => findKeyAddress(await options.need()),
    onKeyGone: () => {},
    onLoaded: () => {},
  });

  return {
    async verify(token) {
      const parsed = parseJwt(token);
      if (!parsed.ok) return invalid(parsed.error);
      if (!isSignatureAlgorithm(parsed.value.algorithm)) return invalid('alg');
      const { coolDownMs } = keys;
      if (current() === undefined) await keys.renew();
      const idp = current();
      if (idp === undefined) return refuse({ reason: 'idp_unreachable' });
      if (!algorithmsOf(idp).includes(parsed.value.algorithm)) return invalid('alg');
      const audience = { issuer: idp.issuer, clientId };
      const validated = validateLogoutToken(parsed.value, audience, now() / 1_000);
      if (!validated.ok) return invalid(validated.error);
      const result = await verifyJwtSignature(keys, parsed.value);
      switch (result) {
        case 'verified':
          return validated;
        case 'undecided':
          return refuse({ reason: 'idp_unreachable' });
        case 'unknown_key':
          return coolDownMs > 0 ? pending(coolDownMs) : invalid(result);
        case 'signature':
          return invalid(result);
      }
    },
    close: () => keys.close(),
  };
}

/** As for id_tokens: what is no list says nothing. */
function algorithmsOf({
  id_token_signing_alg_values_supported: offered,
}: PublishedIdp): readonly string[] {
  return Array.isArray(offered) ? (offered as readonly string[]) : DEFAULT_ALGORITHMS;
}

function pending(coolDownMs: number): Result<never, LogoutTokenRefusal> {
  return refuse({ reason: 'key_pending', retryAfterSeconds: Math.ceil(coolDownMs / 1_000) });
}

function invalid(check: string): Result<never, LogoutTokenRefusal> {
  return refuse({ reason: 'token_invalid', check });
}

/** Where the keys of id_tokens are: over TLS, unless the IdP itself is on plain http, on the loopback. */
function findKeyAddress(idp: PublishedIdp | undefined): string {
  if (idp === undefined)
    throw new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp', retryAfterSeconds: 5 });
  const uri = URL.parse(idp.jwks_uri ?? '');
  const isUsable =
    uri?.protocol === 'https:' || (uri?.protocol === 'http:' && idp.issuer.startsWith('http:'));
  if (uri === null || !isUsable)
    throw new SallyportError('SP_IDP_PROTOCOL', {
      component: 'idp',
      detail: 'jwks_uri is missing or not https',
    });
  return uri.href;
}
