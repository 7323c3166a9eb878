/**
 * The authorization endpoint: client ID, redirect address, scope and PKCE, without a person.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import type { IssuerDocument } from '@sallyport/server/issuer';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { found, type Outcome, type Probe, skipped } from '../graph/probe.ts';
import { type Answer, type Ask, describeAnswer, locationOf } from '../network/exchange.ts';
import type { SignInStart } from './gate.ts';
import { CHALLENGE, type NativeApp } from './grants.ts';
import { makeUp } from './token-request.ts';

/** Where a person is asked for: client, redirect address and scope were accepted. */
const ASKS_PERSON: ReadonlySet<string> = new Set([
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
]);

/** What the start of a sign-in is compared with. */
export interface WebAuthorizationGround {
  readonly login: Probe<SignInStart>;
  readonly discovery: Probe<IssuerDocument>;
  /** The probe of the web app's secret; with a value, a refusal is not about the client ID. */
  readonly web: Probe | undefined;
  readonly config: Config | undefined;
}

/** Makes `grants.web.authorize`: the authorization request of `/login`, compared, then asked with `prompt=none`. */
export function createWebAuthorizationProbe(
  { login, discovery, web, config }: WebAuthorizationGround,
  ask: Ask,
): Probe {
  return {
    id: 'grants.web.authorize',
    group: 'grants',
    title: 'the redirect address of the web app',
    needs: [login, discovery],
    after: web === undefined ? [] : [web],
    async run(answers) {
      const { authorization } = answers.get(login);
      const { authorization_endpoint: endpoint = '' } = answers.get(discovery);
      const finding =
        compareEndpoint(authorization, endpoint) ?? compareClientId(authorization, config);
      if (finding !== undefined) return found(undefined, [finding]);
      const url = new URL(authorization);
      url.searchParams.set('prompt', 'none');
      return judge(url, { name: 'the web app', setting: 'OIDC_CLIENT_ID' }, ask);
    },
  };
}

/** Makes `grants.native.authorize` and `grants.native.pkce`. */
export function createNativeAuthorizationProbes(
  native: Probe<NativeApp>,
  discovery: Probe<IssuerDocument>,
  ask: Ask,
): readonly Probe[] {
  const authorize: Probe<true> = {
    id: 'grants.native.authorize',
    group: 'grants',
    title: 'the redirect address of the native app',
    needs: [native, discovery],
    run(answers) {
      const url = toRequest(answers.get(native), answers.get(discovery), CHALLENGE);
      return judge(url, { name: 'the native app', setting: 'CLI_CLIENT_ID' }, ask);
    },
  };
  const pkce: Probe = {
    id: 'grants.native.pkce',
    group: 'grants',
    title: 'PKCE of the native app',
    needs: [native, discovery, authorize],
    async run(answers) {
      const app = answers.get(native);
      const asked = await ask(toRequest(app, answers.get(discovery), {}).href);
      const error = asked.ok ? locationOf(asked.value)?.searchParams.get('error') : undefined;
      if (!asked.ok || error === undefined || error === null || !ASKS_PERSON.has(error))
        return found(undefined);
      return found(undefined, [
        warn(
          'pkce_not_required',
          `the identity provider does not require PKCE of the native app (${app.clientId})`,
          `Require PKCE with S256 for ${app.clientId} at the identity provider.`,
          [describeAnswer(asked.value)],
        ),
      ]);
    },
  };
  return [authorize, pkce];
}

function toRequest(
  { clientId, redirectUri, scopes }: NativeApp,
  { authorization_endpoint: endpoint = '' }: IssuerDocument,
  more: Readonly<Record<string, string>>,
): URL {
  const url = new URL(endpoint);
  const all = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: makeUp(),
    prompt: 'none',
    ...more,
  };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url;
}

