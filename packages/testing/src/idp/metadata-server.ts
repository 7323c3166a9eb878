/**
 * An authorization server's metadata endpoint that lies, stalls and dies on demand.
 *
 * @module
 */

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The endpoint under the hand of a test. */
export interface MetadataServer {
  readonly issuer: string;
  /** Put over the honest document. */
  members: Readonly<Record<string, unknown>>;
  /** Replaces the whole answer. */
  answer: ((path: string, res: ServerResponse) => void) | undefined;
  /** Paths asked for. */
  readonly asked: string[];
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
}

/** What an honest server says. */
export function honestDocument(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    device_authorization_endpoint: `${issuer}/device`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    scopes_supported: ['openid', 'all'],
    grant_types_supported: ['authorization_code', 'client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

/** Starts it for the running test. */
export async function startMetadataServer(): Promise<MetadataServer> {
  const node = createServer((req, res) => {
    const path = req.url ?? '';
    server.asked.push(path);
    if (server.answer !== undefined) return server.answer(path, res);
    if (path !== '/.well-known/openid-configuration') {
      res.writeHead(404).end();
      return;
    }
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ ...honestDocument(server.issuer), ...server.members }));
  });
  const port = await listen(node, 0);
  onTestFinished(() => close(node));
  const server: MetadataServer = {
    issuer: `http://127.0.0.1:${port}`,
    members: {},
    answer: undefined,
    asked: [],
    goDown: () => close(node),
    comeUp: async () => void (await listen(node, port)),
  };
  return server;
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
