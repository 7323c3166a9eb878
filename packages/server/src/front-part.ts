/**
 * What listeners serve, put together: the doors of HTTP, and behind them the application layer.
 *
 * @module
 */

import type { AdminServerOptions } from './admin-server-options.ts';
import { createApplicationHandler } from './application-handler.ts';
import { type Ask, type DoorHandler, type NamedDoor, openDoors } from './doors/door.ts';
import { HTTP_DOORS } from './doors/http-doors.ts';
import { addressOf, type ClientAddress } from './listener/client-address.ts';
import type { HttpHandler } from './listener/connections.ts';
import type { MetadataPart } from './metadata-part.ts';
import { traceRequests } from './observe/traces/trace-requests.ts';

/** One handler for each listener of the process. */
export interface ListenerHandlers {
  /** Every path of HTTP, over HTTP/1.1 and HTTP/2; gRPC, Connect and gRPC-Web too. */
  readonly http: HttpHandler;
}

/** What the front is made from, beside the options. */
export interface FrontParts {
  readonly ask: Ask;
  readonly clientAddress: ClientAddress;
  readonly metadata: MetadataPart;
  readonly router: HttpHandler;
}

/** The protected routes of the admin service itself. */
export const serviceDoor: NamedDoor = { name: 'service' };

/** Creates the handlers. */
export function createFrontPart(
  options: AdminServerOptions,
  { ask, clientAddress, metadata, router }: FrontParts,
): ListenerHandlers {
  const publicOrigin = options.publicUrl.origin;
  const doors = openDoors(options.doors ?? HTTP_DOORS, ask, {
    publicOrigin,
    addressOf: (request) => addressOf(request, clientAddress),
    settings: { me: { verdictCacheMs: options.verdictCacheMs ?? 0 } },
    now: options.now,
  });
  const application = createApplicationHandler({
    auth: { check: ask(serviceDoor), publicOrigin, matchRoute: options.matchRoute },
    metadata,
    router,
  });
  return { http: traceRequests(tryInOrder(doors, application), options.tracer) };
}

/** A request that no door answers goes to `last`. Makes one function of all doors, so that a request runs no loop. */
function tryInOrder(doors: readonly DoorHandler[], last: HttpHandler): HttpHandler {
  return doors.reduceRight<HttpHandler>(
    (next, door) => (req, res) => {
      if (!door(req, res)) next(req, res);
    },
    last,
  );
}
