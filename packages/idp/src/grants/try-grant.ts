/**
 * Tries one grant of one client at a live identity provider.
 *
 * Every try is one that leaves nothing behind but a token, or a device code that nobody enters: no password of a person
 * is sent, and authorization requests say `prompt=none`.
 *
 * @module
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  classifyIdpRefusal,
  type IdpAnswer,
  type IdpRefusalCause,
  type IdpRefusalProbes,
  withoutUnprintable,
} from '@sallyport/protocol';
import { type ExchangeLimits, exchangeJson, membersOf } from '../exchange/exchange-json.ts';
import {
  type ClientAuthentication,
  classifyAuthentication,
  classifyGrantAnswer,
  type GrantOutcome,
  type TriedGrant,
} from './grant-answer.ts';

/** Members of the issuer's metadata (RFC 8414) that tries go to. */
export interface GrantEndpoints {
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly device_authorization_endpoint?: string;
}

/** A client as it is registered. */
export interface TriedClient {
  readonly clientId: string;
  /** A secret. Absent for a public client. */
  readonly clientSecret?: string;
  /** How the secret is sent: in a Basic header when absent. */
  readonly secretIn?: 'basic' | 'body';
}

/** What is asked for. */
export interface GrantRequest {
  readonly scope: string;
  /** `audience` of the request, for providers such as Auth0; none when absent. */
  readonly audience?: string;
  /** Of the authorization request. */
  readonly redirectUri?: string;
  /** Whether an authorization request has an S256 challenge; it has when absent. */
  readonly hasChallenge?: boolean;
}

/** One try and what came of it. */
export interface GrantTry extends IdpAnswer {
  readonly grant: TriedGrant;
  readonly outcome: GrantOutcome;
  /** `error_description` for people, cut and printable; untrusted, and nothing is decided by it. */
  readonly description: string;
  /** A secret: what `client_credentials` gave. */
  readonly accessToken?: string;
}

