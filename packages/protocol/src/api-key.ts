/**
 * The API key that task pods call back with (`EAGER_API_KEY`): standard base64 of
 * `endpoint:client_id:client_secret:org`.
 *
 * @module
 */

import { accept, type Result, refuse } from './result.ts';

/** What an API key holds. `clientSecret` is a secret: never print the value as a whole. */
export interface ApiKey {
  /** Bare host name or IPv4 address, lower case; the port is 443, with TLS. */
  readonly host: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty when the key names none (`None` in the key counts as none). */
  readonly organization: string;
}

/** Why text is no API key; none of them holds any of the text. */
export type ApiKeyRefusal =
  | 'too_long'
  | 'not_base64'
  | 'not_text'
  | 'not_four_fields'
  | 'endpoint_not_a_host'
  | 'client_id_unusable'
  | 'client_secret_unusable'
  | 'organization_unusable';

const KEY_MAX_LENGTH = 8_192;
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^[A-Za-z0-9+/]{2,3}={1,2}$/;
const HOST =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?)*$/;
/** Printable ASCII (RFC 6749 appendix A.1 and A.2), without what separates the fields. */
const CREDENTIAL = /^[\x20-\x39\x3b-\x7e]+$/;
const ORGANIZATION = /^[\x20-\x39\x3b-\x7e]*$/;
const NO_ORGANIZATION = 'None';

/**
 * Decodes an API key, strictly: one canonical spelling. A key that is cut short or has more text around
 * it is refused instead of naming a wrong host.
 *
 * Neither white space nor base64url is taken, nor a scheme or port in the endpoint: clients in use
 * would read those as another host or field.
 *
 * @param text - Untrusted, a secret.
 */
export function parseApiKey(text: string): Result<ApiKey, ApiKeyRefusal> {
  if (text.length > KEY_MAX_LENGTH) return refuse('too_long');
  if (!BASE64.test(text)) return refuse('not_base64');
  let plain: string;
  try {
    const binary = atob(text);
    // Other bits behind the last character would be a second spelling of the same key.
    if (btoa(binary) !== text) return refuse('not_base64');
    plain = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(binary, (character) => character.charCodeAt(0)),
    );
  } catch {
    return refuse('not_text');
  }
  const fields = plain.split(':');
  if (fields.length !== 4) return refuse('not_four_fields');
  const [host = '', clientId = '', clientSecret = '', named = ''] = fields;
  const organization = named === NO_ORGANIZATION ? '' : named;
  const key: ApiKey = { host: host.toLowerCase(), clientId, clientSecret, organization };
  const unusable = findUnusable(key);
  return unusable === undefined ? accept(key) : refuse(unusable);
}

/**
 * Encodes an API key.
 *
 * @returns Text that {@link parseApiKey} decodes to the same fields; otherwise the first field that an
 *   API key cannot hold.
 */
export function encodeApiKey(key: ApiKey): Result<string, ApiKeyRefusal> {
  const unusable = findUnusable(key);
  if (unusable !== undefined) return refuse(unusable);
  const { host, clientId, clientSecret, organization } = key;
  const text = btoa([host.toLowerCase(), clientId, clientSecret, organization].join(':'));
  return text.length > KEY_MAX_LENGTH ? refuse('too_long') : accept(text);
}

/** Words for a refusal, which complete "found …, expected …". They hold nothing of the key. */
export function describeApiKeyRefusal(refusal: ApiKeyRefusal): {
  readonly found: string;
  readonly expected: string;
} {
  const expected = 'an API key as it was issued, whole and without white space';
  switch (refusal) {
    case 'too_long':
      return { found: 'too many characters', expected };
    case 'not_base64':
      return { found: 'text that is not standard base64 with padding', expected };
    case 'not_text':
      return { found: 'base64 of something that is no text', expected };
    case 'not_four_fields':
      return {
        found: 'other than four fields',
        expected: `${expected}: endpoint, client ID, client secret and organization, the endpoint without scheme and port`,
      };
    case 'endpoint_not_a_host':
      return { found: 'an endpoint that is no host name', expected };
    case 'client_id_unusable':
      return { found: 'no usable client ID', expected };
    case 'client_secret_unusable':
      return { found: 'no usable client secret', expected };
    case 'organization_unusable':
      return { found: 'no usable organization', expected };
  }
}

function findUnusable(key: ApiKey): ApiKeyRefusal | undefined {
  if (!HOST.test(key.host)) return 'endpoint_not_a_host';
  if (!CREDENTIAL.test(key.clientId)) return 'client_id_unusable';
  if (!CREDENTIAL.test(key.clientSecret)) return 'client_secret_unusable';
  return ORGANIZATION.test(key.organization) && key.organization !== NO_ORGANIZATION
    ? undefined
    : 'organization_unusable';
}
