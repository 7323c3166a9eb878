/**
 * An identity provider that shares no code with this repository: `oidc-provider-mock`, on Authlib.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '@sallyport/testing/wire/ports';

/** A running provider, which knows one person, `ada`. */
export interface ExternalProvider {
  readonly issuer: string;
  /** Registers a web application (OpenID Connect Dynamic Client Registration 1.0). */
  register(redirectUri: string): Promise<{ readonly id: string; readonly secret: string }>;
  /** Method and path of every request so far. */
  requests(): readonly string[];
  stop(): Promise<void>;
}

const ADA = {
  sub: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@example.test',
  email_verified: true,
};

/** Starts it on a free port. @param python - An interpreter that has it. */
export async function startExternalProvider(python: string): Promise<ExternalProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const options = [
    '--port',
    String(port),
    '--require-registration',
    'true',
    '--require-nonce',
    'true',
  ];
  const user = ['--user-claims', JSON.stringify(ADA)];
  const child = spawn(python, ['-m', 'oidc_provider_mock', ...options, ...user], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1' },
  });
  const ended = once(child, 'exit');
  let log = '';
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
    if (log.includes('Uvicorn running')) resolve();
  });
  void ended.then(() => reject(new Error(`the provider ended\n${log}`)));
  await ready;
  return {
    issuer,
    async register(redirectUri) {
      const answer = await fetch(`${issuer}/oauth2/clients`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [redirectUri] }),
      });
      const client = (await answer.json()) as { client_id: string; client_secret: string };
      return { id: client.client_id, secret: client.client_secret };
    },
    requests: () => [...log.matchAll(/"((?:GET|POST) \/[^ ?]*)/g)].map(([, line = '']) => line),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
