/**
 * The answer to a call of a method that the service does not have.
 *
 * @module
 */

import { JSON_HEADERS, NO_STORE_HEADERS } from '../answer/problem.ts';
import { send } from '../doors/node-http.ts';
import type { HttpResponse } from '../listener/connections.ts';

/** [gRPC status codes](https://grpc.io/docs/guides/status-codes/). */
const UNIMPLEMENTED = 12;

/** Answers, in the caller's own protocol, that the method does not exist. */
export function sendUnimplemented(res: HttpResponse, kind: 'grpc' | 'grpc-web' | 'connect'): void {
  const message = 'This service does not have the method';
  if (kind === 'connect') {
    const headers = [...JSON_HEADERS, ['content-type', 'application/json']] as const;
    send(res, { status: 501, headers, body: JSON.stringify({ code: 'unimplemented', message }) });
    return;
  }
  send(res, {
    status: 200,
    headers: [
      ...NO_STORE_HEADERS,
      ['content-type', `application/${kind}`],
      ['grpc-status', String(UNIMPLEMENTED)],
      ['grpc-message', encodeURIComponent(message)],
    ],
    body: '',
  });
}
