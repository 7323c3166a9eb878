/**
 * A platform and its identity provider in one small server, which does as the test says and counts.
 *
 * @module
 */

import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnFreePort } from '@sallyport/testing/wire/listen';
import { freePort } from '@sallyport/testing/wire/ports';

/** One request that came. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

/** What an endpoint answers instead of what it would. */
export type Answer = (asked: Asked) => { readonly status: number; readonly body: unknown };

/** The running server. */
export interface FakePlatform {
  readonly url: string;
  readonly redirectPort: number;
  readonly asked: Asked[];
  /** Requests to a path. */
  count(path: string): number;
  /** Resolves when a path is asked for the next time. */
  nextRequest(path: string): Promise<void>;
  /** Overrides by path. */
  readonly answers: Map<string, Answer>;
  /** Every token and code given out: none of them may show. */
  readonly secrets: Set<string>;
  /** Seconds a token lives. */
  lifetime: number;
  /** Whether refresh tokens are given out. */
  refreshTokens: boolean;
  /** Whether the metadata names a device endpoint. */
  hasDeviceCodes: boolean;
  /** Device polls until the code counts as confirmed. */
  pollsUntilConfirmed: number;
  close(): Promise<void>;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Starts it on a free port, with a redirect URI on another. */
export async function startFakePlatform(): Promise<FakePlatform> {
  const redirectPort = await freePort();
  const asked: Asked[] = [];
  const secrets = new Set<string>();
  const living = new Set<string>();
  const refreshable = new Set<string>();
  const challenges = new Map<string, string>();
  const waiting: { readonly path: string; readonly resolve: () => void }[] = [];
  let polls = 0;
  const secret = (kind: string): string => {
    const value = `${kind}-canary-${randomBytes(12).toString('hex')}`;
    secrets.add(value);
    return value;
  };

  const server = createServer((request, response) => {
    void receive(request, response);
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', platform.url);
    const one: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      form: new URLSearchParams(await readBody(request)),
      headers: request.headers,
    };
    asked.push(one);
    for (const [index, { path, resolve }] of [...waiting.entries()].toReversed())
      if (path === one.path) {
        waiting.splice(index, 1);
        resolve();
      }
    const override = platform.answers.get(one.path);
    if (override === undefined) {
      answer(one, response);
      return;
    }
    const { status, body } = override(one);
    send(response, status, body);
  }

  function answer(one: Asked, response: ServerResponse): void {
    const { path, query, form, headers } = one;
    if (path.endsWith('/GetOAuth2Metadata')) {
      send(response, 200, {
        issuer: platform.url,
        authorizationEndpoint: `${platform.url}/authorize`,
        tokenEndpoint: `${platform.url}/token`,
        ...(platform.hasDeviceCodes
          ? { deviceAuthorizationEndpoint: `${platform.url}/device` }
          : {}),
        codeChallengeMethodsSupported: ['S256'],
      });
    } else if (path.endsWith('/GetPublicClientConfig')) {
      send(response, 200, {
        clientId: 'native',
        redirectUri: `http://localhost:${redirectPort}/callback`,
        scopes: ['all'],
        authorizationMetadataKey: 'core-authorization',
      });
    } else if (path === '/.well-known/openid-configuration') {
      send(response, 200, {
        issuer: platform.url,
        authorization_endpoint: `${platform.url}/authorize`,
        token_endpoint: `${platform.url}/token`,
        device_authorization_endpoint: `${platform.url}/device`,
        revocation_endpoint: `${platform.url}/revoke`,
      });
    } else if (path === '/authorize') {
      const code = secret('code');
      challenges.set(code, query.get('code_challenge') ?? '');
      const back = new URL(query.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', query.get('state') ?? '');
      response.writeHead(302, { location: back.href }).end();
    } else if (path === '/device') {
      polls = 0;
      send(response, 200, {
        device_code: secret('device'),
        user_code: 'WDJB-MJHT',
        verification_uri: `${platform.url}/activate`,
        verification_uri_complete: `${platform.url}/activate?user_code=WDJB-MJHT`,
        expires_in: 300,
        interval: 1,
      });
    } else if (path === '/token') token(form, response);
    else if (path === '/revoke') {
      refreshable.delete(form.get('token') ?? '');
      send(response, 200, '');
    } else if (path === '/me') {
      const bearer = String(headers['core-authorization'] ?? '').replace(/^Bearer /, '');
      if (!living.has(bearer)) {
        send(response, 401, { reason: 'token_invalid' });
        return;
      }
      response.setHeader('x-user-identity-type', 'user');
      response.setHeader('x-user-issuer', platform.url);
      send(response, 200, { subject: 'ada', name: 'Ada Lovelace', email: 'ada@example.test' });
    } else send(response, 404, { reason: 'not_found' });
  }

  function refusalOf(form: URLSearchParams): string | undefined {
    const type = form.get('grant_type');
    if (type === 'authorization_code') {
      const challenge = challenges.get(form.get('code') ?? '');
      const verifier = form.get('code_verifier') ?? '';
      secrets.add(verifier);
      const derived = createHash('sha256').update(verifier).digest('base64url');
      return derived === challenge ? undefined : 'invalid_grant';
    }
    if (type === 'refresh_token')
      return refreshable.delete(form.get('refresh_token') ?? '') ? undefined : 'invalid_grant';
    if (type === DEVICE_GRANT) {
      polls += 1;
      return polls > platform.pollsUntilConfirmed ? undefined : 'authorization_pending';
    }
    return type === 'client_credentials' ? undefined : 'unsupported_grant_type';
  }

  function token(form: URLSearchParams, response: ServerResponse): void {
    const error = refusalOf(form);
    if (error !== undefined) {
      send(response, 400, { error });
      return;
    }
    const access = secret('access');
    living.add(access);
    const refresh = platform.refreshTokens ? secret('refresh') : undefined;
    if (refresh !== undefined) refreshable.add(refresh);
    send(response, 200, {
      access_token: access,
      token_type: 'Bearer',
      expires_in: platform.lifetime,
      scope: 'all',
      ...(refresh === undefined ? {} : { refresh_token: refresh }),
    });
  }

  const port = await listenOnFreePort(server);
  const platform: FakePlatform = {
    url: `http://localhost:${port}`,
    redirectPort,
    asked,
    count: (path) => asked.filter((one) => one.path === path).length,
    nextRequest: (path) => new Promise((resolve) => waiting.push({ path, resolve })),
    answers: new Map(),
    secrets,
    lifetime: 3_600,
    refreshTokens: true,
    hasDeviceCodes: true,
    pollsUntilConfirmed: 1,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return platform;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
