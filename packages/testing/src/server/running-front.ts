/**
 * The admin service's application handler on a port of its own, with an identity provider under the hand of a test.
 *
 * @module
 */

import { ConnectError, type Transport } from '@connectrpc/connect';
import { createRouteMatcher, ROUTE_GROUPS } from '@sallyport/protocol';
import {
  AuthMetadataService,
  AuthMetadataService2,
  IdentityService,
  IdentityService2,
} from '@sallyport/protocol/protobuf';
import { onTestFinished } from 'vitest';
import { createApplicationHandler } from '../../../server/src/application-handler.ts';
import { createIssuers } from '../../../server/src/issuer/issuers.ts';
import { createMetadataSource } from '../../../server/src/issuer/metadata/authorization-server-metadata.ts';
import { listenOnOnePort } from '../../../server/src/listener/http-service.ts';
import type { PublicClientConfig } from '../../../server/src/metadata/public-client-config.ts';
import { createMetadataPart } from '../../../server/src/metadata-part.ts';
import type { FakeIdp } from '../idp/fake-idp.ts';
import { startMetadataServer } from '../idp/metadata-server.ts';
import { Clock } from '../time/clock.ts';
import { Timers } from '../time/timers.ts';
import { transports } from '../wire/rpc-clients.ts';
import { createFixedCheck, type FixedCheck, PUBLIC_ORIGIN } from './fixed-check.ts';

/** The metadata for command-line clients. */
export const CLIENT: PublicClientConfig = {
  clientId: 'native-app',
  redirectUri: 'http://localhost:53593/callback',
  scopes: ['all', 'offline'],
  audience: 'https://flow.example/api',
  authorizationMetadataKey: 'core-grpc',
  serviceHttpEndpoint: PUBLIC_ORIGIN,
};
/** Both generations of the metadata service. */
export const SERVICES: readonly [typeof AuthMetadataService, typeof AuthMetadataService2] = [
  AuthMetadataService,
  AuthMetadataService2,
];
/** Both generations of the identity service. */
export const IDENTITIES: readonly [typeof IdentityService, typeof IdentityService2] = [
  IdentityService,
  IdentityService2,
];
/** Names of the ways to call. */
export const HOW: readonly string[] = Object.keys(transports(0));

/** A running application handler. */
export interface RunningFront {
  readonly server: FakeIdp;
  readonly signIn: FakeIdp;
  readonly timers: Timers;
  readonly readiness: { isReady: boolean };
  readonly stopping: AbortController;
  readonly fixed: FixedCheck;
  readonly url: string;
  readonly port: number;
}

/** Starts it; `isDown` takes the authorization server away first. */
export async function startFront(
  options: { readonly client?: Partial<PublicClientConfig>; readonly isDown?: boolean } = {},
): Promise<RunningFront> {
  const [server, signIn] = [await startMetadataServer(), await startMetadataServer()];
  if (options.isDown === true) await server.goDown();
  const timers = new Timers();
  const readiness = { isReady: true };
  const stopping = new AbortController();
  const fixed = createFixedCheck();
  const issuers = createIssuers({
    fetch,
    now: new Clock().now,
    schedule: timers.schedule,
    random: () => 0,
  });
  const source = createMetadataSource({
    issuers,
    now: new Clock().now,
    log: () => {},
    folder: undefined,
  });
  const handler = createApplicationHandler({
    auth: {
      check: fixed.check,
      publicOrigin: PUBLIC_ORIGIN,
      matchRoute: createRouteMatcher(ROUTE_GROUPS),
    },
    metadata: createMetadataPart(
      {
        authorizationServer: source.of(server.issuer),
        signInServer: source.of(signIn.issuer),
        publicClient: { ...CLIENT, ...options.client },
      },
      {
        waitingFor: async () => (readiness.isReady ? [] : ['identity_provider']),
        schedule: timers.schedule,
        stopping: stopping.signal,
      },
      () => {},
    ),
    router: (req, res) => {
      res.statusCode = req.url === '/login' ? 200 : 404;
      res.end('router');
    },
  });
  const listener = await listenOnOnePort(handler, {
    port: 0,
    host: '127.0.0.1',
    timeouts: { drainMs: 100 },
  });
  onTestFinished(async () => {
    stopping.abort();
    issuers.close();
    await listener.close();
  });
  const url = `http://127.0.0.1:${listener.port}`;
  return { server, signIn, timers, readiness, stopping, fixed, url, port: listener.port };
}

/** What a call fails with. */
export async function failure(call: Promise<unknown>): Promise<ConnectError> {
  return ConnectError.from(
    await call.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
}

/** One way to call, by name. */
export function transportOf(port: number, how: string): Transport {
  const transport = transports(port)[how];
  if (transport === undefined) throw new Error(how);
  return transport;
}
