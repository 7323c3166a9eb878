/**
 * `GetPublicClientConfig` over Connect and over gRPC.
 *
 * @module
 */

import { type BenchCase, measureInTurn } from '../bench-case.ts';
import { loadHttp2 } from '../load/h2load.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startSallyport } from '../servers/sallyport.ts';

const PATH = '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig';
const STREAMS = 8;
const HTTP2_CONNECTIONS = 4;
/** An empty message: no flags, no length. */
const EMPTY_MESSAGE = new Uint8Array(5);
const CONNECT_HEADERS = {
  'content-type': 'application/proto',
  'connect-protocol-version': '1',
  'content-length': '0',
};
const CONNECT_SCRIPT = `
wrk.method = "POST"
wrk.body = ""
wrk.headers["content-type"] = "application/proto"
wrk.headers["connect-protocol-version"] = "1"
`;

/** What clients ask before they sign in. */
export const METADATA: BenchCase = {
  name: 'metadata',
  title: '`GetPublicClientConfig`, over Connect and over gRPC',
  needs: ['taskset', 'wrk', 'h2load'],
  async run(bench) {
    const idp = await startIdentityProvider(bench.ends);
    const sallyport = await startSallyport(bench.ends, { idp });
    const url = sallyport.origin + PATH;
    const { pids } = sallyport;
    const measured = await measureInTurn(bench, [
      {
        name: 'Sallyport, Connect',
        url,
        samples: [{ method: 'POST', headers: CONNECT_HEADERS, status: 200 }],
        script: CONNECT_SCRIPT,
        pids,
      },
      {
        name: 'Sallyport, gRPC',
        url,
        samples: [],
        load: ({ seconds }) =>
          loadHttp2(url, {
            ...{ seconds, connections: HTTP2_CONNECTIONS, streams: STREAMS, body: EMPTY_MESSAGE },
            headers: { 'content-type': 'application/grpc', te: 'trailers' },
          }),
        pids,
      },
    ]);
    return {
      notes: [
        `Connect over HTTP/1.1 by wrk, gRPC over HTTP/2 by h2load on ${HTTP2_CONNECTIONS} connections with ${STREAMS} streams each.`,
      ],
      measured,
      findings: [],
    };
  },
};
