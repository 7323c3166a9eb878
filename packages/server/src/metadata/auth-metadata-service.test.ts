import { Code, createClient } from '@connectrpc/connect';
import { AuthMetadataService, AuthMetadataService2, Health } from '@sallyport/protocol/protobuf';
import {
  CLIENT,
  failure,
  HOW,
  SERVICES,
  startFront,
  transportOf,
} from '@sallyport/testing/server/running-front';
import { callWithGrpcJs } from '@sallyport/testing/wire/rpc-clients';
import { talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it } from 'vitest';
import type { PublicClientConfig } from './public-client-config.ts';

describe('AuthMetadataService', () => {
  const calls = SERVICES.flatMap((service) =>
    HOW.map((how) => [service.typeName, how, service] as const),
  );

  it.each(calls)(
    '%s/GetPublicClientConfig over %s needs no credential',
    async (_, how, service) => {
      const { port } = await startFront();
      const client = createClient(service, transportOf(port, how));
      expect(await client.getPublicClientConfig({})).toMatchObject(CLIENT);
    },
  );

  it.each(calls)('%s/GetOAuth2Metadata over %s needs no credential', async (_, how, service) => {
    const { port, server } = await startFront();
    const client = createClient(service, transportOf(port, how));
    expect(await client.getOAuth2Metadata({})).toMatchObject({
      issuer: server.issuer,
      authorizationEndpoint: `${server.issuer}/authorize`,
      tokenEndpoint: `${server.issuer}/token`,
      jwksUri: `${server.issuer}/jwks`,
      deviceAuthorizationEndpoint: `${server.issuer}/device`,
      responseTypesSupported: ['code'],
      scopesSupported: ['openid', 'all'],
      tokenEndpointAuthMethodsSupported: ['client_secret_basic'],
      codeChallengeMethodsSupported: ['S256'],
      grantTypesSupported: ['authorization_code', 'client_credentials'],
    });
  });

  it.each(SERVICES)('$typeName answers @grpc/grpc-js', async (service) => {
    const { port, server } = await startFront();
    const { getPublicClientConfig, getOAuth2Metadata } = service.method;
    const config = await callWithGrpcJs(port, getPublicClientConfig);
    expect(config.response).toMatchObject(CLIENT);
    const metadata = await callWithGrpcJs(port, getOAuth2Metadata);
    expect(metadata.response).toMatchObject({ tokenEndpoint: `${server.issuer}/token` });
  });

  it.each<readonly [keyof PublicClientConfig, string | readonly string[]]>([
    ['clientId', 'other-app'],
    ['redirectUri', 'http://localhost:53594/callback'],
    ['scopes', ['all']],
    ['audience', 'https://elsewhere.example'],
    ['authorizationMetadataKey', 'other-header'],
    ['serviceHttpEndpoint', 'https://elsewhere.example'],
  ])(
    '%s, changed in the configuration, changes the answer over REST, gRPC and Connect',
    async (field, value) => {
      const { port, url } = await startFront({ client: { [field]: value } });
      for (const service of SERVICES) {
        for (const how of ['Connect over HTTP/1.1', 'gRPC', 'gRPC-Web over HTTP/1.1']) {
          const client = createClient(service, transportOf(port, how));
          const answer = await client.getPublicClientConfig({});
          expect(answer).toMatchObject({ ...CLIENT, [field]: value });
        }
      }
      expect(await (await fetch(`${url}/config/v1/flyte_client`)).json()).toMatchObject({
        ...CLIENT,
        [field]: value,
      });
    },
  );

  it('names no data plane: dataplane_domain is empty', async () => {
    const { port } = await startFront();
    const client = createClient(AuthMetadataService2, transportOf(port, 'gRPC'));
    expect((await client.getPublicClientConfig({})).dataplaneDomain).toBe('');
  });

  it.each(calls)(
    '%s over %s is unavailable, with a hint, while nothing is known; the client config is there',
    async (_, how, service) => {
      const { port } = await startFront({ isDown: true });
      const client = createClient(service, transportOf(port, how));
      const error = await failure(client.getOAuth2Metadata({}));
      expect(error.code).toBe(Code.Unavailable);
      expect(error.metadata.get('retry-after')).toBe('5');
      expect(error.metadata.get('grpc-retry-pushback-ms')).toBe('5000');
      expect(await client.getPublicClientConfig({})).toMatchObject({ clientId: 'native-app' });
    },
  );

  it('answers what it knew when the identity provider goes down', async () => {
    const { port, server } = await startFront();
    const client = createClient(AuthMetadataService, transportOf(port, 'gRPC'));
    await client.getOAuth2Metadata({});
    await server.goDown();
    expect((await client.getOAuth2Metadata({})).issuer).toBe(server.issuer);
  });

  it('refuses a packed body that unpacks to more than any request is', async () => {
    const { port } = await startFront();
    const transport = transportOf(port, 'Connect with a packed body');
    const client = createClient(Health, transport);
    const error = await failure(client.check({ service: 'x'.repeat(100_000) }));
    expect(error.code).toBe(Code.ResourceExhausted);
  });

  it.each([
    ['no Host', 'GET /flyteidl2.auth.AuthMetadataService/GetPublicClientConfig HTTP/1.0\r\n\r\n'],
    [
      'no Host, by POST',
      'POST /flyteidl2.auth.AuthMetadataService/GetPublicClientConfig HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    ],
    [
      'a Host that is none',
      'POST /flyteidl2.auth.AuthMetadataService/GetPublicClientConfig HTTP/1.1\r\nhost: [\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    ],
  ])('survives a request with %s', async (_, request) => {
    const { port, url } = await startFront();
    expect(await talk(port, request)).toMatch(/^HTTP\/1\.1 (?:4\d\d|200) /);
    expect((await fetch(`${url}/config/v1/flyte_client`)).status).toBe(200);
  });
});