function compareEndpoint(authorization: URL, endpoint: string): Finding | undefined {
  const expected = new URL(endpoint);
  const sent = authorization.origin + authorization.pathname;
  if (sent === expected.origin + expected.pathname) return undefined;
  return fail(
    'login_elsewhere',
    `/login sends people to ${sent}, and the issuer's authorization endpoint is ${endpoint}`,
    'Compare OIDC_BASE_URL of the running admin service with the one looked at, and restart it.',
  );
}

/** A token endpoint may accept any secret from a public client, so that the ID itself is compared. */
function compareClientId(authorization: URL, config: Config | undefined): Finding | undefined {
  const sent = authorization.searchParams.get('client_id');
  const configured = config?.auth.userAuth.openId.clientId;
  if (sent === null || configured === undefined || sent === configured) return undefined;
  return fail(
    'web_client_id_differs',
    `/login sends people as another web app than the configuration names: configured ${configured}, found ${sent}`,
    'Compare OIDC_CLIENT_ID with the client ID of the web app at the identity provider; correct the one that differs, and restart the admin service.',
  );
}

interface AskedApp {
  readonly name: string;
  readonly setting: string;
}

async function judge(url: URL, app: AskedApp, ask: Ask): Promise<Outcome<true>> {
  const clientId = url.searchParams.get('client_id') ?? '';
  const redirectUri = url.searchParams.get('redirect_uri') ?? '';
  // Pushed to the identity provider, which has judged them already.
  if (url.searchParams.has('request_uri') || redirectUri === '')
    return skipped('its parameters were pushed');
  const asked = await ask(url.href, { headers: { accept: 'text/html' } });
  if (!asked.ok) return skipped('the authorization endpoint does not answer');
  const answer = asked.value;
  const to = locationOf(answer);
  const isBack = to !== undefined && `${to.origin}${to.pathname}` === strip(redirectUri);
  const who = `${app.name} (${clientId})`;
  if (!isBack) {
    // A page of sign-in, or the way to one.
    if (answer.status < 400) return found(true);
    return found(true, [
      fail(
        'redirect_not_registered',
        `the identity provider refuses the sign-in of ${who}: the redirect address ${redirectUri} is not registered for it, or it knows no such application`,
        `Register exactly ${redirectUri} for ${clientId}; if it is, compare ${app.setting} with the identity provider.`,
        [describeAnswer(answer)],
      ),
    ]);
  }
  const error = to.searchParams.get('error') ?? '';
  return error === '' || ASKS_PERSON.has(error)
    ? found(true)
    : found(true, [toErrorFinding(error, who, url, to, answer)]);
}

function toErrorFinding(error: string, who: string, url: URL, to: URL, answer: Answer): Finding {
  const evidence = [
    describeAnswer(answer),
    `${error}: ${to.searchParams.get('error_description') ?? ''}`,
  ];
  const scope = url.searchParams.get('scope') ?? '';
  switch (error) {
    case 'invalid_scope':
      return fail(
        'scope_unknown',
        `the authorization server does not grant ${who} the scope ${scope}`,
        `Add the scope to the authorization server and to the application: ${scope}`,
        evidence,
      );
    case 'unauthorized_client':
    case 'unsupported_response_type':
      return fail(
        'grant_not_allowed',
        `the identity provider does not allow ${who} to use authorization_code`,
        'Allow the grant type authorization_code for the application and in the rule of the authorization server.',
        evidence,
      );
    case 'access_denied':
      return fail(
        'not_in_access_policy',
        `no access policy of the authorization server admits ${who}`,
        'Add the application to the access policy of the authorization server.',
        evidence,
      );
    default:
      return fail(
        'request_refused',
        `the identity provider refuses the sign-in of ${who}: ${error}`,
        'Compare the settings of the application with what the evidence says.',
        evidence,
      );
  }
}

function strip(uri: string): string {
  const url = URL.parse(uri);
  return url === null ? uri : `${url.origin}${url.pathname}`;
}
