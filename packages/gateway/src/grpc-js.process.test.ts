import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BytesValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientWritableStream,
  compressionAlgorithms,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { ROUTE_GROUPS } from '@sallyport/protocol';
import { startRpcBackend } from '@sallyport/testing/gateway/echo-service';
import { startGateway, testAnswer } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { makeCertificate } from '@sallyport/testing/wire/certificate';
import { describe, expect, it, onTestFinished } from 'vitest';

/** The four kinds of call, as this client calls them. */
interface EchoClient {
  once(message: string, metadata: Metadata, options: object, done: Done): { cancel(): void };
  up(metadata: Metadata, done: Done): ClientWritableStream<string>;
  down(message: string, metadata: Metadata): ClientReadableStream<string>;
  both(metadata: Metadata): ClientDuplexStream<string, string>;
  close(): void;
}
type Done = (error: ServiceError | null, answer: string) => void;

const Client = makeGenericClientConstructor(
  {
    once: method('Once', false, false),
    up: method('Up', true, false),
    down: method('Down', false, true),
    both: method('Both', true, true),
  },
  'EchoService',
);
const MESSAGE_MAX = 16 * 1024 * 1024;

function method(name: string, requestStream: boolean, responseStream: boolean) {
  return {
    path: `/cloudidl.echo.EchoService/${name}`,
    requestStream,
    responseStream,
    requestSerialize: encode,
    requestDeserialize: decode,
    responseSerialize: encode,
    responseDeserialize: decode,
  };
}

function encode(text: string): Buffer {
  const value = new TextEncoder().encode(text);
  return Buffer.from(toBinary(BytesValueSchema, create(BytesValueSchema, { value })));
}

function decode(bytes: Buffer): string {
  return new TextDecoder().decode(fromBinary(BytesValueSchema, bytes).value);
}

const admitted = new Metadata();
admitted.set('core-authorization', 'Bearer good');
const anonymous = new Metadata();

async function start(
  implementation: Parameters<typeof startRpcBackend>[0] = {},
  options: Parameters<typeof startGateway>[1] = {},
) {
  const backend = await startRpcBackend(implementation);
  const { port } = await startGateway(
    {},
    { routes: ROUTE_GROUPS, upstreamFor: (_group, transport) => backend[transport], ...options },
  );
  const ca = options.tls === undefined ? undefined : Buffer.from(options.tls.cert);
  const generic = new Client(
    `localhost:${port}`,
    ca === undefined ? credentials.createInsecure() : credentials.createSsl(ca),
    {
      'grpc.max_receive_message_length': MESSAGE_MAX,
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    },
  );
  const client = generic as unknown as EchoClient;
  onTestFinished(() => client.close());
  return { client, calls: backend.calls };
}

/** A unary call: its answer, or the code it failed with. */
async function callOnce(
  client: EchoClient,
  metadata: Metadata,
  message = 'hello',
  options: object = {},
): Promise<string | number> {
  const { promise, resolve } = Promise.withResolvers<string | number>();
  client.once(message, metadata, options, (error, answer) => resolve(error?.code ?? answer));
  return promise;
}

