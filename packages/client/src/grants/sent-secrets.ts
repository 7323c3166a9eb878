/**
 * What a request to the identity provider must keep out of every sentence about its answer.
 *
 * @module
 */

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
 * Knows form fields and Basic credentials, encoded and decoded; a server that writes a secret in yet
 * another way is not recognised.
 */
export function withoutSecrets(text: string, sent: SentForm): string {
  let rest = text;
  const secrets = listSecrets(sent).toSorted((one, other) => other.length - one.length);
  for (const secret of secrets)
    if (secret.length >= SECRET_MIN_LENGTH) rest = rest.replaceAll(secret, '[secret]');
  return rest;
}

function listSecrets({ body, headers }: SentForm): string[] {
  const secrets = [...body].flatMap(([name, value]) => (OPEN_FIELDS.has(name) ? [] : [value]));
  const credentials = /^Basic (\S+)$/.exec(headers?.get('authorization') ?? '')?.[1];
  if (credentials === undefined) return secrets;
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  const password = pair.slice(pair.indexOf(':') + 1);
  return [...secrets, credentials, password, new URLSearchParams(`p=${password}`).get('p') ?? ''];
}
