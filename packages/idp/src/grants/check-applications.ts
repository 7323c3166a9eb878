/**
 * Proves by use that each application has its grants at a live identity provider and no other.
 *
 * @module
 */

import { API_SCOPE, type GrantType, type IdpApplication } from '../spec/idp-spec.ts';
import type { GrantOutcome, TriedGrant } from './grant-answer.ts';
import {
  type GrantEndpoints,
  type GrantTry,
  type TriedClient,
  tryAuthentication,
  tryGrant,
} from './try-grant.ts';

/** What is checked, and against what. */
export interface ApplicationsCheck {
  readonly applications: readonly IdpApplication[];
  /** Secret of an application, by its client ID; secrets. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly endpoints: GrantEndpoints;
  /** What a token has to be for. */
  readonly audience: string;
  /** Scope of `client_credentials`; {@link API_SCOPE} when absent. Entra takes `APP/.default` alone. */
  readonly serviceScope?: string;
  /** Whether requests name the audience, as Auth0 needs it. */
  readonly namesAudience?: boolean;
  readonly fetch: typeof fetch;
}

/** One thing that was tried. */
export interface CheckedGrant {
  readonly clientId: string;
  /** What was tried, in the words of the specification. */
  readonly tried: string;
  /** `failed`: it is not as the specification says. `undecided`: the provider's answer does not say. */
  readonly result: 'passed' | 'failed' | 'undecided';
  /** One sentence: what was found, and what was due. */
  readonly finding: string;
}

const GRANTS: readonly TriedGrant[] = [
  'authorization_code',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
  'password',
  'implicit',
];

const BAD_REQUEST = 400;

/** Answers where the grant is on and something else stands against it. */
const ON_BUT: Partial<Record<GrantOutcome, string>> = {
  scope_refused: 'the grant is on, and the scope is refused',
  policy_refused: 'an access policy or rule does not admit it',
  request_refused: 'the request is refused for a parameter',
};

const OFF = 'it is switched off';

/** Tries every grant with every application, one after the other. Sends no password of a person. */
export async function checkApplications(
  check: ApplicationsCheck,
): Promise<readonly CheckedGrant[]> {
  const findings: CheckedGrant[] = [];
  for (const application of check.applications) {
    const isUsable = await checkAuthentication(application, check, findings);
    // Every further answer would say the same.
    if (!isUsable) continue;
    for (const grant of GRANTS) findings.push(...(await checkGrant(grant, application, check)));
    if (application.redirectUris[0] !== undefined)
      findings.push(...(await checkRedirect(application, check)));
  }
  return findings;
}

async function checkAuthentication(
  application: IdpApplication,
  check: ApplicationsCheck,
  findings: CheckedGrant[],
): Promise<boolean> {
  const { clientId } = application;
  const tried = application.tokenEndpointAuthMethod === 'none' ? 'client ID' : 'client secret';
  const note = (result: CheckedGrant['result'], finding: string): boolean => {
    findings.push({ clientId, tried, result, finding });
    return result === 'passed';
  };
  if (application.tokenEndpointAuthMethod === 'private_key_jwt')
    return note('undecided', 'it signs with a key of the running service; sign in to prove it');
  const client = clientOf(application, check);
  if (tried === 'client secret' && client.clientSecret === undefined)
    return note('undecided', 'its secret was not given');
  const { outcome, cause, status, error, description } = await tryAuthentication(
    client,
    check.endpoints,
    check.fetch,
  );
  const seen = evidence({ status, error, description });
  if (outcome === 'accepted') return note('passed', 'the provider accepts it');
  if (outcome === 'undecided') return note('undecided', `the answer does not say${seen}`);
  return note(
    'failed',
    cause === 'secret_wrong'
      ? `the client is known, and this secret is not its own${seen}`
      : `the provider does not know the client or its secret${seen}`,
  );
}

async function checkGrant(
  grant: TriedGrant,
  application: IdpApplication,
  check: ApplicationsCheck,
): Promise<readonly CheckedGrant[]> {
  const isDue = application.grantTypes.includes(grant as GrantType);
  const { endpoints, namesAudience = false, serviceScope = API_SCOPE } = check;
  const redirectUri = application.redirectUris[0] ?? check.applications[0]?.redirectUris[0];
  const answer = await tryGrant(
    grant,
    clientOf(application, check),
    endpoints,
    {
      scope: scopeOf(grant, application, serviceScope),
      ...(redirectUri === undefined ? {} : { redirectUri }),
      ...(namesAudience ? { audience: check.audience } : {}),
    },
    check.fetch,
  );
  const found = judge(application.clientId, grant, answer, isDue, redirectUri);
  return answer.accessToken === undefined || !isDue
    ? [found]
    : [found, checkToken(application.clientId, answer.accessToken, check.audience)];
}

function scopeOf(grant: TriedGrant, { scopes }: IdpApplication, serviceScope: string): string {
  if (grant === 'client_credentials') return serviceScope;
  return grant === 'authorization_code' ? scopes.join(' ') : API_SCOPE;
}

