/**
 * The gateway of `sallyport up`: which backend each route of this plane has.
 *
 * @module
 */

import { createGateway, type GatewayOptions } from '@sallyport/gateway';
import { PATHS, ROUTE_GROUPS, type RouteGroup } from '@sallyport/protocol';
import type { AdminServer } from '@sallyport/server';
import type { Log } from '@sallyport/server/observe';
import { ACTORS } from '../../../../examples/platform/actors.ts';
import { addConsoleKey } from '../console/console-key.ts';
import type { FindService } from './platform/start-platform.ts';

/** What {@link openGateway} needs. */
export interface GatewayOfPlane {
  readonly publicUrl: string;
  readonly port: number;
  readonly host: string;
  readonly tls: GatewayOptions['tls'] & object;
  readonly admin: AdminServer;
  /** Origins of the backends. */
  readonly adminOrigin: string;
  readonly consoleOrigin: string;
  /** Proves to the console that a request came through here. */
  readonly consoleKey: string;
  /** Stands in front of this server instead of the console. */
  readonly upstream: string | undefined;
  /** Finds a service of the platform; absent where none are to run. */
  readonly platform: FindService | undefined;
  readonly log: Log;
}

/** For programs that wait until the plane is ready. An application behind `--upstream` has this path to itself. */
const READINESS: RouteGroup = {
  name: 'readiness',
  transport: 'http',
  protected: false,
  backend: 'admin',
  matches: [PATHS.readyz],
  forwardCredential: 'none',
  streaming: false,
};

/**
 * Listens.
 *
 * @param stops - Gets what ends it.
 */
export async function openGateway(
  plane: GatewayOfPlane,
  stops: (() => void | Promise<void>)[],
): Promise<void> {
  const { admin, upstream, platform, log } = plane;
  const gateway = createGateway({
    publicOrigin: plane.publicUrl,
    routes: selectRoutes(plane),
    upstreamFor: ({ backend, transport: kind }, transport) => {
      if (backend === 'admin') return plane.adminOrigin;
      const service = platform?.(backend, transport);
      if (service !== undefined) return service.origin;
      // The console serves pages; RPC services of other backends are not part of this plane.
      return kind === 'grpc' ? upstream : (upstream ?? plane.consoleOrigin);
    },
    tls: plane.tls,
    // An application of one's own gets no header that it would have to ignore.
    answer: upstream === undefined ? addConsoleKey(admin.answer, plane.consoleKey) : admin.answer,
    backendHeaders: admin.backendHeaders,
    log: (event, fields) => log('info', event, fields),
  });
  await gateway.listen(plane.port, plane.host);
  stops.push(() => gateway.drain());
}

function selectRoutes({ upstream, platform }: GatewayOfPlane): readonly RouteGroup[] {
  if (upstream !== undefined) return ROUTE_GROUPS.filter(isForUpstream);
  return [READINESS, ...(platform === undefined ? ROUTE_GROUPS : ROUTE_GROUPS.map(passBearer))];
}

/** The platform's services verify their callers again, as docs/application-layer.md has it. */
function passBearer(group: RouteGroup): RouteGroup {
  const isOfPlatform = ACTORS.some(({ name, accepts }) => accepts && name === group.backend);
  return isOfPlatform && group.protected ? { ...group, forwardCredential: 'bearer' } : group;
}

/**
 * An application of one's own has no callbacks that prove themselves, so all of it is behind the
 * sign-in; and no path of it belongs to the admin service, except those that signing in needs.
 */
function isForUpstream(group: RouteGroup): boolean {
  return group.backend === 'admin'
    ? !group.protected || group.transport === 'grpc'
    : group.protected;
}
