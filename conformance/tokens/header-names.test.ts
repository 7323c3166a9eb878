import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome } from '../cli/command.ts';
import { accessToken } from '../wire/bearer.ts';
import { exchange } from '../wire/exchange.ts';
import { callGrpc } from '../wire/grpc.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { callConnect } from '../wire/rpc.ts';

const HTTP = 'x-http-authorization';
const RPC = 'x-rpc-authorization';
const USER_INFO = '/flyteidl.service.IdentityService/UserInfo';

let service: Service;
let home: Home;
let bearer: string;
beforeAll(async () => {
  service = await startHostedService({}, [], undefined, [
    'auth:',
    `  httpAuthorizationHeader: ${HTTP}`,
    `  grpcAuthorizationHeader: ${RPC}`,
  ]);
  home = makeHome();
  bearer = `Bearer ${await accessToken(service.idp, service.url)}`;
});
afterAll(async () => {
  home.remove();
  await service.stop();
});

describe('httpAuthorizationHeader and grpcAuthorizationHeader with different names', () => {
  it.each([
    [HTTP, 200],
    ['authorization', 200],
    [RPC, 401],
    ['core-authorization', 401],
  ])('HTTP with the token in %s is answered %i', async (name, status) => {
    const answer = await exchange(`${service.url}/me`, { headers: { [name]: bearer } });
    expect(answer.status).toBe(status);
  });

  it.each([
    [RPC, 0, 200],
    ['authorization', 0, 200],
    [HTTP, 16, 401],
    ['core-authorization', 16, 401],
  ])('an RPC with the token in %s is answered %i, over Connect %i', async (name, grpc, connect) => {
    const url = service.url + USER_INFO;
    expect((await callGrpc(url, { headers: { [name]: bearer } })).status).toBe(grpc);
    expect((await callConnect(url, { [name]: bearer })).status).toBe(connect);
  });

  it('clients receive the one of gRPC', async () => {
    const rest = await exchange(`${service.url}/config/v1/flyte_client`);
    expect(JSON.parse(rest.body).authorization_metadata_key).toBe(RPC);
    const connect = await callConnect(
      `${service.url}/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig`,
    );
    expect(JSON.parse(connect.body).authorizationMetadataKey).toBe(RPC);
  });

  it('the command follows: its token is for that header, and whoami is answered', async () => {
    const token = join(home.path, 'token');
    writeFileSync(token, bearer.slice('Bearer '.length), { mode: 0o600 });
    const environment = {
      CORE_PLATFORM_URL: service.url,
      CORE_CREDENTIALS_AUTH_MODE: 'external_process',
      CORE_CREDENTIALS_COMMAND: JSON.stringify(['cat', token]),
    };
    const header = await home.run(['token', '--header'], environment);
    expect([header.code, header.stdout.split(':')[0]]).toEqual([0, RPC]);
    const whoami = await home.run(['whoami', '--json'], environment);
    expect([whoami.code, JSON.parse(whoami.stdout).account?.subject]).toEqual([0, 'ada']);
  });

  it('and does not get in with a header of its own', async () => {
    const { code } = await home.run(['whoami'], {
      CORE_PLATFORM_URL: service.url,
      CORE_CREDENTIALS_AUTH_MODE: 'external_process',
      CORE_CREDENTIALS_COMMAND: JSON.stringify(['cat', join(home.path, 'token')]),
      CORE_CREDENTIALS_AUTHORIZATION_HEADER: 'core-authorization',
    });
    expect(code).toBe(4);
  });
});
