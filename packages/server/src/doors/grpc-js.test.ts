import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import {
  Health,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
} from '@sallyport/protocol/protobuf';
import {
  ADA_IDENTITY,
  createFixedCheck,
  PUBLIC_ORIGIN,
} from '@sallyport/testing/server/fixed-check';
import { callWithGrpcJs } from '@sallyport/testing/wire/rpc-clients';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServerInterceptor, identityOf, principalOf } from './grpc-js.ts';

type Reply = { readonly status: HealthCheckResponse_ServingStatus };

const codec = {
  requestSerialize: () => Buffer.alloc(0),
  requestDeserialize: (bytes: Buffer) => fromBinary(Health.method.check.input, bytes),
  responseSerialize: () =>
    Buffer.from(toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema))),
  responseDeserialize: (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes),
};

async function start(isGuarded = true) {
  const callers: unknown[] = [];
  const { check, asked } = createFixedCheck();
  const interceptor = createServerInterceptor({ check, publicOrigin: PUBLIC_ORIGIN });
  const server = new Server({ interceptors: isGuarded ? [interceptor] : [] });
  server.addService(
    {
      check: {
        path: `/${Health.typeName}/Check`,
        requestStream: false,
        responseStream: false,
        ...codec,
      },
      watch: {
        path: `/${Health.typeName}/Watch`,
        requestStream: false,
        responseStream: true,
        ...codec,
      },
    },
    {
      check(call: ServerUnaryCall<unknown, Reply>, answer: sendUnaryData<Reply>) {
        try {
          callers.push(principalOf(call), identityOf(call).user.name);
          answer(null, { status: HealthCheckResponse_ServingStatus.SERVING });
        } catch (cause) {
          answer({ code: status.UNKNOWN, details: String(cause), metadata: new Metadata() });
        }
      },
      watch(call: ServerWritableStream<unknown, Reply>) {
        callers.push(principalOf(call));
        call.write({ status: HealthCheckResponse_ServingStatus.SERVING });
        call.end();
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  onTestFinished(() => server.forceShutdown());
  return { port, callers, asked };
}

const bearer = (token: string) => ({ 'core-grpc': `Bearer ${token}` });

describe('the interceptor of a grpc-js service', () => {
  it.each(['good', 'slow'])(
    'a good credential (%s) gets through, and the handler knows whose it is',
    async (token) => {
      const { port, callers } = await start();
      expect(
        (await callWithGrpcJs(port, Health.method.check, bearer(token))).error,
      ).toBeUndefined();
      expect(callers).toEqual([ADA_IDENTITY.principal, 'Ada Lovelace']);
    },
  );

  it.each([
    ['none', {}, 16, 'Sign in first (no_credential)'],
    ['a bad one', bearer('bad'), 16, 'This bearer token is not accepted (bearer_not_accepted)'],
    [
      'two',
      bearer('good, Bearer good2'),
      16,
      'More than one credential was sent (ambiguous_credentials)',
    ],
    ['one that may not enter', bearer('forbidden'), 7, 'This account may not enter (not_allowed)'],
    [
      'one that is undecided',
      bearer('outage'),
      14,
      'Sessions cannot be read at the moment (store_unavailable)',
    ],
    [
      'one in the header of HTTP',
      { 'core-http': 'Bearer good' },
      16,
      'Sign in first (no_credential)',
    ],
  ])('%s is refused, and the handler never runs', async (_, headers, code, details) => {
    const { port, callers } = await start();
    const { error } = await callWithGrpcJs(port, Health.method.check, headers);
    expect(error).toMatchObject({ code, details });
    expect(callers).toEqual([]);
  });

  it('says when to try again where it is undecided', async () => {
    const { port } = await start();
    const { error } = await callWithGrpcJs(port, Health.method.check, bearer('outage'));
    expect(error?.metadata.get('grpc-retry-pushback-ms')).toEqual(['7000']);
  });

  it('a stream is checked before it begins', async () => {
    const { port, callers } = await start();
    const client = createClient(
      Health,
      createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }),
    );
    const read = async (token: string) => {
      for await (const _ of client.watch({}, { headers: bearer(token) }));
    };
    const refusal = await read('bad').catch((error: unknown) => error);
    expect(ConnectError.from(refusal).code).toBe(Code.Unauthenticated);
    expect(callers).toEqual([]);
    await read('slow');
    expect(callers).toEqual([ADA_IDENTITY.principal]);
  });

  it('metadata that claims an identity is none', async () => {
    const { port, callers } = await start();
    const headers = { 'x-user-subject': 'ada-subject', principal: 'ada-subject' };
    expect((await callWithGrpcJs(port, Health.method.check, headers)).error?.code).toBe(16);
    expect(callers).toEqual([]);
  });

  it('a handler outside the interceptor has no caller: reading it fails the call', async () => {
    const { port, callers } = await start(false);
    const { error } = await callWithGrpcJs(port, Health.method.check, bearer('good'));
    expect(error?.details).toContain('not behind the interceptor');
    expect(callers).toEqual([]);
  });
});
