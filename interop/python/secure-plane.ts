/**
 * `sallyport up` over TLS, with what the tests of released clients ask of it.
 *
 * @module
 */

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { importJWK, type JWK } from 'jose';
import { expect, vi } from 'vitest';
import { rs256, writeJws } from '../../conformance/wire/forge.ts';
import { type Running, start, temporaryFolder } from '../../conformance/wire/process.ts';
import { PATIENCE } from '../../conformance/wire/workers.ts';

/** A running plane whose public URL is https. */
export interface SecurePlane {
  readonly url: string;
  /** Host and port of {@link url}, as clients are configured with them; with the port of https too. */
  readonly authority: string;
  readonly issuer: string;
  readonly caFile: string;
  readonly logFile: string;
  /** The deployment variables, as a shell would read them from the file. */
  readonly deployment: Readonly<Record<string, string>>;
  readonly serviceClientId: string;
  readonly serviceSecretFile: string;
  password(login: 'ada' | 'grace'): string;
  /** The service application's credentials for HTTP Basic. */
  serviceCredentials(): string;
  /** Token requests since the last time: client and grant type of each, or its refusal. */
  tokenRequests(): Promise<readonly string[]>;
  /** The token as it would be had it been issued two hours ago: expired, and signed by the IdP. */
  age(accessToken: string): Promise<string>;
  /** Starts it again at the same addresses with another signing key: no token of before is good. */
  changeSigningKey(): Promise<void>;
  stop(): Promise<void>;
}

const HOUR_SECONDS = 3_600;

/**
 * Starts the plane in a folder of its own.
 *
 * @param port - A free one when absent.
 * @param environment - Variables of its process besides.
 */
export async function startSecurePlane(
  port?: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<SecurePlane> {
  const folder = temporaryFolder();
  const idp = (file: string): string => join(folder.path, 'idp', file);
  const options = ['up', '--https', '--state', folder.path];
  const ports = ['--port', String(port ?? (await freePort()))];
  ports.push('--idp-port', String(await freePort()));
  let running: Running = await start([...options, ...ports], environment);
  const deployment = readDeployment(join(folder.path, 'deployment.env'));
  const url = deployment['PUBLIC_URL'] ?? '';
  const issuer = deployment['OIDC_BASE_URL'] ?? '';
  const logFile = join(folder.path, 'sallyport.log');
  let read = 0;

  return {
    url,
    authority: `${new URL(url).hostname}:${portOf(url)}`,
    issuer,
    caFile: join(folder.path, 'tls', 'ca.pem'),
    logFile,
    deployment,
    serviceClientId: deployment['AUTH_CLIENT_ID'] ?? '',
    serviceSecretFile: idp('service-client-secret'),
    password(login) {
      const lines = readFileSync(idp('passwords'), 'utf8').split('\n');
      return lines.find((line) => line.startsWith(`${login} `))?.slice(login.length + 1) ?? '';
    },
    serviceCredentials() {
      const secret = readFileSync(idp('service-client-secret'), 'utf8');
      const pair = `${deployment['AUTH_CLIENT_ID']}:${secret}`;
      return `Basic ${Buffer.from(pair).toString('base64')}`;
    },
    async tokenRequests() {
      // The log is written behind the answers. A request of the test's own comes last in it.
      const probe = { grant_type: 'probe', client_id: deployment['CLI_CLIENT_ID'] ?? '' };
      await fetch(deployment['AUTH_TOKEN_URL'] ?? '', {
        method: 'POST',
        body: new URLSearchParams(probe),
      });
      const lines = await vi.waitFor(() => {
        const all = tokenLines(readFileSync(logFile, 'utf8'));
        expect(all.slice(read).at(-1)).toContain('unsupported_grant_type');
        return all;
      }, PATIENCE);
      const fresh = lines.slice(read, -1);
      read = lines.length;
      return fresh;
    },
    async age(accessToken) {
      const [header = '', payload = ''] = accessToken.split('.').map(decode);
      const key = JSON.parse(readFileSync(idp('signing-key.json'), 'utf8')) as JWK;
      const claims = JSON.parse(payload) as { readonly iat: number; readonly exp: number };
      const aged = {
        ...claims,
        iat: claims.iat - 2 * HOUR_SECONDS,
        exp: claims.exp - 2 * HOUR_SECONDS,
      };
      return writeJws(header, aged, rs256((await importJWK(key, 'RS256')) as CryptoKey));
    },
    async changeSigningKey() {
      await running.stop();
      rmSync(idp('signing-key.json'));
      running = await start([...options, ...ports], environment);
    },
    async stop() {
      await running.stop();
      folder.remove();
    },
  };
}

function readDeployment(file: string): Readonly<Record<string, string>> {
  const lines = readFileSync(file, 'utf8').matchAll(/^(\w+)='(.*)'$/gm);
  return Object.fromEntries([...lines].map(([, name = '', text = '']) => [name, text]));
}

/** Polls of the device flow that are too early are part of one request. */
function tokenLines(log: string): readonly string[] {
  return log
    .split('\n')
    .filter((line) => line.includes('"idp.token.'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, string>>)
    .filter(({ error }) => error !== 'authorization_pending')
    .map((entry) => `${entry['client_id']} ${entry['grant_type'] ?? `refused ${entry['error']}`}`);
}

function portOf(address: string): string {
  return new URL(address).port || '443';
}

function decode(part: string): string {
  return Buffer.from(part, 'base64url').toString('utf8');
}
