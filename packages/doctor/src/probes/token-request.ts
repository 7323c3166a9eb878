/**
 * Requests to the identity provider as its applications send them.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import {
  clientSecretBasic,
  clientSecretPost,
  publicClient,
  withoutSecrets,
} from '@sallyport/client';
import type { IdpAnswer } from '@sallyport/protocol';
import { type Ask, readObject } from '../network/exchange.ts';

/** Who asks. */
export interface Asker {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly secret?: string;
}

/** What came back. */
export interface TokenAnswer extends IdpAnswer {
  /** What it granted; a secret. Empty when it is a refusal. */
  readonly accessToken: string;
  /** For evidence: status, code and words; never a token. Untrusted words. */
  readonly line: string;
}

/** The form of a grant. */
export type Form = Readonly<Record<string, string>>;

/**
 * Sends a form to an endpoint of the identity provider.
 *
 * A secret travels by HTTP Basic, and once more in the body where the provider says `invalid_client` to that, as the
 * service's clients do. No redirect is followed, so it goes to this address alone.
 *
 * @param url - The configured token endpoint, or the one that the configured issuer names.
 *
 * @returns `undefined` when there is no answer.
 */
export async function postGrant(
  ask: Ask,
  url: string,
  asker: Asker,
  form: Form,
): Promise<TokenAnswer | undefined> {
  const { clientId, secret } = asker;
  if (secret === undefined) return send(ask, url, form, publicClient(clientId));
  const byHeader = await send(ask, url, form, clientSecretBasic(clientId, secret));
  if (byHeader?.error !== 'invalid_client') return byHeader;
  const inBody = await send(ask, url, form, clientSecretPost(clientId, secret));
  return inBody === undefined || inBody.error === 'invalid_client' ? byHeader : inBody;
}

async function send(
  ask: Ask,
  url: string,
  form: Form,
  authenticate: (body: URLSearchParams, headers: Headers) => void,
): Promise<TokenAnswer | undefined> {
  const body = new URLSearchParams(form);
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  });
  authenticate(body, headers);
  const asked = await ask(url, { method: 'POST', headers, body: body.toString() });
  if (!asked.ok) return undefined;
  const { status } = asked.value;
  const members = readObject(asked.value) ?? {};
  const error = textOf(members['error']);
  const words = textOf(members['error_description']);
  const accessToken = status === 200 ? textOf(members['access_token']) : '';
  const { origin, pathname } = new URL(url);
  const said = [error, words].filter(Boolean).join(': ');
  return {
    status,
    error: error.slice(0, 100),
    accessToken,
    line: `${origin}${pathname} answered ${status}${said === '' ? '' : ` ${withoutSecrets(said, { body, headers })}`}`,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A value that no provider has issued. */
export function makeUp(): string {
  return `doctor-${randomBytes(18).toString('base64url')}`;
}

/** A verifier that was made up and its S256 challenge belong to nothing: no sign-in is finished with them. */
export function madeUpCode(redirectUri: string): Form {
  return {
    grant_type: 'authorization_code',
    code: makeUp(),
    redirect_uri: redirectUri,
    code_verifier: `${makeUp()}${makeUp()}`,
  };
}

/** A refresh with a token that was made up. */
export function madeUpRefresh(): Form {
  return { grant_type: 'refresh_token', refresh_token: makeUp() };
}