function judge(
  clientId: string,
  grant: TriedGrant,
  answer: GrantTry,
  isDue: boolean,
  redirectUri: string | undefined,
): CheckedGrant {
  const tried = isDue ? `grant ${grant}` : `no grant ${grant}`;
  const seen = evidence(answer);
  const { outcome } = answer;
  if (outcome === 'permitted')
    return isDue
      ? { clientId, tried, result: 'passed', finding: 'permitted' }
      : { clientId, tried, result: 'failed', finding: `it is permitted; switch it off${seen}` };
  const why = ON_BUT[outcome];
  if (isDue) {
    if (outcome === 'undecided')
      return { clientId, tried, result: 'undecided', finding: `the answer does not say${seen}` };
    const off = grant === 'authorization_code' ? toOffOrUnregistered(answer, redirectUri) : OFF;
    const finding = why ?? (outcome === 'refused' ? off : 'the client is refused');
    return { clientId, tried, result: 'failed', finding: finding + seen };
  }
  const isRefused =
    outcome === 'refused' ||
    outcome === 'client_refused' ||
    // Some providers say invalid_request to a client that does not have the grant.
    (outcome === 'request_refused' && answer.status === BAD_REQUEST);
  return {
    clientId,
    tried,
    result: isRefused ? 'passed' : 'undecided',
    finding: isRefused ? 'refused' : `${why ?? 'the answer does not say'}${seen}`,
  };
}

/** A page in place of a redirect: providers answer so to an unknown redirect URI, and some where the grant is off. */
function toOffOrUnregistered({ error }: GrantTry, redirectUri = 'the redirect URI'): string {
  return error === '' ? `${redirectUri} is not registered, or the grant is switched off` : OFF;
}

/** The redirect URI is compared whole, and a code is given to nothing without PKCE where that is required. */
async function checkRedirect(
  application: IdpApplication,
  check: ApplicationsCheck,
): Promise<readonly CheckedGrant[]> {
  const { clientId, pkce, scopes } = application;
  const registered = application.redirectUris[0] ?? '';
  const attempt = (redirectUri: string, hasChallenge: boolean): Promise<GrantTry> =>
    tryGrant(
      'authorization_code',
      clientOf(application, check),
      check.endpoints,
      { scope: scopes.join(' '), redirectUri, hasChallenge },
      check.fetch,
    );
  const elsewhere = await attempt(`${registered}/elsewhere`, true);
  const findings: CheckedGrant[] = [
    {
      clientId,
      tried: 'no other redirect URI',
      result: elsewhere.outcome === 'refused' ? 'passed' : 'failed',
      finding:
        elsewhere.outcome === 'refused'
          ? 'refused'
          : `${registered}/elsewhere is not refused${evidence(elsewhere)}`,
    },
  ];
  if (pkce === 'required') {
    const bare = await attempt(registered, false);
    const isRefused = bare.outcome === 'request_refused';
    findings.push({
      clientId,
      tried: 'PKCE required',
      result: isRefused ? 'passed' : 'failed',
      finding: isRefused
        ? 'a request without a challenge is refused'
        : `a request without a challenge is not refused${evidence(bare)}`,
    });
  }
  return findings;
}

/** Reads what a token says of itself; its signature is what `serve` verifies. */
function checkToken(clientId: string, token: string, audience: string): CheckedGrant {
  const tried = 'audience and scope of its token';
  const claims = readClaims(token);
  if (claims === undefined)
    return {
      clientId,
      tried,
      result: 'undecided',
      finding: 'the token is no JWT: the service has to ask the introspection endpoint',
    };
  const found = [claims['aud']].flat().filter((entry) => typeof entry === 'string');
  const scopes = [claims['scope'], claims['scp']]
    .flat()
    .flatMap((entry) => (typeof entry === 'string' ? entry.split(' ') : []));
  if (!found.includes(audience))
    return {
      clientId,
      tried,
      result: 'failed',
      finding: `aud is ${found.length === 0 ? 'absent' : found.join(', ')}, expected ${audience}`,
    };
  if (typeof claims['sub'] !== 'string')
    return {
      clientId,
      tried,
      result: 'failed',
      finding:
        'sub is absent, and the platform takes no such token; at Keycloak, link the client scope basic as a default one',
    };
  return scopes.includes(API_SCOPE)
    ? { clientId, tried, result: 'passed', finding: `${audience}, ${API_SCOPE}` }
    : {
        clientId,
        tried,
        result: 'failed',
        finding: `scope is ${scopes.join(' ') || 'absent'}, expected ${API_SCOPE}`,
      };
}

function readClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload = '', signature] = token.split('.');
  if (signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null
      ? (claims as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function clientOf({ clientId }: IdpApplication, { secrets }: ApplicationsCheck): TriedClient {
  const clientSecret = secrets.get(clientId);
  return clientSecret === undefined ? { clientId } : { clientId, clientSecret };
}

function evidence({
  status,
  error,
  description,
}: Pick<GrantTry, 'status' | 'error' | 'description'>): string {
  if (status === 0) return ` (${description === '' ? 'no answer' : description})`;
  const parts = [String(status), error, description === '' ? '' : JSON.stringify(description)];
  return ` (${parts.filter((part) => part !== '').join(' ')})`;
}
