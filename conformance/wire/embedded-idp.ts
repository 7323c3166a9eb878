/**
 * The embedded IdP in a process of its own, reached over a socket whose path only the test knows.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import type { MovedClock } from './moved-clock.ts';
import { temporaryFolder } from './process.ts';

/** Settings of {@link startEmbeddedIdp}. */
export interface EmbeddedIdpSettings {
  readonly issuer: string;
  readonly publicUrl: string;
  readonly leewaySeconds: number;
  readonly accessTokenTtlSeconds: number;
  readonly clock: MovedClock | undefined;
  readonly registration?: WebRegistration | undefined;
}

/** How the web application is registered; by a secret, pushing or not, when absent. */
export interface WebRegistration {
  /** Where it publishes its keys: it then proves itself by `private_key_jwt`. */
  readonly webJwksUri?: string;
  /** Whether its authorization requests have to be pushed (RFC 9126). */
  readonly requirePushedAuthorization?: boolean;
}

/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The running process. */
export interface EmbeddedIdp {
  /** File that holds the web application's secret. */
  readonly webClientSecretFile: string;
  password(login: string): string;
  /** Passes a request on. `Host` has to be the issuer's. */
  ask(method: string, path: string, headers: IncomingHttpHeaders, body: Buffer): Promise<Answer>;
  /** Ends the grant of a refresh token (RFC 7009 section 2.1). */
  revoke(refreshToken: string): Promise<void>;
  close(): Promise<void>;
}

/** Identifiers of the three applications. */
export const CLIENT_IDS = {
  web: 'web-app',
  native: 'native-app',
  service: 'service-app',
} as const;

const PROGRAM = new URL('./embedded-idp-process.ts', import.meta.url).pathname;
/** Of one connection, not of the answer that came over it. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** Starts it in a folder of its own. */
export async function startEmbeddedIdp(settings: EmbeddedIdpSettings): Promise<EmbeddedIdp> {
  const { issuer, publicUrl, leewaySeconds, accessTokenTtlSeconds, clock } = settings;
  const folder = temporaryFolder();
  const stateDirectory = join(folder.path, 'state');
  const webClientSecretFile = join(stateDirectory, 'web-client-secret');
  const socketPath = join(folder.path, 'idp');
  const child = await startProcess(clock, socketPath, {
    issuer,
    publicUrl,
    stateDirectory,
    clientIds: CLIENT_IDS,
    refreshTokenLeewaySeconds: leewaySeconds,
    accessTokenTtlSeconds,
    ...settings.registration,
  });
  const passwords = readFileSync(join(stateDirectory, 'passwords'), 'utf8');

  const ask: EmbeddedIdp['ask'] = async (method, path, headers, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const length = body.length === 0 ? {} : { 'content-length': String(body.length) };
    const sent = request(
      { socketPath, method, path, headers: { ...withoutHops(headers), ...length }, agent: false },
      resolve,
    );
    sent.on('error', reject);
    sent.end(body);
    const response = await promise;
    const content = await buffer(response);
    return {
      status: response.statusCode ?? 0,
      headers: withoutHops(response.headers),
      body: content,
    };
  };

  return {
    webClientSecretFile,
    password: (login) => new RegExp(`^${login} (\\S+)$`, 'm').exec(passwords)?.[1] ?? '',
    ask,
    async revoke(refreshToken) {
      const secret = readFileSync(webClientSecretFile, 'utf8');
      const basic = Buffer.from(`${CLIENT_IDS.web}:${secret}`).toString('base64');
      const headers = {
        host: new URL(issuer).host,
        authorization: `Basic ${basic}`,
        'content-type': 'application/x-www-form-urlencoded',
      };
      const form = new URLSearchParams({ token: refreshToken, token_type_hint: 'refresh_token' });
      const { status } = await ask('POST', '/idp/revoke', headers, Buffer.from(form.toString()));
      if (status !== 200) throw new Error(`the IdP does not revoke: ${status}`);
    },
    async close() {
      await end(child);
      folder.remove();
    },
  };
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

async function startProcess(
  clock: MovedClock | undefined,
  socketPath: string,
  options: Readonly<Record<string, unknown>>,
): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    ['--conditions=source', PROGRAM, socketPath, JSON.stringify(options)],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { ...clock?.environment } },
  );
  const said = text(child.stderr);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stdout.once('data', () => resolve());
  child.once('exit', () => void said.then((log) => reject(new Error(`the IdP ended\n${log}`))));
  await promise;
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill();
  await ended;
}
