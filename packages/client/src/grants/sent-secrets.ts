/**
 * What a request to the identity provider must keep out of every sentence about its answer.
 *
 * @module
 */

import { formEncode } from './client-authentication.ts';

/** A form as it was sent. */
export interface SentForm {
  readonly body: URLSearchParams;
  readonly headers?: Headers;
}

/** Fields that are not secret, and that help the reader of the message. */
const OPEN_FIELDS: ReadonlySet<string> = new Set([
  'audience',
  'client_assertion_type',
  'client_id',
  'code_challenge_method',
  'grant_type',
  'redirect_uri',
  'scope',
  'token_type_hint',
]);
/** Shorter values stand in ordinary words. */
const SECRET_MIN_LENGTH = 4;

/**
 * Takes the secrets of a request out of a server's words: some servers repeat what they were sent.
 *
 * Knows form fields and Basic credentials, each as it is and percent-encoded in whole or in part, with either case
 * of hexadecimal digits and `+` for a blank; and the Basic credentials of a client whose secret is in the body,
 * because the attempt before it sent them. A server that writes a secret in yet another way is not recognised.
 */
export function withoutSecrets(text: string, sent: SentForm): string {
  let rest = text;
  const secrets = listSecrets(sent).toSorted((one, other) => other.length - one.length);
  for (const secret of secrets)
    if (secret.length >= SECRET_MIN_LENGTH) rest = rest.replace(spellingsOf(secret), '[secret]');
  return rest;
}

function listSecrets({ body, headers }: SentForm): string[] {
  const secrets = [...body].flatMap(([name, value]) => (OPEN_FIELDS.has(name) ? [] : [value]));
  const clientSecret = body.get('client_secret');
  if (clientSecret !== null) secrets.push(...listBasic(body.get('client_id') ?? '', clientSecret));
  const credentials = /^Basic (\S+)$/.exec(headers?.get('authorization') ?? '')?.[1];
  if (credentials === undefined) return secrets;
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  const password = pair.slice(colon + 1);
  const decoded = formDecode(password);
  const basic = listBasic(formDecode(pair.slice(0, colon)), decoded);
  return [...secrets, credentials, password, decoded, ...basic];
}

/** Basic credentials, form-encoded first (RFC 6749 section 2.3.1) and not, with and without padding. */
function listBasic(clientId: string, clientSecret: string): string[] {
  const pairs = [
    `${formEncode(clientId)}:${formEncode(clientSecret)}`,
    `${clientId}:${clientSecret}`,
  ];
  return pairs.flatMap((pair) => {
    const bytes = Buffer.from(pair, 'utf8');
    return [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, '')];
  });
}

/** Matches the text with any of its characters percent-encoded. */
function spellingsOf(secret: string): RegExp {
  const characters = Array.from(secret, (character) => {
    const bytes = Buffer.from(character, 'utf8').toString('hex').match(/../g) ?? [];
    const encoded = bytes.map((byte) => `%${eitherCase(byte)}`).join('');
    const blank = character === ' ' ? '|\\+' : '';
    const literal = `\\u{${character.codePointAt(0)?.toString(16)}}`;
    return `(?:${encoded}|${literal}${blank})`;
  });
  return new RegExp(characters.join(''), 'gu');
}

function eitherCase(hexadecimal: string): string {
  return hexadecimal.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function formDecode(text: string): string {
  return new URLSearchParams(`p=${text}`).get('p') ?? '';
}
