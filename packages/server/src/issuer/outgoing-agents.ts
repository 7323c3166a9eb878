/**
 * The connections of requests to issuers: direct ones, and those through the proxies of the environment.
 *
 * @module
 */

import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';

/** What a request to an issuer says to its agent. */
export interface AgentRequestOptions extends https.RequestOptions {
  /**
   * Gets the connection as it is begun. Through a proxy that is the one to the proxy: the request gets its own only
   * once the tunnel and TLS stand, and cannot end it before.
   */
  readonly onBegun: (connection: Duplex) => void;
}

/** Creates the agents. Proxies are those that the runtime has now: it was started with them, or a command has set them since. */
export function createAgents(connections: Pick<http.AgentOptions, 'keepAlive' | 'timeout'>): {
  readonly http: http.Agent;
  readonly https: https.Agent;
} {
  return {
    http: new http.Agent({ ...connections, ...proxied('node:http') }),
    https: new TunnelAgent({ ...connections, ...proxied('node:https') }),
  };
}

class TunnelAgent extends https.Agent {
  override createConnection(
    options: https.RequestOptions,
    callback?: (error: Error | null, connection: Duplex) => void,
  ): Duplex | null | undefined {
    // The limit of an idle connection would be that of a tunnel, too.
    const connection = super.createConnection({ ...options, timeout: 0 }, callback);
    // While a tunnel comes to stand the runtime has moments without a listener, in which a failure would end the process.
    connection?.on('error', () => undefined);
    if (connection) (options as AgentRequestOptions).onBegun(connection);
    return connection;
  }
}

function proxied(module: 'node:http' | 'node:https'): http.AgentOptions {
  // Not as it was imported: a proxy that is set later comes with another agent, which an import does not show.
  const { globalAgent } = process.getBuiltinModule(module);
  const { proxyEnv } = (globalAgent as { readonly options?: http.AgentOptions }).options ?? {};
  return proxyEnv === undefined ? {} : { proxyEnv };
}
