/**
 * The one fake identity provider: honest until a test throws a switch. It imports no package, so that
 * black-box tests use it, too. The provider that is real stands in `packages/idp`.
 *
 * @module
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { exportJWK, importJWK, type JWK, SignJWT } from 'jose';
import { listenOn, listenOnFreePort } from '../wire/listen.ts';
import { nextRsaKeys } from './rsa-keys.ts';

/** What a forger knows when it makes an id_token. */
export interface Forgery {
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
  /** Seconds since the epoch. */
  readonly now: number;
  /** The key the IdP publishes as `k1`. */
  readonly signingKey: CryptoKey;
  readonly publicJwk: JWK;
  /** Claims an honest id_token would have. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A token endpoint's answer in full, for lies beyond the id_token. */
export interface TokenAnswer {
  readonly status?: number;
  readonly body: string | Buffer;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is begun and never ended. */
  readonly isEndless?: boolean;
}

/** How the IdP behaves in one sign-in, in place of what is set for all. */
export interface Lie {
  readonly forge?: (forgery: Forgery) => Promise<string>;
  readonly answer?: (idToken: string) => TokenAnswer;
  /** Userinfo beside `sub`, which it may replace. */
  readonly userInfo?: Readonly<Record<string, unknown>>;
  /** Replaces the whole userinfo answer. */
  readonly userInfoAnswer?: TokenAnswer;
  /** Answers the token request without an id_token, which only a refresh may be. */
  readonly hasNoIdToken?: boolean;
  /** Gives refresh tokens that work, once each, and access tokens of this life. */
  readonly rotation?: { readonly accessTokenSeconds: number };
}

/** One request the IdP has seen. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
}

/** Answers a request in place of the honest IdP. */
export type FakeIdpAnswer = (res: ServerResponse, request: SeenRequest) => void;

/** What is fixed as the IdP starts. */
export interface FakeIdpOptions {
  /**
   * Address of this machine, `127.0.0.1` when absent. The product counts that as the loopback and no
   * other address of the network, so that another one stands for a host beyond it.
   */
  readonly host?: string;
  /** Its signing key with `kid`; a new one named `k1` when absent. */
  readonly privateJwk?: JWK;
  /** Its honest metadata document. */
  readonly document?: (issuer: string) => Readonly<Record<string, unknown>>;
  /** Any request to the token endpoint is granted, with or without a code that it gave. */
  readonly grantsAll?: boolean;
}

/** The IdP under control of the test. */
export interface FakeIdp {
  readonly issuer: string;
  /** Makes the next id_tokens; the honest one by default. */
  forge: (forgery: Forgery) => Promise<string>;
  /** Replaces the whole token answer. */
  answer: ((idToken: string) => TokenAnswer) | undefined;
  /** Its clock; epoch milliseconds. */
  now: () => number;
  /** Userinfo of the next sign-ins, beside `sub`. */
  userInfo: Readonly<Record<string, unknown>>;
  /** Put over the metadata document; takes effect at the next discovery. */
  metadata: Readonly<Record<string, unknown>>;
  /** The published key set, beside `k1`. */
  keys: readonly JWK[];
  /** In place of the honest answers, by path; `*` stands for every path that has none of its own. */
  readonly answers: Map<string, FakeIdpAnswer>;
  /** Paths whose requests are taken and never answered. */
  readonly stalled: Set<string>;
  readonly counts: {
    jwks: number;
    token: number;
    userinfo: number;
    revoke: number;
    introspect: number;
    par: number;
  };
  /** Signs the tokens; published as `k1`. */
  readonly signingKey: CryptoKey;
  readonly privateJwk: JWK;
  readonly publicJwk: JWK;
  /** Answers of the introspection endpoint (RFC 7662); by default no token is active. */
  introspect: (form: URLSearchParams) => TokenAnswer;
  /** Replaces the answer to a pushed authorization request (RFC 9126). */
  pushAnswer: TokenAnswer | undefined;
  /** Forms posted to the token endpoint. */
  readonly tokenForms: URLSearchParams[];
  /** Every request so far, oldest first. */
  readonly requests: SeenRequest[];
  /** Signs honestly. */
  honest(forgery: Forgery): Promise<string>;
  /**
   * Plays the IdP's part after `/login`: reads the authorization request, from where it was pushed if it
   * was, and gives the callback's query.
   *
   * @param location - Where `/login` sent the browser.
   * @param lie - Concerns this sign-in alone.
   */
  authorize(location: string, lie?: Lie): URLSearchParams;
  /** Resolves when a path is asked for the next time. */
  nextRequest(path: string): Promise<SeenRequest>;
  /** Ends every connection and takes no new one. */
  goDown(): Promise<void>;
  /** Listens again, on the same port. */
  comeUp(): Promise<void>;
  close(): Promise<void>;
}

interface Attempt {
  /** Absent in a refresh. */
  readonly nonce: string | undefined;
  readonly lie: Lie;
}

/** Starts it on a free port, with `clientId` as the audience of its id_tokens. */
export async function startFakeIdp(
  clientId: string,
  { host = '127.0.0.1', privateJwk, document = metadataOf, grantsAll = false }: FakeIdpOptions = {},
): Promise<FakeIdp> {
  const { privateKey, publicJwk } = await keyPairOf(privateJwk);
  const attemptByCode = new Map<string, Attempt>();
  const lieByToken = new Map<string, Lie>();
  const lieByRefreshToken = new Map<string, Lie>();
  const pushedByUri = new Map<string, URLSearchParams>();
  const waiting: { readonly path: string; readonly resolve: (seen: SeenRequest) => void }[] = [];
  let codes = 0;
  const server = createServer((req, res) => void handle(req, res));
  const port = await listenOnFreePort(server, host);
  const issuer = `http://${host}:${port}`;

  const idp: FakeIdp = {
    issuer,
    forge: (forgery) => idp.honest(forgery),
    answer: undefined,
    now: Date.now,
    userInfo: { name: 'Ada Lovelace', email: 'ada@example.test', email_verified: true },
    metadata: {},
    keys: [],
    answers: new Map(),
    stalled: new Set(),
    counts: { jwks: 0, token: 0, userinfo: 0, revoke: 0, introspect: 0, par: 0 },
    signingKey: privateKey,
    privateJwk: await exportJWK(privateKey),
    publicJwk,
    introspect: () => ({ body: JSON.stringify({ active: false }) }),
    pushAnswer: undefined,
    tokenForms: [],
    requests: [],
    honest: ({ claims, signingKey }) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: publicJwk.kid ?? '', typ: 'JWT' })
        .sign(signingKey),
    authorize(location, lie = {}) {
      const query = new URL(location).searchParams;
      const searchParams = pushedByUri.get(query.get('request_uri') ?? '') ?? query;
      codes += 1;
      const code = `code-${codes}`;
      attemptByCode.set(code, { nonce: searchParams.get('nonce') ?? '', lie });
      return new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: issuer });
    },
    nextRequest: (path) => new Promise((resolve) => waiting.push({ path, resolve })),
    goDown: () => unlisten(server),
    comeUp: () => listenOn(server, port, host),
    close: () => unlisten(server),
  };
  return idp;

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const json = (body: unknown, status = 200) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(body));
    };
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const path = new URL(req.url ?? '/', issuer).pathname;
    const seen = { method: req.method ?? '', path, headers: req.headers, form };
    idp.requests.push(seen);
    for (const waiter of waiting) if (waiter.path === path) waiter.resolve(seen);
    const replaced = idp.answers.get(path) ?? idp.answers.get('*');
    if (replaced !== undefined) return replaced(res, seen);
    switch (path) {
      case '/.well-known/openid-configuration':
        if (idp.stalled.has(path)) return;
        return json({ ...document(issuer), ...idp.metadata });
      case '/jwks':
        idp.counts.jwks += 1;
        if (idp.stalled.has(path)) return;
        return json({ keys: [publicJwk, ...idp.keys] });
      case '/token': {
        idp.counts.token += 1;
        idp.tokenForms.push(form);
        if (idp.stalled.has(path)) return;
        const refreshed = lieByRefreshToken.get(form.get('refresh_token') ?? '');
        if (refreshed !== undefined) {
          lieByRefreshToken.delete(form.get('refresh_token') ?? '');
          codes += 1;
          return exchangeCode(`refresh-${codes}`, { nonce: undefined, lie: refreshed }, res);
        }
        if (grantsAll) return exchangeCode('any', { nonce: undefined, lie: {} }, res);
        const code = form.get('code') ?? '';
        const attempt = attemptByCode.get(code);
        if (attempt === undefined)
          return json({ error: 'invalid_grant', error_description: 'unknown code' }, 400);
        attemptByCode.delete(code);
        return exchangeCode(code, attempt, res);
      }
      case '/userinfo': {
        idp.counts.userinfo += 1;
        if (idp.stalled.has(path)) return;
        const token = req.headers.authorization?.replace(/^Bearer /, '') ?? '';
        const lie = lieByToken.get(token);
        if (lie?.userInfoAnswer !== undefined) return send(res, lie.userInfoAnswer);
        return json({ sub: 'ada', ...(lie?.userInfo ?? idp.userInfo) });
      }
      case '/revoke':
        idp.counts.revoke += 1;
        if (idp.stalled.has(path)) return;
        return json({});
      case '/par': {
        idp.counts.par += 1;
        if (idp.stalled.has(path)) return;
        if (idp.pushAnswer !== undefined) return send(res, idp.pushAnswer);
        const uri = `urn:ietf:params:oauth:request_uri:${idp.counts.par}`;
        pushedByUri.set(uri, form);
        return json({ request_uri: uri, expires_in: 60 }, 201);
      }
      case '/introspect':
        idp.counts.introspect += 1;
        if (idp.stalled.has(path)) return;
        return send(res, idp.introspect(form));
      default:
        return json({ error: 'not_found' }, 404);
    }
  }

  async function exchangeCode(
    code: string,
    { nonce, lie }: Attempt,
    res: ServerResponse,
  ): Promise<void> {
    const now = Math.floor(idp.now() / 1_000);
    const idToken = await (lie.forge ?? idp.forge)({
      issuer,
      clientId,
      nonce: nonce ?? '',
      now,
      signingKey: privateKey,
      publicJwk,
      claims: { iss: issuer, sub: 'ada', aud: clientId, nonce, iat: now, exp: now + 300 },
    });
    const answer = lie.answer ?? idp.answer;
    if (answer !== undefined) return send(res, answer(idToken));
    const isLie = lie.userInfo !== undefined || lie.userInfoAnswer !== undefined;
    const accessToken = isLie ? `access-token-of-${code}` : 'access-token-of-ada';
    if (isLie) lieByToken.set(accessToken, lie);
    if (lie.rotation === undefined) return send(res, { body: honestAnswer(idToken, accessToken) });
    const refreshToken = `refresh-token-of-${code}`;
    lieByRefreshToken.set(refreshToken, lie);
    const more = {
      refresh_token: refreshToken,
      expires_in: lie.rotation.accessTokenSeconds,
      ...(lie.hasNoIdToken === true ? { id_token: undefined } : {}),
    };
    send(res, { body: honestAnswer(idToken, accessToken, more) });
  }
}

