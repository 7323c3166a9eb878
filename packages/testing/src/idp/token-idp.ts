/**
 * An IdP of one person on a port of its own, whose every answer can be another one.
 *
 * @module
 */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { NOON } from '../time/clock.ts';
import { createSigningKey, forgeToken, type SigningKey, WEB_CLIENT } from './forge.ts';

/** One request as the IdP got it. */
export interface TokenIdpRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
}

/** Answers a request in place of the honest IdP. */
export type TokenIdpAnswer = (res: ServerResponse, request: TokenIdpRequest) => void;

/** The IdP under the hand of a test. */
export interface TokenIdp {
  readonly issuer: string;
  readonly requests: TokenIdpRequest[];
  /** Put over the honest metadata; a member that is `undefined` is left out. */
  metadata: Readonly<Record<string, unknown>>;
  /** Put over the honest claims of the id_token. */
  claims: Readonly<Record<string, unknown>>;
  /** Put over the honest answer of the token endpoint. */
  granted: Readonly<Record<string, unknown>>;
  userInfo: Readonly<Record<string, unknown>>;
  keys: readonly object[];
  /** In place of the honest answers, by path. */
  readonly answers: Map<string, TokenIdpAnswer>;
  /** An id_token as the IdP would sign it now. */
  issueIdToken(claims?: Readonly<Record<string, unknown>>, key?: SigningKey): string;
  /** Ends every connection; new ones are refused. */
  goDown(): Promise<void>;
}

/** The key whose public half the IdP publishes. */
export const IDP_KEY: SigningKey = createSigningKey('RS256', 'idp-key');

/** Answers with a status and a body. */
export function answerWith(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): TokenIdpAnswer {
  return (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Starts it for the running test. */
export async function startTokenIdp(): Promise<TokenIdp> {
  const node = createServer((req, res) => {
    void text(req).then((body) => {
      const request: TokenIdpRequest = {
        path: req.url ?? '',
        headers: req.headers,
        form: Object.fromEntries(new URLSearchParams(body)),
      };
      idp.requests.push(request);
      const answer = idp.answers.get(request.path) ?? answerHonestly;
      return answer(res, request);
    });
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const goDown = async () => {
    node.closeAllConnections();
    await new Promise<void>((resolve) => node.close(() => resolve()));
  };
  onTestFinished(goDown);
  const issuer = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const idp: TokenIdp = {
    issuer,
    requests: [],
    metadata: {},
    claims: {},
    granted: {},
    userInfo: { sub: 'ada-subject', groups: ['engineers'] },
    keys: [IDP_KEY.jwk],
    answers: new Map(),
    goDown,
    issueIdToken: (claims = {}, key = IDP_KEY) =>
      forgeToken(key, { ...honestClaims(issuer), ...claims }, { typ: 'JWT' }),
  };
  return idp;

  function answerHonestly(res: ServerResponse, { path }: TokenIdpRequest): void {
    const body = honestBody(path);
    answerWith(body === undefined ? 404 : 200, body ?? {})(res, { path, headers: {}, form: {} });
  }

  function honestBody(path: string): unknown {
    switch (path) {
      case '/.well-known/openid-configuration':
        return { ...honestMetadata(issuer), ...idp.metadata };
      case '/token':
        return {
          access_token: 'access-token-2',
          token_type: 'Bearer',
          expires_in: 300,
          refresh_token: 'refresh-token-2',
          id_token: idp.issueIdToken(idp.claims),
          ...idp.granted,
        };
      case '/userinfo':
        return idp.userInfo;
      case '/jwks':
        return { keys: idp.keys };
      default:
        return undefined;
    }
  }
}

function honestClaims(issuer: string): Readonly<Record<string, unknown>> {
  return {
    iss: issuer,
    sub: 'ada-subject',
    aud: WEB_CLIENT,
    iat: NOON / 1_000,
    exp: NOON / 1_000 + 600,
    name: 'Ada King',
  };
}

function honestMetadata(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
  };
}
