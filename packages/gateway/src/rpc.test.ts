import { create } from '@bufbuild/protobuf';
import { type BytesValue, BytesValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from '@connectrpc/connect-node';
import { ROUTE_GROUPS } from '@sallyport/protocol';
import { AuthMetadataService } from '@sallyport/protocol/protobuf';
import { EchoService, startRpcBackend } from '@sallyport/testing/gateway/echo-service';
import { ADMITTED, startGateway, testAnswer } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { describe, expect, it, onTestFinished } from 'vitest';

const BYTES_MAX = 8 * 1024 * 1024;

/** The clients that real SDKs are made from. */
const CLIENTS: readonly (readonly [name: string, open: (baseUrl: string) => Transport])[] = [
  ['gRPC', (baseUrl) => createGrpcTransport({ baseUrl, ...gzip, ...http2(baseUrl) })],
  [
    'Connect over HTTP/2',
    (baseUrl) => createConnectTransport({ baseUrl, ...gzip, ...http2(baseUrl) }),
  ],
  [
    'Connect over HTTP/1.1',
    (baseUrl) => createConnectTransport({ baseUrl, ...gzip, httpVersion: '1.1' }),
  ],
  [
    'gRPC-Web over HTTP/2',
    (baseUrl) => createGrpcWebTransport({ baseUrl, ...gzip, ...http2(baseUrl) }),
  ],
  [
    'gRPC-Web over HTTP/1.1',
    (baseUrl) => createGrpcWebTransport({ baseUrl, ...gzip, httpVersion: '1.1' }),
  ],
];

const gzip = {
  sendCompression: compressionGzip,
  acceptCompression: [compressionGzip],
  readMaxBytes: BYTES_MAX,
  writeMaxBytes: BYTES_MAX,
};

function http2(baseUrl: string): { httpVersion: '2'; sessionManager: Http2SessionManager } {
  const sessionManager = new Http2SessionManager(baseUrl);
  onTestFinished(() => sessionManager.abort());
  return { httpVersion: '2', sessionManager };
}

function bytes(text: string): BytesValue {
  return create(BytesValueSchema, { value: Buffer.from(text) });
}

function text({ value }: BytesValue): string {
  return Buffer.from(value).toString();
}

/** A gateway over the platform's own routes. */
async function start(
  open: (baseUrl: string) => Transport,
  implementation: Parameters<typeof startRpcBackend>[0] = {},
  options: Parameters<typeof startGateway>[1] = {},
) {
  const backend = await startRpcBackend(implementation);
  const gateway = await startGateway(
    {},
    { routes: ROUTE_GROUPS, upstreamFor: (_group, transport) => backend[transport], ...options },
  );
  return {
    ...gateway,
    calls: backend.calls,
    client: createClient(EchoService, open(gateway.origin)),
    metadata: createClient(AuthMetadataService, open(gateway.origin)),
  };
}

async function* produce(...texts: readonly string[]): AsyncGenerator<BytesValue> {
  for (const each of texts) yield await Promise.resolve(bytes(each));
}

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => expect.unreachable('the call succeeded'),
    (error: unknown) => ConnectError.from(error),
  );
}

async function drain(stream: AsyncIterable<BytesValue>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const each of stream) texts.push(text(each));
  return texts;
}

const headers = ADMITTED;

