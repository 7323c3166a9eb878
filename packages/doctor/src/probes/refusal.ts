/**
 * From a refusal by the identity provider to its cause, by asking further.
 *
 * @module
 */

import {
  classifyIdpRefusal,
  type IdpAnswer,
  type IdpRefusalCause,
  type IdpRefusalProbes,
} from '@sallyport/protocol';
import type { CauseCode } from '../finding/causes.ts';
import { type Finding, fail } from '../finding/finding.ts';
import type { Ask } from '../network/exchange.ts';
import { type HeldSecret, placeOf, toSecretFinding } from './secrets.ts';
import { type Form, madeUpRefresh, makeUp, postGrant, type TokenAnswer } from './token-request.ts';

/** A request that was refused. */
export interface RefusedRequest {
  readonly url: string;
  readonly form: Form;
  readonly secret: HeldSecret;
  readonly answer: TokenAnswer;
  /** Completes "may not use …". */
  readonly grant: string;
}

/**
 * Finds the cause.
 *
 * The answers to requests that differ in one respect are compared; then what is odd about the secret's text is taken
 * away, and secrets of the other applications are tried, each at this same endpoint.
 *
 * @param others - Secrets of the other applications of this run.
 */
export async function explainRefusal(
  refused: RefusedRequest,
  others: readonly HeldSecret[],
  ask: Ask,
): Promise<Finding> {
  const cause = await classify(refused, others, ask);
  // A text that no form can carry is refused as a request.
  const isOdd = refused.secret.oddities.some(({ code }) => code !== 'newline');
  const isAboutSecret =
    cause === 'secret_wrong' ||
    cause === 'client_or_secret_wrong' ||
    (cause === 'request_refused' && isOdd);
  if (!isAboutSecret) return toCauseFinding(cause, refused);
  return (
    (await findOddity(refused, ask)) ??
    (await findOwner(refused, others, ask)) ??
    toCauseFinding(cause, refused)
  );
}

/** What comes back; without an answer there is nothing to compare. */
async function post(...request: Parameters<typeof postGrant>): Promise<TokenAnswer | undefined> {
  const answer = await postGrant(...request);
  return answer.ok ? answer.value : undefined;
}

/** What a code alone leaves open. */
const OPEN_CAUSES: ReadonlySet<IdpRefusalCause> = new Set([
  'client_or_secret_wrong',
  'grant_not_allowed',
  'request_refused',
]);

async function classify(
  { url, form, secret, answer }: RefusedRequest,
  others: readonly HeldSecret[],
  ask: Ask,
): Promise<IdpRefusalCause> {
  const first = classifyIdpRefusal(answer);
  if (!OPEN_CAUSES.has(first)) return first;
  const { clientId } = secret.use;
  const known = others.find(({ use }) => use.clientId !== clientId);
  const refresh = madeUpRefresh();
  const { grant_type: grant = '' } = form;
  const isBare = grant === 'client_credentials';
  const [otherGrant, otherGrantMadeUpSecret, madeUpClient, knownClientMadeUpSecret, grantAlone] =
    await Promise.all([
      post(ask, url, { clientId, secret: secret.text }, refresh),
      post(ask, url, { clientId, secret: makeUp() }, refresh),
      post(ask, url, { clientId: makeUp(), secret: makeUp() }, form),
      known && post(ask, url, { clientId: known.use.clientId, secret: makeUp() }, form),
      isBare ? post(ask, url, { clientId, secret: secret.text }, { grant_type: grant }) : undefined,
    ]);
  return classifyIdpRefusal(
    answer,
    withoutMissing({
      otherGrant,
      otherGrantMadeUpSecret,
      madeUpClient,
      knownClientMadeUpSecret,
      grantAlone,
    }),
  );
}

function withoutMissing(
  probes: Readonly<Record<keyof IdpRefusalProbes, IdpAnswer | undefined>>,
): IdpRefusalProbes {
  return Object.fromEntries(Object.entries(probes).filter(([, answer]) => answer !== undefined));
}

/** Whether the secret works once what is odd about its text is taken away. */
async function findOddity(
  { url, form, secret, answer }: RefusedRequest,
  ask: Ask,
): Promise<Finding | undefined> {
  for (const oddity of secret.oddities) {
    const mended = mend(secret.text, oddity.code);
    if (mended === undefined || mended === secret.text) continue;
    const { clientId } = secret.use;
    const again = await post(ask, url, { clientId, secret: mended }, form);
    if (again === undefined || isSame(again, answer)) continue;
    const finding = toSecretFinding(secret.use, oddity, 'fail');
    return {
      ...finding,
      evidence: [...finding.evidence, 'The identity provider accepts it without that.'],
    };
  }
  const [first] = secret.oddities.filter(({ code }) => code !== 'newline');
  return first === undefined ? undefined : toSecretFinding(secret.use, first, 'fail');
}

function mend(text: string, code: string): string | undefined {
  switch (code) {
    case 'white_space':
    case 'lines':
      return text.trim();
    case 'quotes':
      return text.trim().slice(1, -1);
    case 'base64':
      return Buffer.from(text.trim(), 'base64').toString('utf8').trim();
    case 'assignment':
      return text.replace(/^[^=:]*[=:]\s*/s, '').trim();
    default:
      return undefined;
  }
}

