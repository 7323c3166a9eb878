import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callGrpc } from '../../conformance/wire/grpc.ts';
import { acceptCalls, type OpenPeer } from '../../examples/platform/accept-calls.ts';
import { PING_SERVICES } from '../../examples/platform/ping-services.ts';

const AUDIENCE = 'https://platform.example.com';
const METHOD = '/cloudidl.usage.UsageService/Ping';

let idp: FakeIdp;
let peer: OpenPeer;
beforeAll(async () => {
  idp = await startFakeIdp('service');
  peer = await acceptCalls(
    PING_SERVICES.usage,
    { issuer: idp.issuer, publicUrl: AUDIENCE },
    () => {},
  );
});
afterAll(async () => {
  peer.close();
  await idp.close();
});

/** Makes the header of a token of the service app, with these changes. */
async function bearer(claims: Readonly<Record<string, unknown>> = {}) {
  const token = await new SignJWT({
    ...{ iss: idp.issuer, aud: AUDIENCE, sub: 'service', client_id: 'service', scope: 'all' },
    ...claims,
  })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1', typ: 'at+jwt' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(idp.signingKey);
  return { 'core-authorization': `Bearer ${token}` };
}

const http = () => `http://127.0.0.1:${peer.ports.http}`;
const grpc = () => `http://127.0.0.1:${peer.ports.grpc}`;

/** Its message is a `StringValue`, which is a string in JSON. */
const callConnect = (headers: Readonly<Record<string, string>>) =>
  fetch(http() + METHOD, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'connect-protocol-version': '1' },
    body: '""',
  });

describe('A service of the example, called past the gateway', () => {
  it('knows a caller with a token of the platform, over HTTP, Connect and gRPC', async () => {
    const headers = await bearer();
    const answer = await fetch(`${http()}/usage/caller`, { headers });
    expect(await answer.json()).toEqual({ caller: 'service' });
    expect(await (await callConnect(headers)).json()).toBe('service');
    const { status, messages } = await callGrpc(grpc() + METHOD, { headers });
    expect([status, messages[0]?.toString()]).toEqual([0, expect.stringContaining('service')]);
  });

  it.each([
    ['without a token', undefined],
    ['with a token for another platform', { aud: 'https://elsewhere.example.com' }],
    ['with a token of another issuer', { iss: 'https://idp.example.com' }],
    ['with a token without the scope all', { scope: 'openid' }],
  ])('admits none %s, whatever identity it claims', async (_, claims) => {
    const headers = {
      'x-user-subject': 'service',
      ...(claims === undefined ? {} : await bearer(claims)),
    };
    const answer = await fetch(`${http()}/usage/caller`, { headers });
    expect(answer.status).toBeGreaterThanOrEqual(401);
    expect(answer.status).toBeLessThanOrEqual(403);
    expect(await answer.text()).not.toContain('"caller"');
    expect((await callConnect(headers)).status).toBe(answer.status);
    expect((await callGrpc(grpc() + METHOD, { headers })).status).toBe(
      answer.status === 401 ? 16 : 7,
    );
  });
});
