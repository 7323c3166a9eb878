/**
 * A service's token: what it says, and whether the platform takes it.
 *
 * @module
 */

import { type Config, listAudienceSpellings } from '@sallyport/config';
import { isOnThisMachine, PATHS } from '@sallyport/protocol';
import { type Finding, fail } from '../finding/finding.ts';
import { broken, found, type Probe, skipped } from '../graph/probe.ts';
import { type Ask, describeAnswer, readObject, reasonOf } from '../network/exchange.ts';
import type { ObtainedToken } from './grants.ts';

/** What a token is compared with. */
export interface TokenGround {
  readonly token: Probe<ObtainedToken>;
  readonly issuer: Probe<string>;
  /** Whose issuer is right: otherwise every token is of another one. */
  readonly discovery: Probe;
  readonly config: Config | undefined;
}

const SKEW_MS = 30_000;

/** Makes the probe of a token's claims. Its signature is the platform's to verify. */
export function createTokenProbe(
  id: string,
  { token, issuer, discovery, config }: TokenGround,
): Probe<ObtainedToken> {
  return {
    id: `grants.${id}.token`,
    group: 'grants',
    title: 'what the token says',
    needs: [token, issuer, discovery],
    run(answers) {
      const obtained = answers.get(token);
      const claims = readClaims(obtained.accessToken);
      if (claims === undefined) {
        if (config === undefined || config.bearer.introspection.endpoint !== '')
          return found(obtained);
        return broken(toOpaque(obtained));
      }
      const findings = judgeClaims(claims, obtained, answers.get(issuer), config);
      return findings.length > 0 ? broken(...findings) : found(obtained);
    },
  };
}

/** Where a token is shown. */
export interface TokenDoor {
  /** The header that the platform names. */
  readonly header: Probe<string>;
  /** Has a value once the platform can be spoken to: its address. */
  readonly ready: Probe<URL>;
  /** Origins of the platform by the configurations of the client and of the admin service. */
  readonly origins: readonly string[];
}

/**
 * Makes the probe that shows the token to `/me`, in the header that the platform names.
 *
 * A token is a credential, and an address on a command line may be mistyped: the token goes only to an origin that a
 * configuration names, and over https, except on this machine. Otherwise the probe is skipped.
 */
export function createAdmissionProbe(
  id: string,
  token: Probe<ObtainedToken>,
  { header, ready, origins }: TokenDoor,
  ask: Ask,
): Probe {
  return {
    id: `grants.${id}.admission`,
    group: 'grants',
    title: 'the token at the platform',
    needs: [token, header, ready],
    async run(answers) {
      const { accessToken, name, clientId } = answers.get(token);
      const { origin, protocol, hostname } = answers.get(ready);
      if (!origins.includes(origin))
        return skipped(`no configuration names ${origin}: a token is shown to no other address`);
      if (protocol !== 'https:' && !isOnThisMachine(hostname))
        return skipped(`${origin} is plain http: a token can be read on the way`);
      const url = origin + PATHS.me;
      const headers = {
        [answers.get(header)]: `Bearer ${accessToken}`,
        accept: 'application/json',
      };
      const asked = await ask(url, { headers });
      if (!asked.ok || asked.value.status === 200) return found(undefined);
      const { status } = asked.value;
      const reason = reasonOf(asked.value);
      return found(undefined, [
        fail(
          'token_refused',
          `the platform refuses a token that ${name} (${clientId}) has just obtained: ${status} ${reason}`,
          status === 503
            ? 'Look for issuer_unavailable in the log of the admin service: it cannot verify tokens now.'
            : 'Look for bearer_refused in the audit lines of the admin service: its problem names the check.',
          [describeAnswer(asked.value)],
        ),
      ]);
    },
  };
}

type Claims = Readonly<Record<string, unknown>>;

function readClaims(token: string): Claims | undefined {
  const [, payload = '', signature] = token.split('.');
  if (signature === undefined) return undefined;
  return readObject({ text: Buffer.from(payload, 'base64url').toString('utf8') });
}

function judgeClaims(
  claims: Claims,
  { clientId, name, askedAt, showWords }: ObtainedToken,
  issuer: string,
  config: Config | undefined,
): readonly Finding[] {
  const who = `${name} (${clientId})`;
  const findings: Finding[] = [];
  const named = showWords(String(claims['iss']));
  if (claims['iss'] !== issuer)
    findings.push(
      fail(
        'token_issuer_differs',
        `the token of ${who} is of another issuer: configured ${issuer}, found ${named}`,
        `Set auth.appAuth.externalAuthServer.baseUrl to exactly ${named}, or have the token issued by the other (Entra: accessTokenAcceptedVersion 2).`,
      ),
    );
  const issuedAt = typeof claims['iat'] === 'number' ? claims['iat'] * 1_000 : askedAt;
  const aheadMs = issuedAt - askedAt;
  if (aheadMs > SKEW_MS)
    findings.push(
      fail(
        'clock_differs',
        `the identity provider's clock is ${Math.round(aheadMs / 1_000)} s ahead: the token of ${who} is from the future`,
        'Run NTP on both, for example: timedatectl set-ntp true',
      ),
    );
  if (config === undefined) return findings;
  const audiences = [claims['aud']].flat().filter((one) => typeof one === 'string');
  const { authorizedUris, appAuth } = config.auth;
  const accepted = [
    config.publicUrl,
    ...authorizedUris,
    ...appAuth.externalAuthServer.allowedAudience,
  ];
  const spellings = new Set(accepted.flatMap(listAudienceSpellings));
  if (!audiences.some((audience) => spellings.has(audience)))
    findings.push(
      fail(
        'audience_missing',
        `the token of ${who} is for ${audiences.length === 0 ? 'no audience' : showWords(audiences.join(' '))}, and the platform takes ${accepted.join(' ')}`,
        `Have the authorization server put ${config.publicUrl} into aud (Keycloak: an audience mapper in the scope all), or add what it has to auth.appAuth.externalAuthServer.allowedAudience.`,
      ),
    );
  const granted = readScopes(claims, config);
  const lacking = config.bearer.requiredScopes.filter((scope) => !granted.includes(scope));
  if (lacking.length > 0)
    findings.push(
      fail(
        'token_scope_missing',
        `the token of ${who} lacks the scope ${lacking.join(' ')}`,
        `Ask for ${lacking.join(' ')} in scopes, and have the authorization server grant it; its claim is one of ${config.bearer.scopeClaims.join(', ')}.`,
        [`found ${granted.length === 0 ? 'no scope' : showWords(granted.join(' '))}`],
      ),
    );
  return findings;
}

function readScopes(claims: Claims, config: Config): readonly string[] {
  return config.bearer.scopeClaims
    .flatMap((name) => claims[name] ?? [])
    .flatMap((value) => (typeof value === 'string' ? value.split(' ') : []));
}

function toOpaque({ name, clientId }: ObtainedToken): Finding {
  return fail(
    'token_opaque',
    `the token of ${name} (${clientId}) is no JWT, and no introspection is configured: the platform refuses it`,
    'Have the authorization server issue JWTs (Auth0: ask for an audience), or configure bearer.introspection.',
  );
}