describe.each(CLIENTS)('%s through the gateway', (name, open) => {
  it('a call carries its message, its metadata both ways and its trailers', async () => {
    const { client } = await start(open, {
      once(request, context) {
        context.responseHeader.set('x-seen', context.requestHeader.get('x-sent') ?? '');
        context.responseHeader.set('x-subject', context.requestHeader.get('x-user-subject') ?? '');
        context.responseTrailer.set('x-last', 'end');
        return bytes(`${text(request)}!`);
      },
    });
    const seen = new Headers();
    const trailers = new Headers();
    const answer = await client.once(bytes('hello'), {
      headers: { ...headers, 'x-sent': 'one', 'x-user-subject': 'evil' },
      onHeader(received) {
        for (const [key, value] of received) seen.set(key, value);
      },
      onTrailer(received) {
        for (const [key, value] of received) trailers.set(key, value);
      },
    });
    expect(text(answer)).toBe('hello!');
    expect(seen.get('x-seen')).toBe('one');
    expect(seen.get('x-subject')).toBe('ada');
    expect(trailers.get('x-last')).toBe('end');
  });

  it('messages of megabytes pass compressed, both ways', async () => {
    const large = Array.from({ length: 300_000 }, (_, index) => index.toString(36)).join('-');
    const encodings: (string | null)[] = [];
    const { client } = await start(open, {
      once(request, { requestHeader }) {
        encodings.push(requestHeader.get('grpc-encoding') ?? requestHeader.get('content-encoding'));
        return request;
      },
    });
    expect(text(await client.once(bytes(large), { headers })) === large).toBe(true);
    expect(encodings).toEqual(['gzip']);
  });

  it('each message of a server stream arrives before the next is sent', async () => {
    const turns = [signal(), signal(), signal()];
    const { client } = await start(open, {
      async *down() {
        for (const [index, turn] of turns.entries()) {
          await turn.seen;
          yield bytes(String(index));
        }
      },
    });
    const received: string[] = [];
    turns[0]?.set();
    for await (const message of client.down(bytes(''), { headers })) {
      received.push(text(message));
      turns[received.length]?.set();
    }
    expect(received).toEqual(['0', '1', '2']);
  });

  it('a client stream arrives whole', async () => {
    const { client } = await start(open, {
      up: async (requests) => bytes((await drain(requests)).join(',')),
    });
    expect(text(await client.up(produce('a', 'b', 'c'), { headers }))).toBe('a,b,c');
  });

  it("a backend's error keeps code, message, metadata and what came before it", async () => {
    const { client } = await start(open, {
      async *down() {
        yield await Promise.resolve(bytes('first'));
        throw new ConnectError('out of ä', Code.DataLoss, { 'x-why': 'because' });
      },
    });
    const received: string[] = [];
    const error = await failureOf(
      (async () => {
        for await (const message of client.down(bytes(''), { headers }))
          received.push(text(message));
      })(),
    );
    expect(received).toEqual(['first']);
    expect([error.code, error.rawMessage, error.metadata.get('x-why')]).toEqual([
      Code.DataLoss,
      'out of ä',
      'because',
    ]);
  });

  it('the deadline reaches the backend, which learns when it has passed', async () => {
    const left = signal<number>();
    const ended = signal();
    const { client } = await start(open, {
      async once(_request, context) {
        left.set(context.timeoutMs() ?? Number.NaN);
        await new Promise<void>((resolve) => {
          context.signal.addEventListener('abort', () => {
            ended.set();
            resolve();
          });
        });
        return bytes('late');
      },
    });
    const error = await failureOf(client.once(bytes(''), { headers, timeoutMs: 300 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    expect(await left.seen).toBeLessThanOrEqual(300);
    expect(await left.seen).toBeGreaterThan(0);
    await ended.seen;
  });

  it('a cancelled stream is cancelled at the backend', async () => {
    const cancelled = signal();
    const { client } = await start(open, {
      async *down(_request, context) {
        context.signal.addEventListener('abort', () => cancelled.set());
        yield bytes('first');
        await cancelled.seen;
      },
    });
    const controller = new AbortController();
    const error = await failureOf(
      (async () => {
        for await (const _ of client.down(bytes(''), { headers, signal: controller.signal }))
          controller.abort();
      })(),
    );
    expect(error.code).toBe(Code.Canceled);
    await cancelled.seen;
  });

  it('AuthMetadataService answers without a credential, every other service does not', async () => {
    const { client, metadata, calls } = await start(open, { once: (request) => request });
    expect((await metadata.getPublicClientConfig({})).clientId).toBe('cli');
    expect((await failureOf(client.once(bytes('')))).code).toBe(Code.Unauthenticated);
    expect(calls).toEqual(['GetPublicClientConfig']);
  });

  it.each([
    ['no credential', 'once', {}, Code.Unauthenticated],
    ['no credential', 'down', {}, Code.Unauthenticated],
    [
      'a caller who may not enter',
      'once',
      { 'core-authorization': 'Bearer known' },
      Code.PermissionDenied,
    ],
    [
      'a caller who may not enter',
      'down',
      { 'core-authorization': 'Bearer known' },
      Code.PermissionDenied,
    ],
  ] as const)(
    '%s, %s: refused in the protocol of the caller, and nothing reaches the backend',
    async (_title, method, sent, code) => {
      const { client, calls } = await start(open, { once: (request) => request });
      const call =
        method === 'once'
          ? client.once(bytes(''), { headers: sent })
          : drain(client.down(bytes(''), { headers: sent }));
      expect((await failureOf(call)).code).toBe(code);
      expect(calls).toEqual([]);
    },
  );

  it.each(['once', 'down'] as const)(
    '%s is unavailable while the verdict is undecided, and reaches no backend',
    async (method) => {
      const { client, calls } = await start(
        open,
        {},
        {
          answer: () => {
            throw new Error('the store is down');
          },
        },
      );
      const call =
        method === 'once'
          ? client.once(bytes(''), { headers })
          : drain(client.down(bytes(''), { headers }));
      expect((await failureOf(call)).code).toBe(Code.Unavailable);
      expect(calls).toEqual([]);
    },
  );

  it.each(['once', 'down'] as const)(
    '%s is unavailable with authentication off, and reaches no backend',
    async (method) => {
      const { client, calls } = await start(open, {}, { answer: undefined });
      const call =
        method === 'once'
          ? client.once(bytes(''), { headers })
          : drain(client.down(bytes(''), { headers }));
      expect((await failureOf(call)).code).toBe(Code.Unavailable);
      expect(calls).toEqual([]);
    },
  );

  it('a service that this installation does not run is unimplemented, once admitted', async () => {
    const { client } = await start(open, {}, { upstreamFor: () => undefined });
    const error = await failureOf(client.once(bytes(''), { headers }));
    expect([error.code, error.rawMessage]).toEqual([
      Code.Unimplemented,
      'No service answers this route here (route_not_served)',
    ]);
    expect((await failureOf(drain(client.down(bytes(''), { headers })))).code).toBe(
      Code.Unimplemented,
    );
    expect((await failureOf(client.once(bytes('')))).code).toBe(Code.Unauthenticated);
  });

  it('a backend that is down is unavailable', async () => {
    const { client } = await start(open, {}, { upstreamFor: () => 'http://127.0.0.1:1' });
    expect((await failureOf(client.once(bytes(''), { headers }))).code).toBe(Code.Unavailable);
    expect((await failureOf(drain(client.down(bytes(''), { headers })))).code).toBe(
      Code.Unavailable,
    );
  });

  it('the verdict reads the bearer where RPC callers put it', async () => {
    const asked: string[] = [];
    const { client } = await start(
      open,
      { once: (request) => request },
      {
        answer(request) {
          asked.push(request.transport);
          return testAnswer(request);
        },
      },
    );
    await client.once(bytes(''), { headers });
    expect([name, asked]).toEqual([name, ['grpc']]);
  });
});

describe('gRPC through the gateway', () => {
  it('messages of a bidirectional stream take turns', async () => {
    const [, open] = CLIENTS[0] ?? expect.unreachable();
    const { client } = await start(open, {
      async *both(requests) {
        for await (const request of requests) yield bytes(`${text(request)}!`);
      },
    });
    let answered = signal();
    async function* ask(): AsyncGenerator<BytesValue> {
      for (const word of ['a', 'b', 'c']) {
        yield bytes(word);
        await answered.seen;
        answered = signal();
      }
    }
    const received: string[] = [];
    for await (const message of client.both(ask(), { headers })) {
      received.push(text(message));
      answered.set();
    }
    expect(received).toEqual(['a!', 'b!', 'c!']);
  });
});
