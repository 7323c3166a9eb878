/**
 * The door of RPC calls, which loads what answers them at the first one.
 *
 * @module
 */

import { NO_STORE_HEADERS } from '../answer/problem.ts';
import { send } from '../doors/node-http.ts';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import { describeFailure, type Log } from '../log/log.ts';
import type { Identity } from '../verdict/verdict.ts';

/** Answers a call over Connect, gRPC or gRPC-Web; `false` when no service has its path. */
export type RpcDoor = (
  req: HttpRequest,
  res: HttpResponse,
  identity: Identity | undefined,
) => boolean;

/** What {@link createRpcDoor} needs. */
export interface RpcDoorOptions {
  /** Paths that the loaded door answers. */
  readonly paths: ReadonlySet<string>;
  /** Called by the first call, and again after it failed. */
  readonly load: () => Promise<RpcDoor>;
  readonly log: Log;
}

/**
 * Creates the door. A call that comes while the services cannot be loaded is answered 503, which gRPC's clients take for
 * UNAVAILABLE; the next one tries again. Files that were replaced under the running process lead there, and a process
 * without a free file descriptor; Node before 26 remembers such a failure until the process is started again.
 */
export function createRpcDoor({ paths, load, log }: RpcDoorOptions): RpcDoor {
  let loaded: RpcDoor | undefined;
  let loading: Promise<RpcDoor> | undefined;

  const answerOnceLoaded = async (path: string, ...[req, res, identity]: Parameters<RpcDoor>) => {
    try {
      loading ??= load();
      loaded = await loading;
      // The caller may have gone.
      if (isGone(res) || loaded(req, res, identity)) return;
      throw new Error('no loaded service has the path');
    } catch (cause) {
      loading = undefined;
      log('warn', 'rpc_broken_off', { rpc: path, failure: describeFailure(cause) });
      if (!res.headersSent) send(res, { status: 503, headers: NO_STORE_HEADERS, body: '' });
    }
  };

  return function rpcDoor(req, res, identity) {
    if (loaded !== undefined) return loaded(req, res, identity);
    const path = pathOf(req.url ?? '');
    if (!paths.has(path)) return false;
    void answerOnceLoaded(path, req, res, identity);
    return true;
  };
}

/** Whether the caller gave up meanwhile. */
function isGone(res: HttpResponse): boolean {
  return 'stream' in res ? res.stream.destroyed : res.destroyed;
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
