/**
 * One call to a peer, over the protocol that the table names.
 *
 * @module
 */

import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { IdentityService } from '@sallyport/protocol/protobuf';
import type { Actor, PeerName } from './actors.ts';
import { PING_SERVICES } from './ping-services.ts';

/** How calls get their token. */
export interface Attached {
  readonly fetch: typeof fetch;
  readonly interceptors: readonly Interceptor[];
}

/** A peer, or the gateway in front of it, did not let a call in. */
export class CallRefusedError extends Error {
  override readonly name = 'CallRefusedError';
  /** The HTTP status, or the name of the gRPC code. */
  readonly status: string;

  constructor(status: string, words: string) {
    super(words);
    this.status = status;
  }
}

/** Paths of the route table. */
const HTTP_PATHS: Readonly<Record<PeerName, string>> = {
  admin: '/api/v1/caller',
  executions: '/execution/caller',
  cluster: '/cluster/caller',
  usage: '/usage/caller',
};

/**
 * Prepares calls to a peer.
 *
 * @param origin - The platform's: every call passes its gateway.
 * @returns A call that resolves to the subject that the peer knows the caller by. It rejects with
 *   {@link CallRefusedError} when it is not let in, and with what the client says when there is no token.
 */
export function createPeerCall(
  { peer, protocol }: Actor['calls'],
  origin: string,
  { fetch, interceptors }: Attached,
): () => Promise<string> {
  if (protocol === 'HTTP') return () => callOverHttp(peer, origin + HTTP_PATHS[peer], fetch);
  const options = { baseUrl: origin, interceptors: [...interceptors] };
  const transport =
    protocol === 'gRPC'
      ? createGrpcTransport(options)
      : createConnectTransport({ ...options, httpVersion: '1.1' });
  const ask =
    peer === 'admin'
      ? async () => (await createClient(IdentityService, transport).userInfo({})).subject
      : async () => (await createClient(PING_SERVICES[peer], transport).ping({})).value;
  return async () => {
    try {
      return await ask();
    } catch (failure) {
      const { code, rawMessage, cause } = ConnectError.from(failure);
      // There was no token: the client's own words are the better ones.
      if (cause instanceof Error) throw cause;
      throw new CallRefusedError(nameOf(code), `${peer} answered ${nameOf(code)}: ${rawMessage}`);
    }
  };
}

async function callOverHttp(peer: PeerName, url: string, send: typeof fetch): Promise<string> {
  const response = await send(url, { headers: { accept: 'application/json' } });
  const body = await readObject(response);
  if (response.ok && typeof body['caller'] === 'string') return body['caller'];
  const reason = typeof body['reason'] === 'string' ? ` (${body['reason']})` : '';
  throw new CallRefusedError(
    String(response.status),
    `${peer} answered ${response.status}${reason}`,
  );
}

async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}

/** As the protocol spells it: `Unauthenticated` is `unauthenticated`. */
function nameOf(code: Code): string {
  return Code[code].replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
}
