import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken } from '../wire/bearer.ts';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { callGrpc } from '../wire/grpc.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { readFields, readFrames, writeText } from '../wire/protobuf.ts';
import { callConnect, callGrpcWeb } from '../wire/rpc.ts';

let service: Service;
let good: Record<string, string>;
const BAD = { 'core-authorization': 'Bearer no-token' };

beforeAll(async () => {
  service = await startHostedService();
  good = { 'core-authorization': `Bearer ${await accessToken(service.idp, service.url)}` };
});
afterAll(() => service.stop());

describe('Application layer: a request that goes round the ingress to a protected route', () => {
  const HTTP = [
    '/',
    '/api/v1/projects',
    '/console',
    '/v1',
    '/cloudadmin',
    '/execution/x',
    '/usage',
    '/no/such/path',
  ];
  const RPCS = [
    '/flyteidl.service.AdminService/GetVersion',
    '/flyteidl.service.SignalService/GetOrCreateSignal',
    '/flyteidl2.workflow.RunService/WatchRuns',
    '/cloudidl.cluster.ClusterService/Get',
    '/no.such.Service/Method',
  ];

  it.each(HTTP)(
    '%s without a credential, or with a bad one, is 401; with a good one 404',
    async (path) => {
      const status = async (headers: Record<string, string>) =>
        (await exchange(service.url + path, { headers })).status;
      expect([await status({}), await status(BAD), await status(good)]).toEqual([401, 401, 404]);
    },
  );

  it.each(RPCS)(
    '%s over gRPC is UNAUTHENTICATED, and UNIMPLEMENTED with a good credential',
    async (path) => {
      const status = async (headers: Record<string, string>) =>
        (await callGrpc(service.url + path, { headers })).status;
      expect([await status({}), await status(BAD), await status(good)]).toEqual([16, 16, 12]);
    },
  );

  it.each(RPCS)(
    '%s over Connect is unauthenticated, and unimplemented with a good credential',
    async (path) => {
      const code = async (headers: Record<string, string>) => {
        const { status, body } = await callConnect(service.url + path, headers);
        return [status, (JSON.parse(body) as { code: string }).code];
      };
      expect([await code({}), await code(BAD), await code(good)]).toEqual([
        [401, 'unauthenticated'],
        [401, 'unauthenticated'],
        [501, 'unimplemented'],
      ]);
    },
  );

  it.each(RPCS)(
    '%s over gRPC-Web is 16 in the headers, and 12 with a good credential',
    async (path) => {
      const status = async (headers: Record<string, string>) => {
        const answer = await callGrpcWeb(service.url + path, headers);
        return [answer.status, answer.headers.get('grpc-status')];
      };
      expect([await status({}), await status(BAD), await status(good)]).toEqual([
        [200, '16'],
        [200, '16'],
        [200, '12'],
      ]);
    },
  );

  it('a refused gRPC call has its status where every client finds it: in headers that end the stream', async () => {
    const answer = await callGrpc(`${service.url}/flyteidl.service.AdminService/GetVersion`);
    expect(answer.isTrailersOnly).toBe(true);
    expect(answer.headers['content-type']).toBe('application/grpc');
  });

  it('a browser gets 401 as well, never a redirect that an ingress could send it round by; signed in, 404', async () => {
    const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
    const refused = await exchange(`${service.url}/console`, { headers: page });
    expect([refused.status, refused.location]).toEqual([401, undefined]);
    const browser = new Browser();
    await service.signIn(browser, '/console');
    expect((await browser.step(`${service.url}/console`)).status).toBe(404);
  });
});

describe('IdentityService/UserInfo', () => {
  it.each(['flyteidl.service', 'flyteidl2.auth'])(
    '%s gives the caller the same identity as /me, over gRPC, Connect and gRPC-Web',
    async (name) => {
      const rpc = `${service.url}/${name}.IdentityService/UserInfo`;
      const me = JSON.parse(
        (await exchange(`${service.url}/me`, { headers: good })).body,
      ) as Record<string, string>;
      expect(me['subject']).toBe('ada');
      const connect = JSON.parse((await callConnect(rpc, good)).body) as object;
      // JSON of protobuf leaves out what is empty.
      expect({ ...me, ...connect }).toEqual(me);
      const grpc = readFields(
        (await callGrpc(rpc, { headers: good })).messages[0] ?? Buffer.alloc(0),
      );
      expect(grpc.get(1)).toEqual(['ada']);
      const web = readFrames(Buffer.from(await (await callGrpcWeb(rpc, good)).arrayBuffer()));
      expect(readFields(web[0]?.content ?? Buffer.alloc(0)).get(1)).toEqual(['ada']);
    },
  );

  it.each(['flyteidl.service', 'flyteidl2.auth'])(
    '%s refuses a caller without a credential in each protocol',
    async (name) => {
      const rpc = `${service.url}/${name}.IdentityService/UserInfo`;
      expect((await callGrpc(rpc)).status).toBe(16);
      const connect = await callConnect(rpc);
      expect([connect.status, connect.headers['content-type']]).toEqual([401, 'application/json']);
      expect(JSON.parse(connect.body)).toMatchObject({ code: 'unauthenticated' });
      const web = await callGrpcWeb(rpc);
      expect([web.status, web.headers.get('grpc-status')]).toEqual([200, '16']);
    },
  );
});

describe('grpc.health.v1.Health', () => {
  const CHECK = '/grpc.health.v1.Health/Check';

  it('Check is SERVING once the service is ready, without a credential', async () => {
    await expect.poll(async () => (await exchange(`${service.url}/readyz`)).status).toBe(200);
    const { status, messages } = await callGrpc(service.url + CHECK);
    expect([status, readFields(messages[0] ?? Buffer.alloc(0)).get(1)]).toEqual([0, ['1']]);
  });

  it('Check of an unknown service is NOT_FOUND', async () => {
    const message = writeText(1, 'no.such.Service');
    expect((await callGrpc(service.url + CHECK, { message })).status).toBe(5);
  });

  it('Check is NOT_SERVING while the IdP has not been reached', async () => {
    const down = await startHostedService({ OIDC_BASE_URL: 'http://127.0.0.1:9' });
    try {
      const { status, messages } = await callGrpc(down.url + CHECK);
      expect([status, readFields(messages[0] ?? Buffer.alloc(0)).get(1)]).toEqual([0, ['2']]);
    } finally {
      await down.stop();
    }
  });
});

describe('The port of serve', () => {
  it('speaks HTTP/2 without TLS for /me too', async () => {
    const session = connect(service.url.replace('localhost', '127.0.0.1'));
    const ask = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': '/me', ...headers });
        stream.on('response', (answered) => resolve(answered[':status']));
        stream.on('error', reject);
        stream.resume();
      });
    expect([await ask({}), await ask(good)]).toEqual([401, 200]);
    session.destroy();
  });

  it('ends a health watch on SIGTERM, and does not wait for the client', async () => {
    const other = await startHostedService();
    const session = connect(other.url.replace('localhost', '127.0.0.1'));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Watch',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.end(Buffer.alloc(5));
    await new Promise((resolve) => stream.once('data', resolve));
    const trailers = new Promise<unknown>((resolve) =>
      stream.once('trailers', (sent) => resolve(sent['grpc-status'])),
    );
    expect(await other.running.stop()).toBe(0);
    expect(await trailers).toBe('14');
    await other.stop();
  });
});
