/**
 * A peer: it accepts calls behind the gateway, and verifies each caller itself.
 *
 * @module
 */

import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { createAuthInterceptor, principalKey } from '@sallyport/server/doors/connect';
import { createNodeDoor } from '@sallyport/server/doors/node-http';
import { createBearerCheck } from '@sallyport/server/verdict';
import type { LogEvent } from './actor-log.ts';
import type { PingService } from './ping-services.ts';

/** Whose tokens a peer accepts. */
export interface Accepted {
  readonly issuer: string;
  /** Audience of the tokens: the platform's public URL. */
  readonly publicUrl: string;
}

/** A peer that accepts calls. */
export interface OpenPeer {
  /** Where it listens on the loopback: HTTP/1.1 for HTTP and Connect, HTTP/2 for gRPC. */
  readonly ports: { readonly http: number; readonly grpc: number };
  /** Accepts no more. */
  close(): void;
}

/**
 * Listens. Every call needs a token with the scope `all`, whichever way it came: from inside the cluster one can come
 * past the gateway. Answers with the subject of the caller.
 */
export async function acceptCalls(
  service: PingService,
  { issuer, publicUrl }: Accepted,
  log: LogEvent,
): Promise<OpenPeer> {
  const bearer = createBearerCheck({
    settings: {
      issuers: [
        {
          issuer,
          metadataUrl: '',
          audiences: [publicUrl],
          algorithms: ['RS256'],
          clientIdClaims: ['client_id', 'azp', 'cid'],
          scopeClaims: ['scope', 'scp'],
          subjectClaim: 'sub',
          subjectPrefix: '',
          emailTrusted: false,
        },
      ],
      requiredScopes: ['all'],
      sessionClientIds: [],
      interactiveClientIds: [],
    },
    headers: {
      httpAuthorizationHeader: 'core-authorization',
      grpcAuthorizationHeader: 'core-authorization',
      onlyConfiguredHeader: false,
    },
    access: () => ({
      tenants: [],
      groups: [],
      emailDomains: [],
      clientIds: [],
      tenantClaim: 'tid',
      groupsClaim: 'groups',
      emailTrusted: false,
    }),
    claimHeaders: [],
    fetch,
    now: Date.now,
    schedule: (afterMs, callback) => {
      const timer = setTimeout(callback, afterMs);
      return () => clearTimeout(timer);
    },
    onKeysLoaded: (from) => log('info', 'keys_read', { issuer: from }),
    onRefused: (problem) => log('warn', 'caller_refused', { problem }),
    onFailure: (from) => log('warn', 'issuer_failed', { issuer: from }),
    onOutage: () => log('warn', 'caller_undecided', {}),
  });
  const { check } = bearer;
  const door = createNodeDoor({ check, publicOrigin: publicUrl });
  const rpc = connectNodeAdapter({
    interceptors: [createAuthInterceptor({ check, publicOrigin: publicUrl })],
    routes: (router) =>
      router.service(service, {
        ping: (_request, { values }) => ({ value: values.get(principalKey)?.subject ?? '' }),
      }),
  });
  const http = createServer((req, res) => {
    if (req.url?.startsWith(`/${service.typeName}/`)) return rpc(req, res);
    door(req, res, ({ principal }) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ caller: principal.subject }));
    });
  });
  const http2 = createHttp2Server(rpc);
  return {
    ports: { http: await listen(http), grpc: await listen(http2) },
    close() {
      http.close();
      http2.close();
      bearer.close();
    },
  };
}

async function listen(server: Server | Http2Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}
