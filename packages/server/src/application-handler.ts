/**
 * The application layer of the admin service: verifies callers that reach it without passing an ingress.
 *
 * @module
 */

import { HEALTH_PATHS, PATHS, type RouteMatcher } from '@sallyport/protocol';
import { type CallerKind, classifyCaller } from './answer/caller.ts';
import type { DoorOptions } from './doors/door-options.ts';
import { createNodeDoor } from './doors/node-http.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from './listener/connections.ts';
import { sendUnimplemented } from './metadata/unimplemented.ts';
import type { MetadataPart } from './metadata-part.ts';
import type { Identity } from './verdict/verdict.ts';

/** What {@link createApplicationHandler} is made from. */
export interface ApplicationHandlerOptions {
  /** Absent when `useAuth` is false: there is nothing to protect. */
  readonly auth: (DoorOptions & { readonly matchRoute: RouteMatcher }) | undefined;
  readonly metadata: MetadataPart;
  /** Every other route. */
  readonly router: HttpHandler;
}

/** Routes of this service that an ingress does not know: they are asked from inside the cluster. */
const OPEN_INSIDE: ReadonlySet<string> = new Set([PATHS.readyz, ...HEALTH_PATHS]);
const RPC_PATH = /^\/[\w.]+\.\w+\/\w+$/;

/**
 * Creates the handler of every request that no door answers.
 *
 * A route that the table protects is answered 401, or the protocol's UNAUTHENTICATED, to a caller
 * without a good credential, whether or not there is such a route here; an admitted caller gets 404 where there is
 * none. It never redirects: the ingress does, and two services that redirect could send a browser round for ever.
 *
 * @see Requirement, "What the service does", rule 3, application layer.
 */
export function createApplicationHandler({
  auth,
  metadata: { rest, rpc },
  router,
}: ApplicationHandlerOptions): HttpHandler {
  if (auth === undefined) return (req, res) => serve(req, res, undefined);
  const door = createNodeDoor(auth);

  return function handleApplication(req, res) {
    if (rest(req, res)) return;
    const path = pathOf(req.url ?? '');
    // The table finds a service by its path on either transport, whatever the content type says.
    const group = auth.matchRoute(path, 'http');
    const isOpen = OPEN_INSIDE.has(path) || !(group.protected || group.verifiedBehind === true);
    if (isOpen) serve(req, res, undefined);
    else door(req, res, (identity) => serve(req, res, identity));
  };

  function serve(req: HttpRequest, res: HttpResponse, identity: Identity | undefined): void {
    if (rpc(req, res, identity)) return;
    const kind = classifyCaller({ method: req.method ?? 'GET', headers: req.headers });
    const isCall = identity !== undefined || RPC_PATH.test(pathOf(req.url ?? ''));
    if (isRpc(kind) && isCall) sendUnimplemented(res, kind);
    else router(req, res);
  }
}

function isRpc(kind: CallerKind): kind is 'grpc' | 'grpc-web' | 'connect' {
  return kind === 'grpc' || kind === 'grpc-web' || kind === 'connect';
}

/** The path without query; of an absolute request target, too (RFC 9112 section 3.2.2). */
function pathOf(url: string): string {
  if (!url.startsWith('/')) return URL.parse(url)?.pathname ?? url;
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
