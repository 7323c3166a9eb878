/**
 * The authorization request: its parameters, and whether they are pushed to the IdP.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import * as oidc from 'openid-client';
import type { IssuerDocument } from '../metadata/authorization-server-document.ts';
import type { RegisteredClient } from './client-refusal.ts';
import { toExchangeRefusal } from './exchange-refusal.ts';
import type { AuthorizationRequest, ExchangeRefusal } from './relying-party.ts';

/** `auth.userAuth.openId.pushedAuthorization`; `auto` pushes where the IdP's metadata requires it. */
export type PushedAuthorization = 'auto' | 'always' | 'never';

/** The client's own settings for each request. */
export interface AuthorizationRequestOptions {
  readonly client: RegisteredClient;
  readonly pushedAuthorization: PushedAuthorization;
  readonly now: () => number;
}

/**
 * Builds the URL to send the browser to.
 *
 * Where the parameters are pushed, a push that fails is a refusal: with a fallback to parameters through the
 * browser, an attacker could cause that fallback by breaking the push.
 *
 * @see [RFC 9126](https://www.rfc-editor.org/rfc/rfc9126) pushed authorization requests
 * @see [RFC 7636 section 4.3](https://www.rfc-editor.org/rfc/rfc7636#section-4.3) PKCE
 */
export async function buildAuthorizationUrl(
  configuration: oidc.Configuration,
  { state, nonce, codeChallenge, extra }: AuthorizationRequest,
  { client, pushedAuthorization, now }: AuthorizationRequestOptions,
): Promise<Result<URL, ExchangeRefusal>> {
  const { redirectUri, scopes } = client;
  const parameters = {
    ...extra,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    nonce,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  };
  if (!isPushed(configuration.serverMetadata(), pushedAuthorization))
    return accept(oidc.buildAuthorizationUrl(configuration, parameters));
  try {
    return accept(await oidc.buildAuthorizationUrlWithPAR(configuration, parameters));
  } catch (error) {
    return refuse(toExchangeRefusal(error, client, now() / 1_000));
  }
}

/**
 * What makes metadata useless for pushed requests, as detail of an error. Found when the metadata is read:
 * every sign-in would fail, and the first person would notice.
 */
export function findPushProblem(
  server: IssuerDocument,
  pushedAuthorization: PushedAuthorization,
): string | undefined {
  if (!isPushed(server, pushedAuthorization)) return undefined;
  if (server.pushed_authorization_request_endpoint !== undefined) return undefined;
  return `the metadata names no pushed_authorization_request_endpoint, which ${
    pushedAuthorization === 'always'
      ? 'auth.userAuth.openId.pushedAuthorization: always'
      : 'its own require_pushed_authorization_requests'
  } asks for`;
}

function isPushed(
  server: Pick<IssuerDocument, 'require_pushed_authorization_requests'>,
  pushedAuthorization: PushedAuthorization,
): boolean {
  switch (pushedAuthorization) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'auto':
      return server.require_pushed_authorization_requests === true;
  }
}
