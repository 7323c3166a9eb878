/**
 * Port: the clients at an identity provider that stand behind API keys. One key, one client, so that a key can be
 * revoked singly; never the shared service app.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';

/** Whom an API key is for. */
export interface ApiKeyOwner {
  /** Letters, digits and `.`, `_`, `-`; at most 63, the first and the last a letter or digit. */
  readonly organization: string;
  /** As `organization`. */
  readonly cluster: string;
}

/** The client behind one API key. */
export interface ApiKeyClient extends ApiKeyOwner {
  readonly clientId: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** A new client. The secret is shown here and never again: never print the value as a whole. */
export interface IssuedApiKeyClient extends ApiKeyClient {
  readonly clientSecret: string;
}

/** Why an identity provider registers no client. */
export type ApiKeyIssuerRefusal = 'organization_unusable' | 'cluster_unusable' | 'too_many_clients';

/** An identity provider that registers clients of the grant `client_credentials` with scope `all`. */
export interface ApiKeyIssuer {
  /** Registers a client. It can be used when the promise resolves, also after a restart. */
  create(owner: ApiKeyOwner): Promise<Result<IssuedApiKeyClient, ApiKeyIssuerRefusal>>;
  /** Lists the clients that this port registered, the oldest first. */
  list(): Promise<readonly ApiKeyClient[]>;
  /**
   * Removes a client: it gets no token from now on. Access tokens that it has stay valid until they end.
   *
   * @returns Whether there was such a client of this port's; any other stays.
   */
  revoke(clientId: string): Promise<boolean>;
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
/** How an API key says that it names no organization. */
const NO_ORGANIZATION = 'None';

/** Whether text can be the organization of an {@link ApiKeyOwner}. */
export function isOrganizationName(text: string): boolean {
  return NAME.test(text) && text !== NO_ORGANIZATION;
}

/** Whether text can be the cluster of an {@link ApiKeyOwner}. */
export function isClusterName(text: string): boolean {
  return NAME.test(text);
}
