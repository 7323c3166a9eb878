/**
 * The platform's bearer header on calls of `@grpc/grpc-js`.
 *
 * @module
 */

import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import { AuthenticatedCall } from './authenticated-call.ts';
import { type Attachment, parsePlatformEndpoint } from './platform-endpoint.ts';

export type { Attachment } from './platform-endpoint.ts';

/** What {@link createAuthenticatingClientInterceptor} needs. */
export interface GrpcAttachment extends Attachment {
  /** The `host:port` that the client was created with, where it is not the endpoint's. */
  readonly target?: string;
}

/**
 * Creates an interceptor that attaches `<header>: Bearer <token>` to calls to the platform.
 *
 * Answered `UNAUTHENTICATED`, the token is replaced once and the call is made once more, unless a
 * message has arrived or the call streams requests: then the status is passed on after the token was
 * replaced. `PERMISSION_DENIED` and `UNAVAILABLE` are no reason to sign in. A call to another target,
 * and one that brings an authorization header of its own, is passed on as it is.
 *
 * Until its first message or its status has arrived, a call that can be made again shows no metadata.
 * The call's deadline goes on while a token is fetched.
 *
 * The caller MUST create the client with TLS credentials for an `https` endpoint: an interceptor
 * cannot see them.
 *
 * @returns An interceptor whose calls end with `UNAUTHENTICATED` when no token is to be had, and with
 *   `UNAVAILABLE` when the outcome is unknown.
 * @throws {SallyportError} `SP_CONFIG_INVALID` for an endpoint that no token may be sent to.
 */
export function createAuthenticatingClientInterceptor(options: GrpcAttachment): Interceptor {
  const { hostname, port, protocol } = parsePlatformEndpoint(options);
  const ownPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  const target = options.target ?? `${hostname}:${ownPort}`;
  const { source, header } = options;

  return (callOptions, nextCall) => {
    const { requestStream } = callOptions.method_definition;
    const call = new AuthenticatedCall({
      source,
      header,
      open: () => nextCall(callOptions),
      mayHaveToken: (peer) => hostAndPort(peer) === hostAndPort(target),
      isRepeatable: !requestStream,
    });
    return new InterceptingCall(call);
  };
}

/** A target without its resolver: `dns:HOST:PORT`, `dns://AUTHORITY/HOST:PORT`, `HOST:PORT`. */
function hostAndPort(target: string): string {
  const name = target.replace(/^dns:(?:\/\/[^/]*\/)?/, '').toLowerCase();
  return /:\d+$/.test(name) && !/^[^[].*:.*:/.test(name) ? name : `${name}:443`;
}
