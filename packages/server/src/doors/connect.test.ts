import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Health, HealthCheckResponseSchema } from '@sallyport/protocol/protobuf';
import {
  ADA_IDENTITY,
  createFixedCheck,
  PUBLIC_ORIGIN,
} from '@sallyport/testing/server/fixed-check';
import { callWithGrpcJs, transports } from '@sallyport/testing/wire/rpc-clients';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenOnOnePort } from '../listener/http-service.ts';
import { createAuthInterceptor, identityKey, principalKey } from './connect.ts';

/** A service that uses the interceptor, and notes who called. */
async function start() {
  const callers: unknown[] = [];
  const { check, asked } = createFixedCheck();
  const handler = connectNodeAdapter({
    interceptors: [createAuthInterceptor({ check, publicOrigin: PUBLIC_ORIGIN })],
    routes: (router) =>
      router.service(Health, {
        check(_, { values }) {
          callers.push(values.get(principalKey), values.get(identityKey)?.user.name);
          return create(HealthCheckResponseSchema);
        },
        async *watch(_, { values }) {
          callers.push(values.get(principalKey));
          yield create(HealthCheckResponseSchema);
        },
      }),
  });
  const listener = await listenOnOnePort(handler, {
    port: 0,
    host: '127.0.0.1',
    timeouts: { drainMs: 50 },
  });
  onTestFinished(() => listener.close());
  return { callers, asked, port: listener.port };
}

const HOW = Object.keys(transports(0)).filter((how) => how !== 'Connect by GET');
const bearer = (token: string) => ({ headers: { 'core-grpc': `Bearer ${token}` } });

function clientOf(port: number, how: string) {
  const transport = transports(port)[how];
  if (transport === undefined) throw new Error(how);
  return createClient(Health, transport);
}

async function codeOf(call: Promise<unknown>): Promise<ConnectError> {
  return ConnectError.from(
    await call.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
}

describe('the interceptor of a Connect service', () => {
  it.each(HOW)(
    '%s: a good credential gets through, and the handler knows whose it is',
    async (how) => {
      const { port, callers } = await start();
      await clientOf(port, how).check({}, bearer('good'));
      expect(callers).toEqual([ADA_IDENTITY.principal, 'Ada Lovelace']);
    },
  );

  it.each(
    HOW.flatMap((how) =>
      (
        [
          ['none', {}, Code.Unauthenticated],
          ['a bad one', bearer('bad'), Code.Unauthenticated],
          ['two', bearer('good, Bearer good2'), Code.Unauthenticated],
          ['one that may not enter', bearer('forbidden'), Code.PermissionDenied],
          ['one that is undecided', bearer('outage'), Code.Unavailable],
          [
            'one in the header of HTTP',
            { headers: { 'core-http': 'Bearer good' } },
            Code.Unauthenticated,
          ],
        ] as const
      ).map(([name, options, code]) => [how, name, options, code] as const),
    ),
  )('%s with %s is refused, and the handler never runs', async (how, _, options, code) => {
    const { port, callers } = await start();
    expect((await codeOf(clientOf(port, how).check({}, options))).code).toBe(code);
    expect(callers).toEqual([]);
  });

  it('a refusal over Connect is HTTP 401 with the protocol’s JSON, the challenge and no caching', async () => {
    const { port } = await start();
    const response = await fetch(`http://127.0.0.1:${port}/${Health.typeName}/Check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="sallyport"');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      code: 'unauthenticated',
      message: 'Sign in first (no_credential)',
    });
  });

  it('says when to try again where it is undecided', async () => {
    const { port } = await start();
    const error = await codeOf(clientOf(port, 'gRPC').check({}, bearer('outage')));
    expect(error.metadata.get('retry-after')).toBe('7');
  });

  it.each(HOW)('%s: a stream is checked before it begins', async (how) => {
    const { port, callers } = await start();
    const read = async (token: string) => {
      for await (const _ of clientOf(port, how).watch({}, bearer(token)));
    };
    expect((await codeOf(read('bad'))).code).toBe(Code.Unauthenticated);
    expect(callers).toEqual([]);
    await read('slow');
    expect(callers).toEqual([ADA_IDENTITY.principal]);
  });

  it('slides the session cookie of a browser', async () => {
    const { port } = await start();
    const response = await fetch(`http://127.0.0.1:${port}/${Health.typeName}/Check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'core-grpc': 'Bearer slid' },
      body: '{}',
    });
    expect(response.headers.getSetCookie()).toEqual(['__Host-core_session=slid; Path=/']);
  });

  it('answers @grpc/grpc-js', async () => {
    const { port } = await start();
    expect((await callWithGrpcJs(port, Health.method.check)).error?.code).toBe(16);
    const headers = { 'core-grpc': 'Bearer good' };
    expect((await callWithGrpcJs(port, Health.method.check, headers)).error).toBeUndefined();
  });

  it('hands the method to the check, for its cross-site rule', async () => {
    const { port, asked } = await start();
    await clientOf(port, 'Connect over HTTP/1.1').check({}, bearer('good'));
    expect(asked).toMatchObject([{ method: 'POST', transport: 'grpc' }]);
  });
});
