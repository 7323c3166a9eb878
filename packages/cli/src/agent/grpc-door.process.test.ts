import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BytesValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import {
  type ClientReadableStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { TokenSet } from '@sallyport/client';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { load } from '@sallyport/testing/client/settings';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { startRpcBackend } from '@sallyport/testing/gateway/echo-service';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDoors } from './agent-doors.ts';
import type { HeldToken, TokenKeeper, Unavailable } from './token-keeper.ts';

interface Client {
  once(message: string, metadata: Metadata, done: Done): ClientReadableStream<string>;
  down(message: string, metadata: Metadata): ClientReadableStream<string>;
  close(): void;
}
type Done = (error: ServiceError | null, answer: string) => void;

const Generic = makeGenericClientConstructor(
  { once: method('Once', false), down: method('Down', true) },
  'EchoService',
);
const HEADER = 'core-authorization';

function method(name: string, responseStream: boolean) {
  return {
    path: `/cloudidl.echo.EchoService/${name}`,
    requestStream: false,
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

/** What the platform says of a call: the headers that matter, each as it arrived. */
function describeCall({ requestHeader }: HandlerContext): { value: Uint8Array } {
  const names = [HEADER, 'authorization', 'cookie', 'sallyport-capability', 'x-own'];
  const got = names.map((name) => `${name}=${requestHeader.get(name) ?? ''}`).join('; ');
  return { value: new TextEncoder().encode(got) };
}

/** An agent before a platform, with a token or without one. */
async function startDoors(
  got: Result<HeldToken, Unavailable> = accept({ tokens: tokensOf('good'), header: HEADER }),
) {
  const platform = await startRpcBackend({
    once: (_request, context) => {
      if (context.requestHeader.get(HEADER) !== 'Bearer good')
        throw new ConnectError('stranger', Code.Unauthenticated);
      context.responseTrailer.set('x-last', 'there');
      return describeCall(context);
    },
    async *down({ value }) {
      for (let index = 0; index < 3; index += 1) yield { value };
      throw new ConnectError('enough', Code.ResourceExhausted);
    },
  });
  const { settings } = load({ env: { CORE_PLATFORM_URL: platform.grpc } });
  const refused: TokenSet[] = [];
  const logged: string[] = [];
  const keeper: TokenKeeper = {
    settings,
    cleanse: (text) => text,
    get: async () => got,
    reportRefused: (tokens) => void refused.push(tokens),
    status: () => ({ expiresAt: undefined, isUsable: got.ok, outage: undefined }),
    close: () => {},
  };
  const folder = createTemporaryFolder();
  const capabilityFile = join(folder, 'capability');
  const socketPath = join(folder, 'run', 's');
  const loopback = { host: '127.0.0.1', port: 0, capabilityFile } as const;
  const doors = await openDoors(
    { socketPath, loopback },
    () => keeper,
    (_level, event) => void logged.push(event),
  );
  onTestFinished(() => doors.close());
  const connect = (target: string): Client => {
    const client = new Generic(target, credentials.createInsecure()) as unknown as Client;
    onTestFinished(() => client.close());
    return client;
  };
  return {
    platform,
    refused,
    logged,
    capability: readFileSync(capabilityFile, 'utf8').trimEnd().split(': ')[1] ?? '',
    onSocket: connect(`unix:${socketPath}`),
    onLoopback: connect(doors.address ?? ''),
  };
}

function tokensOf(accessToken: string): TokenSet {
  return { accessToken, refreshToken: undefined, expiresAt: undefined, obtainedAt: 0, scopes: [] };
}

/** A unary call: its answer, or the code and details it failed with; and its trailers. */
async function once(client: Client, metadata: Metadata = new Metadata()) {
  const { promise, resolve } = Promise.withResolvers<{ answer: string; last: unknown }>();
  let answer = '';
  const call = client.once('hello', metadata, (error, got) => {
    answer = error === null ? got : `${status[error.code]} ${error.details}`;
  });
  call.on('status', ({ metadata: trailers }) =>
    setImmediate(() => resolve({ answer, last: trailers.get('x-last')[0] })),
  );
  return promise;
}

describe('gRPC through a door of the agent', () => {
  it('a call on the socket reaches the platform with the token in place of what the caller sent, and its trailers come back', async () => {
    const { onSocket, platform } = await startDoors();
    const sent = new Metadata();
    for (const [name, value] of [
      [HEADER, 'Bearer own'],
      ['authorization', 'Bearer own'],
      ['cookie', 'a=b'],
      ['sallyport-capability', 'any'],
      ['x-own', 'kept'],
    ] as const)
      sent.set(name, value);
    const { answer, last } = await once(onSocket, sent);
    expect(answer).toContain(
      `${HEADER}=Bearer good; authorization=; cookie=; sallyport-capability=; x-own=kept`,
    );
    expect(platform.calls).toEqual(['Once']);
    expect(last).toBe('there');
  });

  it('messages of a stream pass as they come, and so does the status that ends it', async () => {
    const { onSocket } = await startDoors();
    const stream = onSocket.down('piece', new Metadata());
    const got: unknown[] = [];
    stream.on('data', (message: string) => got.push(message));
    stream.on('error', () => undefined);
    await new Promise<void>((resolve) =>
      stream.on('status', ({ code }) => {
        got.push(code);
        resolve();
      }),
    );
    expect(got).toEqual(['piece', 'piece', 'piece', status.RESOURCE_EXHAUSTED]);
  });

  it('without a token a call is UNAVAILABLE with the sentence, and does not reach the platform', async () => {
    const sentence = 'No token was obtained since noon: the provider does not answer';
    const { onSocket, platform } = await startDoors(refuse({ reason: 'outage', sentence }));
    expect((await once(onSocket)).answer).toBe(`UNAVAILABLE ${sentence} (outage)`);
    expect(platform.calls).toEqual([]);
  });

  it('a token that the platform refuses is reported, so that the next call has another; a good one is not', async () => {
    const stale = tokensOf('stale');
    const bad = await startDoors(accept({ tokens: stale, header: HEADER }));
    expect((await once(bad.onSocket)).answer).toBe('UNAUTHENTICATED stranger');
    expect(bad.refused).toEqual([stale]);
    const good = await startDoors();
    await once(good.onSocket);
    expect(good.refused).toEqual([]);
  });

  it('a call on the loopback needs the capability', async () => {
    const { onLoopback, capability, platform, logged } = await startDoors();
    expect((await once(onLoopback)).answer).toContain('UNAUTHENTICATED');
    const wrong = new Metadata();
    wrong.set('sallyport-capability', 'x'.repeat(capability.length));
    expect((await once(onLoopback, wrong)).answer).toContain('UNAUTHENTICATED');
    expect(logged).toEqual(['agent_request_refused', 'agent_request_refused']);
    const browser = new Metadata();
    browser.set('sallyport-capability', capability);
    browser.set('origin', 'http://localhost');
    expect((await once(onLoopback, browser)).answer).toContain('PERMISSION_DENIED');
    expect(platform.calls).toEqual([]);
    const right = new Metadata();
    right.set('sallyport-capability', capability);
    expect((await once(onLoopback, right)).answer).toContain('Bearer good');
  });
});
