/**
 * gRPC through a door of the agent: each call goes on to the platform with the token's header.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import type { ClientSettings } from '@sallyport/client';
import { createGrpcForwarder, type GrpcForwarder } from '@sallyport/gateway/forward-grpc';
import { DEFAULT_TIMEOUTS, type Exchange } from '@sallyport/gateway/listeners';
import { type HeaderPair, type RouteGroup, selectEndToEndHeaders } from '@sallyport/protocol';
import type { Log } from '@sallyport/server/observe';
import { sendGrpcStatus } from './grpc-status.ts';
import { CAPABILITY_HEADER } from './request-guard.ts';
import type { HeldToken, TokenKeeper } from './token-keeper.ts';

/** Passes calls on. */
export interface GrpcDoor {
  /** Answers a call, or passes it on. Never throws. */
  carry(exchange: Exchange, keeper: TokenKeeper): Promise<void>;
  /** Breaks off whatever is under way. */
  destroy(): void;
}

/** Any call may be a long stream: its own deadline ends it, which the platform sees as well. */
const GROUP: RouteGroup = {
  name: 'platform',
  transport: 'grpc',
  protected: false,
  backend: 'platform',
  matches: [],
  forwardCredential: 'all',
  streaming: true,
};
/** What the caller does not send to the platform: the token of the agent alone says who calls. */
const REPLACED: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'host',
  CAPABILITY_HEADER,
]);

/** Creates it. Connections to a platform are made with the first call and shared by all. */
export function createGrpcDoor(log: Log): GrpcDoor {
  const forwarders = new Map<string, GrpcForwarder>();
  return {
    async carry(exchange, keeper) {
      const origin = keeper.settings.endpoint?.origin;
      if (origin === undefined)
        return sendGrpcStatus(exchange, 12, 'no_endpoint', 'admin.endpoint is not set');
      const gone = new AbortController();
      exchange.onClose(() => gone.abort());
      const got = await keeper.get(gone.signal);
      if (exchange.isClosed) return;
      if (!got.ok) return sendGrpcStatus(exchange, 14, got.error.reason, got.error.sentence);
      forwarderFor(origin, keeper.settings).forward({
        exchange,
        origin,
        target: exchange.target,
        group: GROUP,
        headers: withToken(exchange.rawHeaders, got.value),
        requestId: randomUUID(),
        setCookie: undefined,
        // The call itself is not repeated, since the caller may not want that; the next one has another token.
        onUnauthenticated: () => keeper.reportRefused(got.value.tokens),
      });
    },
    destroy() {
      for (const forwarder of forwarders.values()) forwarder.destroy();
    },
  };

  function forwarderFor(origin: string, { insecureSkipVerify }: ClientSettings): GrpcForwarder {
    const name = `${origin} ${insecureSkipVerify}`;
    const known = forwarders.get(name);
    if (known !== undefined) return known;
    const made = createGrpcForwarder({
      publicOrigin: new URL(origin),
      timeouts: DEFAULT_TIMEOUTS,
      log: (event, fields) => log('info', event, fields),
      ...(insecureSkipVerify ? { tls: { rejectUnauthorized: false } } : {}),
    });
    forwarders.set(name, made);
    return made;
  }
}

function withToken(rawHeaders: readonly string[], { tokens, header }: HeldToken): HeaderPair[] {
  const kept = selectEndToEndHeaders(rawHeaders).filter(
    ([name]) => name !== header && !REPLACED.has(name),
  );
  return [...kept, [header, `Bearer ${tokens.accessToken}`]];
}