/** An answer with what it holds. */
interface Answer extends IdpAnswer {
  readonly description: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const UNAUTHORIZED = 401;
const TIMEOUT_MS = 10_000;
const LIMITS: ExchangeLimits = { timeoutMs: TIMEOUT_MS, bodyMaxBytes: 262_144 };
const DESCRIPTION_CHARACTERS_MAX = 300;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Tries a grant.
 *
 * @returns `refused` also where the metadata names no endpoint for it, `undecided` where the provider does not answer;
 *   both with status 0.
 */
export async function tryGrant(
  grant: TriedGrant,
  client: TriedClient,
  endpoints: GrantEndpoints,
  request: GrantRequest,
  send: typeof fetch,
): Promise<GrantTry> {
  if (grant === 'authorization_code' || grant === 'implicit')
    return tryAuthorization(grant, client, endpoints, request, send);
  const endpoint =
    grant === DEVICE_GRANT ? endpoints.device_authorization_endpoint : endpoints.token_endpoint;
  if (endpoint === undefined) return noEndpoint(grant);
  const form = new Map([['scope', request.scope]]);
  if (request.audience !== undefined) form.set('audience', request.audience);
  if (grant === DEVICE_GRANT) {
    // Keycloak applies the client's PKCE rule to this endpoint too.
    form.set('code_challenge', challenge());
    form.set('code_challenge_method', 'S256');
  } else form.set('grant_type', grant);
  if (grant === 'password')
    for (const name of ['username', 'password']) form.set(name, `sallyport-${random()}`);
  const answer = await post(endpoint, form, client, send);
  const token = textOf(answer.body['access_token']);
  const isSuccess =
    answer.status === 200 &&
    (grant === DEVICE_GRANT ? textOf(answer.body['device_code']) : token) !== '';
  const probes = answer.status === UNAUTHORIZED ? await probe(client, endpoints, send) : {};
  return {
    grant,
    outcome: classifyGrantAnswer(grant, answer, isSuccess, probes),
    ...answerOf(answer),
    ...(isSuccess && grant === 'client_credentials' ? { accessToken: token } : {}),
  };
}

/** Whether a provider knows a client with its secret, and where it does not, why. */
export interface AuthenticationTry extends IdpAnswer {
  readonly outcome: ClientAuthentication;
  /** Only where it is refused. */
  readonly cause: IdpRefusalCause | undefined;
  readonly description: string;
}

/**
 * Finds out whether a provider knows a client with its secret, whichever grants it has: by a refresh with a made-up
 * token, of this client and of one that cannot exist.
 */
export async function tryAuthentication(
  client: TriedClient,
  { token_endpoint: endpoint }: GrantEndpoints,
  send: typeof fetch,
): Promise<AuthenticationTry> {
  const answer = await refresh(client, endpoint, send);
  const unknown = { ...client, clientId: `sallyport-${random()}` };
  const madeUpClient = await refresh(unknown, endpoint, send);
  const outcome = classifyAuthentication(answer, madeUpClient);
  const isCompared = madeUpClient.error !== '';
  const cause =
    outcome === 'refused'
      ? classifyIdpRefusal(answer, isCompared ? { madeUpClient } : {})
      : undefined;
  return { outcome, cause, ...answerOf(answer) };
}

/** Asks what tells a wrong secret from a grant that is off: another grant, with the secret and with one that is made up. */
async function probe(
  client: TriedClient,
  { token_endpoint: endpoint }: GrantEndpoints,
  send: typeof fetch,
): Promise<IdpRefusalProbes> {
  const otherGrant = await refresh(client, endpoint, send);
  const otherGrantMadeUpSecret = await refresh(
    { ...client, clientSecret: random() },
    endpoint,
    send,
  );
  // Without an answer there is nothing to compare.
  const isCompared = otherGrant.error !== '' && otherGrantMadeUpSecret.error !== '';
  return isCompared ? { otherGrant, otherGrantMadeUpSecret } : {};
}

function refresh(
  client: TriedClient,
  endpoint: string | undefined,
  send: typeof fetch,
): Promise<Answer> {
  const form = new Map([
    ['grant_type', 'refresh_token'],
    ['refresh_token', random()],
  ]);
  return post(endpoint, form, client, send);
}

async function tryAuthorization(
  grant: 'authorization_code' | 'implicit',
  { clientId }: TriedClient,
  { authorization_endpoint: endpoint }: GrantEndpoints,
  { redirectUri, scope, audience, hasChallenge = true }: GrantRequest,
  send: typeof fetch,
): Promise<GrantTry> {
  if (endpoint === undefined) return noEndpoint(grant);
  if (redirectUri === undefined) return noAnswer(grant);
  const url = new URL(endpoint);
  const isCode = grant === 'authorization_code';
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: isCode ? 'code' : 'token',
    scope,
    state: random(),
    nonce: random(),
    prompt: 'none',
    ...(audience === undefined ? {} : { audience }),
    ...(isCode && hasChallenge
      ? { code_challenge: challenge(), code_challenge_method: 'S256' }
      : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  let response: Response;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    response = await send(url.href, { redirect: 'manual', signal });
    await response.body?.cancel();
  } catch {
    return noAnswer(grant);
  }
  const back = readRedirect(response.headers.get('location'), redirectUri);
  const { status } = response;
  const answer = { status, error: back?.get('error') ?? '' };
  const isSuccess = back?.has(isCode ? 'code' : 'access_token') === true;
  return {
    grant,
    outcome: classifyGrantAnswer(grant, answer, isSuccess),
    ...answer,
    description: printable(back?.get('error_description') ?? ''),
  };
}

/** Parameters that come back to the redirect URI, in its query or fragment; undefined where it leads elsewhere. */
function readRedirect(location: string | null, redirectUri: string): URLSearchParams | undefined {
  if (location === null) return undefined;
  const rest = location.slice(redirectUri.length);
  if (!location.startsWith(redirectUri) || !/^[?#]/.test(rest)) return undefined;
  return new URLSearchParams(rest.slice(1).replace('#', '&'));
}

async function post(
  endpoint: string | undefined,
  form: ReadonlyMap<string, string>,
  { clientId, clientSecret, secretIn = 'basic' }: TriedClient,
  send: typeof fetch,
): Promise<Answer> {
  const nothing = { status: 0, error: '', description: '', body: {} };
  if (endpoint === undefined) return nothing;
  const body = new URLSearchParams([...form]);
  const headers = new Headers({ accept: 'application/json' });
  if (clientSecret !== undefined && secretIn === 'basic') {
    // RFC 6749 section 2.3.1: both parts are form-encoded first.
    const pair = [clientId, clientSecret].map(formEncode).join(':');
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  } else {
    body.set('client_id', clientId);
    if (clientSecret !== undefined) body.set('client_secret', clientSecret);
  }
  try {
    const { status, json } = await exchangeJson(
      send,
      endpoint,
      { method: 'POST', headers, body },
      LIMITS,
    );
    const members = membersOf(json);
    return {
      status,
      error: textOf(members['error']),
      description: printable(textOf(members['error_description'])),
      body: members,
    };
  } catch {
    return nothing;
  }
}

function noEndpoint(grant: TriedGrant): GrantTry {
  return { ...noAnswer(grant), outcome: 'refused', description: 'the metadata names no endpoint' };
}

function noAnswer(grant: TriedGrant): GrantTry {
  return { grant, outcome: 'undecided', status: 0, error: '', description: '' };
}

const answerOf = ({ status, error, description }: Answer) => ({ status, error, description });
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const printable = (text: string): string =>
  withoutUnprintable(text).slice(0, DESCRIPTION_CHARACTERS_MAX);
const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
const random = (): string => randomBytes(24).toString('base64url');
const challenge = (): string => createHash('sha256').update(random()).digest('base64url');
