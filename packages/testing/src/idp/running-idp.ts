/**
 * An embedded IdP on a free port, and the steps of its clients.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint } from 'jose';
import { createEmbeddedIdp, type EmbeddedIdp } from '../../../idp/src/embedded/embedded-idp.ts';
import { type Answer, type Browser, createBrowser } from './browser.ts';
import { nextRsaKeys } from './rsa-keys.ts';

/** Client identifiers in tests. */
export const CLIENT_IDS = { web: 'web-app', native: 'native-app', service: 'service+app' } as const;

/** Public URL in tests; nothing listens there. */
export const PUBLIC_URL = 'http://127.0.0.1:8080';

/** Verifier of every PKCE request in tests, and its S256 challenge. */
export const CODE_VERIFIER: string = 'v'.repeat(43);
export const CODE_CHALLENGE: string = createHash('sha256')
  .update(CODE_VERIFIER)
  .digest('base64url');

/** A listening IdP. */
export interface RunningIdp {
  readonly idp: EmbeddedIdp;
  readonly issuer: string;
  readonly stateDirectory: string;
  /** Lines of all log events so far. */
  readonly events: string[];
  /** Logout tokens that the web application was sent, by address. */
  readonly logouts: { readonly url: string; readonly token: string }[];
  close(): Promise<void>;
}

/** Starts an IdP; without a directory in one that is removed again. */
export async function startIdp(
  options: {
    readonly stateDirectory?: string;
    readonly signInAs?: string;
    readonly now?: () => number;
    readonly nativeRefreshTokens?: boolean;
    readonly refreshTokenLeewaySeconds?: number;
    readonly accessTokenTtlSeconds?: number;
    readonly webJwksUri?: string;
    readonly requirePushedAuthorization?: boolean;
    readonly adminToken?: string;
    /** What the web application answers to a logout token; 200 when absent. */
    readonly answerLogout?: () => Promise<Response>;
  } = {},
): Promise<RunningIdp> {
  const created =
    options.stateDirectory === undefined ? await mkdtemp(join(tmpdir(), 'idp-')) : undefined;
  const stateDirectory = options.stateDirectory ?? join(created ?? '', 'state');
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
    if (created !== undefined) await rm(created, { recursive: true, force: true });
  };
  const events: string[] = [];
  const logouts: RunningIdp['logouts'] = [];
  const { answerLogout = async () => new Response(null) } = options;
  const reach: typeof fetch = async (input, init) => {
    if (init?.method !== 'POST' || !(init.body instanceof URLSearchParams))
      return fetch(input, init);
    logouts.push({ url: new Request(input).url, token: init.body.get('logout_token') ?? '' });
    return answerLogout();
  };
  try {
    if (created !== undefined) await placeSigningKey(stateDirectory);
    const idp = await createEmbeddedIdp({
      issuer,
      publicUrl: PUBLIC_URL,
      clientIds: CLIENT_IDS,
      fetch: reach,
      log: (event, fields) => events.push(`${event} ${JSON.stringify(fields)}`),
      ...options,
      stateDirectory,
    });
    server.on('request', idp.handler);
    const close = async (): Promise<void> => {
      idp.close();
      await stop();
    };
    return { idp, issuer, stateDirectory, events, logouts, close };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** Spares the IdP making one, as if it had been started before. */
async function placeSigningKey(stateDirectory: string): Promise<void> {
  const jwk = nextRsaKeys().privateKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint(jwk);
  await mkdir(stateDirectory, { mode: 0o700 });
  const text = JSON.stringify({ ...jwk, alg: 'RS256', use: 'sig', kid });
  await writeFile(join(stateDirectory, 'signing-key.json'), text, { mode: 0o600 });
}

/** Builds the authorization request of the web application; `undefined` removes a parameter. */
export function authorizeUrl(
  { issuer }: RunningIdp,
  parameters: Readonly<Record<string, string | undefined>> = {},
): string {
  const url = new URL('/idp/authorize', issuer);
  const all = {
    response_type: 'code',
    client_id: CLIENT_IDS.web,
    redirect_uri: `${PUBLIC_URL}/callback`,
    scope: 'profile openid offline_access',
    state: 'state-1',
    code_challenge: CODE_CHALLENGE,
    code_challenge_method: 'S256',
    ...parameters,
  };
  for (const [name, value] of Object.entries(all))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/** Parameters that make {@link authorizeUrl} the request of the native application. */
export const NATIVE_REQUEST: {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly scope: string;
} = {
  client_id: CLIENT_IDS.native,
  redirect_uri: 'http://localhost:53593/callback',
  scope: 'all',
};

/** Types a login and a password into the sign-in page of an authorization request. */
export async function signIn(
  running: RunningIdp,
  request: string,
  { browser = createBrowser(), login = 'ada' }: { browser?: Browser; login?: string } = {},
): Promise<{ readonly page: Answer; readonly answer: Answer; readonly callback: URL }> {
  const page = await browser.follow(await browser.get(request), running.issuer);
  const password = running.idp.users.find((user) => user.login === login)?.password ?? '';
  const submitted = await browser.submit(page.url, { login, password });
  const answer = await browser.follow(submitted, running.issuer);
  return { page, answer, callback: new URL(answer.location ?? 'about:blank') };
}

/** Asks the token endpoint. */
export async function requestToken(
  running: RunningIdp,
  fields: Readonly<Record<string, string>>,
  basic?: string,
  headers?: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  return post(running, '/idp/token', fields, basic, headers);
}

/** Posts a form to an endpoint that programs call. */
export async function post(
  { issuer }: RunningIdp,
  path: string,
  fields: Readonly<Record<string, string>>,
  basic?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(`${issuer}${path}`, {
    method: 'POST',
    body: new URLSearchParams({ ...fields }),
    headers: {
      ...headers,
      ...(basic === undefined ? {} : { authorization: basicCredentials(basic) }),
    },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

function basicCredentials(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword).toString('base64')}`;
}

/** Fields that exchange the code of a callback. */
export function exchangeOf(
  callback: URL,
  redirectUri = `${PUBLIC_URL}/callback`,
): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    code: callback.searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: CODE_VERIFIER,
  };
}