async function keyPairOf(
  given: JWK | undefined,
): Promise<{ readonly privateKey: CryptoKey; readonly publicJwk: JWK }> {
  const use = { alg: 'RS256', use: 'sig' };
  if (given === undefined) {
    const { privateKey, publicKey } = nextRsaKeys();
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    return {
      privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
      publicJwk: { ...(await exportJWK(publicKey)), kid: 'k1', ...use },
    };
  }
  const privateKey = (await importJWK(given, 'RS256', { extractable: true })) as CryptoKey;
  const { kty = '', n = '', e = '', kid = '' } = given;
  return { privateKey, publicJwk: { kty, n, e, kid, ...use } };
}

/** Answers with a status and a body. */
export function answerWith(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): FakeIdpAnswer {
  return (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** The token answer of an honest IdP, with further fields. */
export function honestAnswer(
  idToken: string,
  accessToken = 'access-token-of-ada',
  more: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: 300,
    id_token: idToken,
    refresh_token: 'refresh-token-of-ada',
    ...more,
  });
}

function metadataOf(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/end_session`,
    revocation_endpoint: `${issuer}/revoke`,
    introspection_endpoint: `${issuer}/introspect`,
    pushed_authorization_request_endpoint: `${issuer}/par`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
  };
}

function send(res: ServerResponse, answer: TokenAnswer): void {
  const { status = 200, body, contentType = 'application/json', headers, isEndless } = answer;
  res.writeHead(status, { 'content-type': contentType, ...headers });
  if (isEndless === true) res.write(body);
  else res.end(body);
}

async function unlisten(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
