/**
 * Connect, gRPC and gRPC-Web on one handler.
 *
 * @module
 */

import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
} from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import { identityKey } from '../doors/connect.ts';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import { describeFailure, type Log } from '../log/log.ts';
import type { Identity } from '../verdict/verdict.ts';
import type { RpcDoor } from './rpc-door.ts';

/** Every message we take is empty or a few words; unpacked, too. */
const MESSAGE_MAX_BYTES = 65_536;

/**
 * Creates the handler.
 *
 * Not the library's own adapter, because that one throws out of the listener, and so ends the
 * process, on a request without a usable Host.
 */
export function createRpcHandler(register: (router: ConnectRouter) => void, log: Log): RpcDoor {
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes: MESSAGE_MAX_BYTES,
  });
  register(router);
  const handlerByPath = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));

  return function handleRpc(req, res, identity) {
    const url = req.url ?? '';
    const query = url.indexOf('?');
    const handler = handlerByPath.get(query === -1 ? url : url.slice(0, query));
    if (handler === undefined) return false;
    serve(handler, req, res, identity).catch((cause: unknown) => {
      // The caller has gone, mostly; what a method throws is an answer, and does not come here.
      if (ConnectError.from(cause).code !== Code.Aborted)
        log('warn', 'rpc_broken_off', {
          rpc: handler.requestPath,
          failure: describeFailure(cause),
        });
      if (!res.headersSent) res.statusCode = 400;
      res.end();
    });
    return true;
  };
}

async function serve(
  handler: UniversalHandler,
  req: HttpRequest,
  res: HttpResponse,
  identity: Identity | undefined,
): Promise<void> {
  limitDeadline(req);
  const values = createContextValues().set(identityKey, identity);
  const request = universalRequestFromNodeRequest(req, res, undefined, values);
  const response = await handler(request);
  if (response.header?.get('content-type')?.startsWith('application/json') === true)
    response.header.set('x-content-type-options', 'nosniff');
  await universalResponseToNodeResponse(response, res);
}

/** No call takes a day; Node's timers hold no more than 25 of them, and gRPC's deadlines thousands of years. */
const DEADLINE_MAX_MS = 86_400_000;
const GRPC_UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Shortens a deadline that is further away than a timer can be. Malformed ones are left to the protocol. */
function limitDeadline({ headers }: HttpRequest): void {
  const [, count, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(String(headers['grpc-timeout'])) ?? [];
  if (Number(count) * (GRPC_UNIT_MS[unit] ?? 0) > DEADLINE_MAX_MS) headers['grpc-timeout'] = '24H';
  if (Number(headers['connect-timeout-ms']) > DEADLINE_MAX_MS)
    headers['connect-timeout-ms'] = String(DEADLINE_MAX_MS);
}