/** Whether the secret is another application's, or another's secret is this one's. */
async function findOwner(
  { url, form, secret, answer }: RefusedRequest,
  others: readonly HeldSecret[],
  ask: Ask,
): Promise<Finding | undefined> {
  const { use, text } = secret;
  for (const other of others) {
    if (other.use.clientId === use.clientId) continue;
    const isItsSecret = other.text === text;
    const again = isItsSecret
      ? undefined
      : await post(ask, url, { clientId: use.clientId, secret: other.text }, form);
    if (!isItsSecret && (again === undefined || isSame(again, answer))) continue;
    if (!isItsSecret && (await isServed(url, other.use.clientId, text, form, ask)))
      return toSwapFinding(use, other.use);
    return fail(
      'secret_of_another_app',
      isItsSecret
        ? `${use.name} (${use.clientId}) has the secret of ${other.use.name} (${other.use.clientId})`
        : `the secret of ${use.name} (${use.clientId}) stands at ${other.use.name} (${other.use.clientId})`,
      'Put the secret of each application into its own file.',
      [placeOf(use), placeOf(other.use)],
    );
  }
  return undefined;
}

/** Whether this secret, too, proves the other application: then the two are crossed. */
async function isServed(
  url: string,
  clientId: string,
  secret: string,
  form: Form,
  ask: Ask,
): Promise<boolean> {
  const [asked, madeUp] = [
    await post(ask, url, { clientId, secret }, form),
    await post(ask, url, { clientId, secret: makeUp() }, form),
  ];
  return asked !== undefined && madeUp !== undefined && !isSame(asked, madeUp);
}

function toSwapFinding(use: HeldSecret['use'], other: HeldSecret['use']): Finding {
  return fail(
    'secret_of_another_app',
    `the client IDs or the secrets of ${use.name} (${use.clientId}) and ${other.name} (${other.clientId}) are swapped: each has what belongs to the other`,
    'Compare both client IDs with the identity provider, and swap them; if they are right, swap the secrets.',
    [placeOf(use), placeOf(other)],
  );
}

function isSame(one: IdpAnswer, other: IdpAnswer): boolean {
  return one.status === other.status && one.error === other.error;
}

/** Sentence and fix of each cause. */
function toCauseFinding(
  cause: IdpRefusalCause,
  {
    secret: { use },
    answer,
    grant,
    form,
  }: Pick<RefusedRequest, 'secret' | 'answer' | 'grant' | 'form'>,
): Finding {
  const who = `${use.name} (${use.clientId})`;
  const scope = form['scope'] ?? '';
  const [code, what, fix] = ((): readonly [CauseCode, string, string] => {
    switch (cause) {
      case 'secret_wrong':
        return [
          'secret_wrong',
          `the identity provider refuses the secret of ${who}`,
          `Compare the secret with the one that the identity provider has for ${use.clientId}, and write that one ${use.source.from === 'file' ? `into ${use.source.path}` : 'into the environment'}.`,
        ];
      case 'client_unknown':
        return [
          'client_unknown',
          `the identity provider knows no application ${use.clientId}, which ${use.name} names`,
          'Correct the client ID, or register the application.',
        ];
      case 'client_or_secret_wrong':
        return [
          'client_or_secret_wrong',
          `the identity provider refuses ${who}: it has no such application, or another secret for it`,
          `Compare the client ID, then the secret, with what the identity provider has for ${use.clientId}.`,
        ];
      case 'client_is_public':
        return [
          'client_is_public',
          `the identity provider has ${who} as a public client, which may not use ${grant}`,
          'Make it a confidential client with a secret, or name another client ID.',
        ];
      case 'grant_not_allowed':
      case 'grant_not_supported':
        return [
          'grant_not_allowed',
          `the identity provider does not allow ${who} to use ${grant}`,
          `Allow the grant type ${grant} for the application and in the rule of the authorization server.`,
        ];
      case 'not_in_access_policy':
        return [
          'not_in_access_policy',
          `no access policy of the authorization server admits ${who}`,
          `Add ${use.clientId} to the access policy of the authorization server, with a rule that permits ${grant}.`,
        ];
      case 'scope_unknown':
        return [
          'scope_unknown',
          `the authorization server does not grant ${who} the scope ${scope === '' ? 'that was asked for' : scope}`,
          `Add the scope ${scope} to the authorization server, and allow it for ${use.clientId}.`,
        ];
      case 'audience_unknown':
        return [
          'audience_unknown',
          `the authorization server knows no audience ${form['audience'] ?? ''} for ${who}`,
          "Register the platform's URL as an API (resource), or correct audience.",
        ];
      case 'offline_access_not_allowed':
        return [
          'scope_unknown',
          `the identity provider does not allow ${who} the scope offline_access`,
          'Allow offline access for the application and the people (Keycloak: the role offline_access).',
        ];
      case 'idp_fails':
      case 'rate_limited':
        return [
          'idp_fails',
          `the token endpoint of the identity provider answers ${answer.status}`,
          "Look at the identity provider's log; try again later.",
        ];
      case 'dead_grant':
      case 'request_refused':
        return [
          'request_refused',
          `the token endpoint refuses the request of ${who} for ${grant}`,
          'Compare the address of the token endpoint, and the settings of the application.',
        ];
    }
  })();
  const place = use.source.from === 'file' ? [placeOf(use)] : [];
  return fail(code, what, fix, [answer.line, ...place]);
}