/** A stream's messages, then the code it ended with. */
async function readAll(stream: ClientReadableStream<string>): Promise<(string | number)[]> {
  const received: (string | number)[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.on('data', (message: string) => received.push(message));
  stream.on('error', () => {});
  stream.on('status', ({ code }) => {
    received.push(code);
    resolve();
  });
  await promise;
  return received;
}

function echo<T>(request: T): T {
  return request;
}

describe('@grpc/grpc-js through the gateway', () => {
  it('a call carries a large compressed message, metadata and trailers', async () => {
    const large = 'wide '.repeat(1_000_000);
    const { client } = await start({
      once(request, { requestHeader, responseHeader, responseTrailer }) {
        responseHeader.set('x-encoding', requestHeader.get('grpc-encoding') ?? '');
        responseHeader.set('x-subject', requestHeader.get('x-user-subject') ?? '');
        responseTrailer.set('x-last-bin', 'AAEC');
        return request;
      },
    });
    const sent = admitted.clone();
    sent.set('x-user-subject', 'evil');
    const headers = signal<Metadata>();
    const trailers = signal<Metadata>();
    const answer = signal<string>();
    const call = client.once(large, sent, {}, (_error, got) => answer.set(got)) as ReturnType<
      EchoClient['down']
    >;
    call.on('metadata', headers.set);
    call.on('status', ({ metadata }) => trailers.set(metadata));
    expect((await answer.seen) === large).toBe(true);
    expect((await headers.seen).get('x-encoding')).toEqual(['gzip']);
    expect((await headers.seen).get('x-subject')).toEqual(['ada']);
    expect((await trailers.seen).get('x-last-bin')).toEqual([Buffer.from([0, 1, 2])]);
  });

  it('server stream, client stream and bidirectional stream', async () => {
    const { client } = await start({
      async *down(request) {
        for (let index = 0; index < 3; index += 1) yield await Promise.resolve(request);
      },
      async up(requests) {
        const chunks: Uint8Array[] = [];
        for await (const { value } of requests) chunks.push(value);
        return { value: Buffer.concat(chunks) };
      },
      async *both(requests) {
        for await (const request of requests) yield request;
      },
    });
    expect(await readAll(client.down('x', admitted))).toEqual(['x', 'x', 'x', status.OK]);

    const whole = signal<string>();
    const up = client.up(admitted, (_error, answer) => whole.set(answer));
    for (const message of ['a', 'b', 'c']) up.write(message);
    up.end();
    expect(await whole.seen).toBe('abc');

    const both = client.both(admitted);
    for (const message of ['a', 'b']) {
      const { promise, resolve } = Promise.withResolvers<string>();
      both.once('data', resolve);
      both.write(message);
      expect(await promise).toBe(message);
    }
    both.end();
    expect(await readAll(both)).toEqual([status.OK]);
  });

  it("a backend's status and message arrive", async () => {
    const { client } = await start({
      once() {
        throw new ConnectError('no such thing', Code.NotFound);
      },
    });
    const failed = signal<ServiceError | null>();
    client.once('', admitted, {}, failed.set);
    expect(await failed.seen).toMatchObject({ code: status.NOT_FOUND, details: 'no such thing' });
  });

  it('a deadline ends the call here and at the backend', async () => {
    const ended = signal();
    const { client } = await start({
      async once(request, context) {
        expect(context.timeoutMs()).toBeGreaterThan(0);
        context.signal.addEventListener('abort', () => ended.set());
        await ended.seen;
        return request;
      },
    });
    const deadline = Date.now() + 300;
    expect(await callOnce(client, admitted, '', { deadline })).toBe(status.DEADLINE_EXCEEDED);
    await ended.seen;
  });

  it.each(['once', 'down', 'both'] as const)(
    'a cancelled call (%s) is cancelled at the backend',
    async (kind) => {
      const begun = signal();
      const cancelled = signal();
      const wait = async (abort: AbortSignal) => {
        abort.addEventListener('abort', () => cancelled.set());
        begun.set();
        await cancelled.seen;
      };
      const { client } = await start({
        async once(request, context) {
          await wait(context.signal);
          return request;
        },
        async *down(request, context) {
          yield request;
          await wait(context.signal);
        },
        async *both(_requests, context) {
          yield { value: new Uint8Array() };
          await wait(context.signal);
        },
      });
      const code = signal<number | undefined>();
      const call =
        kind === 'once'
          ? client.once('', admitted, {}, (error) => code.set(error?.code))
          : kind === 'down'
            ? client.down('', admitted)
            : client.both(admitted);
      if (kind !== 'once') {
        void readAll(call as ClientReadableStream<string>).then((all) =>
          code.set(Number(all.at(-1))),
        );
      }
      await begun.seen;
      call.cancel();
      expect(await code.seen).toBe(status.CANCELLED);
      await cancelled.seen;
    },
  );

  it.each([
    ['no credential', anonymous, status.UNAUTHENTICATED],
    ['a caller who may not enter', withBearer('known'), status.PERMISSION_DENIED],
  ])('%s: every kind of call is refused, and none reaches the backend', async (_, sent, code) => {
    const { client, calls } = await start({ once: echo });
    expect(await callOnce(client, sent)).toBe(code);
    expect(await readAll(client.down('', sent))).toEqual([code]);
    expect(await readAll(client.both(sent))).toEqual([code]);
    const failed = signal<number | undefined>();
    client.up(sent, (error) => failed.set(error?.code)).end();
    expect(await failed.seen).toBe(code);
    expect(calls).toEqual([]);
    expect(await callOnce(client, admitted)).toBe('hello');
  });

  it('a verdict that fails is UNAVAILABLE, never an admission', async () => {
    const { client, calls } = await start(
      { once: echo },
      { answer: () => Promise.reject(new Error('the store is down')) },
    );
    expect(await callOnce(client, admitted)).toBe(status.UNAVAILABLE);
    expect(calls).toEqual([]);
  });

  it('a service that this installation does not run: UNIMPLEMENTED once admitted, UNAUTHENTICATED before', async () => {
    const { client } = await start({}, { upstreamFor: () => undefined, answer: testAnswer });
    expect(await callOnce(client, admitted)).toBe(status.UNIMPLEMENTED);
    expect(await callOnce(client, anonymous)).toBe(status.UNAUTHENTICATED);
  });

  const tls = makeCertificate();
  it.skipIf(tls === undefined)('over TLS, on the same port', async () => {
    const { client } = await start({ once: echo }, tls === undefined ? {} : { tls });
    expect(await callOnce(client, admitted)).toBe('hello');
    expect(await callOnce(client, anonymous)).toBe(status.UNAUTHENTICATED);
  });
});

function withBearer(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set('core-authorization', `Bearer ${token}`);
  return metadata;
}
