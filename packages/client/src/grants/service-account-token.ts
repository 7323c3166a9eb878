/**
 * The token that Kubernetes projects into a pod.
 *
 * @module
 */

import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Grant, TokenRefusal } from '../grant.ts';
import { jwtBearerAssertion } from './client-authentication.ts';
import type { GrantPorts } from './ports.ts';
import { requestTokens } from './token-endpoint.ts';
import { readExpiry } from './token-expiry.ts';
import { isToken } from './token-response.ts';

/** The kubelet exchanges the file by a symbolic link. */
const TERMS: FileTerms = { maxBytes: 65_536, mayBeLink: true, owner: 'any_user' };

/** Whether the file is the bearer itself or proves the client. */
export type ServiceAccountTokenOptions =
  | { readonly path: string; readonly use: 'Bearer' }
  | {
      readonly path: string;
      readonly use: 'ClientAssertion';
      readonly tokenEndpoint: string;
      /** Empty where the assertion alone identifies the client. */
      readonly clientId: string;
      readonly scopes: readonly string[];
      /** Empty: none is asked for. */
      readonly audience: string;
    };

/**
 * Creates the grant. The file is read at each use, because the kubelet replaces it.
 *
 * `Bearer` sends the token itself to the platform, which must take the cluster as an issuer.
 * `ClientAssertion` presents it at the token endpoint, for an identity provider that trusts the
 * cluster; the pod then needs no secret either.
 *
 * @see [RFC 7523 section 2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2)
 */
export function createServiceAccountTokenGrant(
  options: ServiceAccountTokenOptions,
  ports: Pick<GrantPorts, 'fetch' | 'now'>,
): Grant {
  return {
    kind: 'service_account_token',
    isInteractive: false,
    async obtain(attempt) {
      const read = readToken(options.path);
      if (!read.ok) return read;
      const token = read.value;
      if (options.use === 'Bearer')
        return accept({
          accessToken: token,
          expiresAt: readExpiry(token),
          obtainedAt: ports.now(),
          refreshToken: undefined,
          scopes: [],
        });
      const { tokenEndpoint, clientId, scopes, audience } = options;
      return await requestTokens(
        {
          tokenEndpoint,
          authentication: jwtBearerAssertion(clientId, token),
          parameters: {
            grant_type: 'client_credentials',
            ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
            ...(audience === '' ? {} : { audience }),
          },
          scopes,
        },
        ports,
        attempt,
      );
    },
  };
}

function readToken(path: string): Result<string, TokenRefusal> {
  const unusable = (found: string): Result<never, TokenRefusal> =>
    refuse({
      error: 'service_account_token_unavailable',
      description: `${path}: found ${found}, expected the token of a service account.`,
      hint: 'Project a serviceAccountToken volume into the pod, with the platform or the identity provider as audience.',
    });
  const read = readBoundedFile(path, TERMS);
  if (!read.ok) {
    const { reason, found } = read.error;
    if (reason === 'too_large') return unusable('a file that is too large');
    return unusable(reason === 'unreadable' ? 'a file that cannot be read' : found);
  }
  // The kubelet writes no line feed, people who write such a file by hand do.
  const token = read.value.replace(/\r?\n$/, '');
  return isToken(token) ? accept(token) : unusable('something else');
}
