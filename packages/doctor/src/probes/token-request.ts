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
import { accept, type IdpAnswer, type Result } from '@sallyport/protocol';
import { type Ask, type NoAnswer, readObject } from '../network/exchange.ts';
import { REPEATED, repeatsSecret } from './repeated-secret.ts';

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
 * @returns Otherwise why there is no answer.
 */
export async function postGrant(
  ask: Ask,
  url: string,
  asker: Asker,
  form: Form,
): Promise<Result<TokenAnswer, NoAnswer>> {
  const { clientId, secret } = asker;
  if (secret === undefined) return send(ask, url, form, publicClient(clientId), '');
  const byHeader = await send(ask, url, form, clientSecretBasic(clientId, secret), secret);
  if (!byHeader.ok || byHeader.value.error !== 'invalid_client') return byHeader;
  const inBody = await send(ask, url, form, clientSecretPost(clientId, secret), secret);
  return !inBody.ok || inBody.value.error === 'invalid_client' ? byHeader : inBody;
}

/** Codes that say nothing of what was sent (RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5, RFC 8707). */
const REGISTERED_CODES: ReadonlySet<string> = new Set([
  'access_denied',
  'authorization_pending',
  'expired_token',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'server_error',
  'slow_down',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
]);

async function send(
  ask: Ask,
  url: string,
  form: Form,
  authenticate: (body: URLSearchParams, headers: Headers) => void,
  secret: string,
): Promise<Result<TokenAnswer, NoAnswer>> {
  const body = new URLSearchParams(form);
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  });
  authenticate(body, headers);
  const asked = await ask(url, { method: 'POST', headers, body: body.toString() });
  if (!asked.ok) return asked;
  const { status } = asked.value;
  const members = readObject(asked.value) ?? {};
  const error = textOf(members['error']);
  const words = textOf(members['error_description']);
  const accessToken = status === 200 ? textOf(members['access_token']) : '';
  const { origin, pathname } = new URL(url);
  const clean = (text: string): string => withoutSecrets(show(text, secret), { body, headers });
  const said = [REGISTERED_CODES.has(error) ? error : clean(error), clean(words)]
    .filter(Boolean)
    .join(': ');
  return accept({
    status,
    error: error.slice(0, 100),
    accessToken,
    line: `${origin}${pathname} answered ${status}${said === '' ? '' : ` ${said}`}`,
  });
}

/** A server's words, unless they repeat the secret of the one who asked. */
export function show(words: string, secret: string): string {
  return repeatsSecret(words, secret) ? REPEATED : words;
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
