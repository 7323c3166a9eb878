import { toJson } from '@bufbuild/protobuf';
import { Code, createClient } from '@connectrpc/connect';
import {
  IdentityService,
  IdentityService2,
  UserInfoResponseSchema,
} from '@sallyport/protocol/protobuf';
import { ADA_IDENTITY } from '@sallyport/testing/server/fixed-check';
import {
  failure,
  HOW,
  IDENTITIES,
  startFront,
  transportOf,
} from '@sallyport/testing/server/running-front';
import { callWithGrpcJs } from '@sallyport/testing/wire/rpc-clients';
import { describe, expect, it } from 'vitest';

describe('IdentityService/UserInfo', () => {
  const posts = IDENTITIES.flatMap((service) =>
    HOW.filter((how) => how !== 'Connect by GET').map(
      (how) => [service.typeName, how, service] as const,
    ),
  );
  const bearer = (token: string) => ({ headers: { 'core-grpc': `Bearer ${token}` } });

  it.each(posts)('%s over %s answers who the caller is, as /me does', async (_, how, service) => {
    const { port } = await startFront();
    const answer = await createClient(service, transportOf(port, how)).userInfo({}, bearer('good'));
    const { $typeName: __, ...user } = answer;
    expect(user).toEqual(ADA_IDENTITY.user);
  });

  it('is the body of /me as JSON', async () => {
    const { port } = await startFront();
    const client = createClient(IdentityService, transportOf(port, 'gRPC'));
    const answer = await client.userInfo({}, bearer('slow'));
    const json = toJson(UserInfoResponseSchema, answer, { alwaysEmitImplicit: true });
    expect(json).toEqual(JSON.parse(ADA_IDENTITY.body.camelCase));
  });

  it.each(
    posts.flatMap(([typeName, how, service]) =>
      (
        [
          ['nothing', {}, Code.Unauthenticated],
          ['bad', bearer('bad'), Code.Unauthenticated],
          ['forbidden', bearer('forbidden'), Code.PermissionDenied],
          ['outage', bearer('outage'), Code.Unavailable],
        ] as const
      ).map(([name, options, code]) => [typeName, how, name, options, code, service] as const),
    ),
  )(
    '%s over %s with %s is refused in the caller’s protocol',
    async (_, how, __, options, code, service) => {
      const { port } = await startFront();
      const client = createClient(service, transportOf(port, how));
      expect((await failure(client.userInfo({}, options))).code).toBe(code);
    },
  );

  it.each(IDENTITIES)(
    '$typeName refuses @grpc/grpc-js with status 16 and admits it with a token',
    async (service) => {
      const { port } = await startFront();
      const { userInfo } = service.method;
      expect((await callWithGrpcJs(port, userInfo)).error?.code).toBe(16);
      const headers = { 'core-grpc': 'Bearer good' };
      const { response } = await callWithGrpcJs(port, userInfo, headers);
      expect(response).toMatchObject({ subject: 'ada-subject', email: 'ada@corp.example' });
    },
  );

  it('asks the check once a call', async () => {
    const { port, fixed } = await startFront();
    const client = createClient(IdentityService2, transportOf(port, 'Connect over HTTP/2'));
    await client.userInfo({}, bearer('good'));
    expect(fixed.asked).toHaveLength(1);
  });
});
