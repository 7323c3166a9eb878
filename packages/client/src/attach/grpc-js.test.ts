import {
  type ClientOptions,
  credentials,
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Interceptor,
  Metadata,
  makeClientConstructor,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { refuse, SallyportError } from '@sallyport/protocol';
import { createCountingSource } from '@sallyport/testing/client/fixed-source';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TokenSource } from '../token-source.ts';
import { createAuthenticatingClientInterceptor, type GrpcAttachment } from './grpc-js.ts';

const HEADER = 'core-authorization';
const header = async (): Promise<string> => HEADER;

const text = {
  requestSerialize: (value: string) => Buffer.from(value),
  requestDeserialize: String,
  responseSerialize: (value: string) => Buffer.from(value),
  responseDeserialize: String,
};
const SERVICE = {
  unary: { path: '/t.T/Unary', requestStream: false, responseStream: false, ...text },
  watch: { path: '/t.T/Watch', requestStream: false, responseStream: true, ...text },
  upload: { path: '/t.T/Upload', requestStream: true, responseStream: false, ...text },
  talk: { path: '/t.T/Talk', requestStream: true, responseStream: true, ...text },
} satisfies ServiceDefinition;

/** Says which status a call ends with; `sent` is how many messages have gone out. */
type Behaviour = (token: string | undefined, sent: number) => status | undefined;

const refuseFirst: Behaviour = (token) =>
  token === 'Bearer access-1' ? status.UNAUTHENTICATED : undefined;

async function setUp(behave: Behaviour, more: Partial<GrpcAttachment> = {}) {
  const seen: { readonly token: string | undefined; readonly message?: string }[] = [];
  const tokenOf = (metadata: Metadata): string | undefined => metadata.get(HEADER)[0]?.toString();
  const unary: handleUnaryCall<string, string> = (call, callback) => {
    const token = tokenOf(call.metadata);
    seen.push({ token, message: call.request });
    const metadata = new Metadata();
    metadata.set('attempt', String(seen.length));
    call.sendMetadata(metadata);
    const code = behave(token, 0);
    if (code === undefined) callback(null, `answer to ${call.request}`);
    else callback({ code, details: 'no' });
  };
  const watch: handleServerStreamingCall<string, string> = (call) => {
    const token = tokenOf(call.metadata);
    seen.push({ token, message: call.request });
    for (let sent = 0; sent < 2; sent += 1) {
      const code = behave(token, sent);
      if (code !== undefined) {
        call.emit('error', { code, details: 'no' });
        return;
      }
      call.write(`answer ${sent}`);
    }
    call.end();
  };
  const upload: handleClientStreamingCall<string, string> = (call, callback) => {
    const token = tokenOf(call.metadata);
    seen.push({ token });
    const code = behave(token, 0);
    if (code !== undefined) {
      callback({ code, details: 'no' });
      return;
    }
    let received = '';
    call.on('data', (part: string) => {
      received += part;
    });
    call.on('end', () => callback(null, received));
  };
  const talk: handleBidiStreamingCall<string, string> = (call) => {
    seen.push({ token: tokenOf(call.metadata) });
    call.on('data', (part: string) => call.write(`answer to ${part}`));
    call.on('end', () => call.end());
  };
  const server = new Server();
  server.addService(SERVICE, { unary, watch, upload, talk });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  onTestFinished(() => server.forceShutdown());

  const { source, obtained } = createCountingSource();
  const interceptor: Interceptor = createAuthenticatingClientInterceptor({
    source,
    endpoint: `http://127.0.0.1:${port}`,
    header,
    ...more,
  });
  const options: ClientOptions = { interceptors: [interceptor] };
  const Client = makeClientConstructor(SERVICE, 'T');
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  onTestFinished(() => client.close());
  let hear: (metadata: Metadata) => void = () => undefined;
  return {
    seen,
    obtained,
    calls: createCalls(client, (metadata) => hear(metadata)),
    /** Hears the metadata that unary calls show. */
    onMetadata(listener: (metadata: Metadata) => void): void {
      hear = listener;
    },
  };
}

/** The client's calls as promises. */
function createCalls(
  client: InstanceType<ReturnType<typeof makeClientConstructor>>,
  onMetadata: (metadata: Metadata) => void,
) {
  const { unary, watch, upload, talk } = SERVICE;
  return {
    unary: (message: string, metadata = new Metadata()): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        const call = client.makeUnaryRequest(
          unary.path,
          unary.requestSerialize,
          unary.responseDeserialize,
          message,
          metadata,
          (error, answer) => (error === null ? resolve(answer) : reject(error)),
        );
        call.on('metadata', onMetadata);
      }),
    watch: (message: string) =>
      client.makeServerStreamRequest(
        watch.path,
        watch.requestSerialize,
        watch.responseDeserialize,
        message,
        new Metadata(),
      ),
    upload: (...parts: string[]): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        const call = client.makeClientStreamRequest(
          upload.path,
          upload.requestSerialize,
          upload.responseDeserialize,
          new Metadata(),
          (error, answer) => (error === null ? resolve(answer) : reject(error)),
        );
        for (const part of parts) call.write(part);
        call.end();
      }),
    talk: () =>
      client.makeBidiStreamRequest(
        talk.path,
        talk.requestSerialize,
        talk.responseDeserialize,
        new Metadata(),
      ),
  };
}

async function codeOf(work: Promise<unknown>): Promise<status | string> {
  try {
    await work;
    return 'answered';
  } catch (error) {
    return (error as ServiceError).code;
  }
}

async function all(messages: AsyncIterable<unknown>): Promise<unknown[]> {
  const received: unknown[] = [];
  for await (const message of messages) received.push(message);
  return received;
}

describe('Bearer header rule 1: grpc-js call', () => {
  it('attaches the token in the header the platform names, to every kind of call', async () => {
    const { calls, seen } = await setUp(() => undefined);
    expect(await calls.unary('one')).toBe('answer to one');
    expect(await all(calls.watch('two'))).toEqual(['answer 0', 'answer 1']);
    expect(await calls.upload('a', 'b', 'c')).toBe('abc');
    const talk = calls.talk();
    talk.write('x');
    talk.write('y');
    talk.end();
    expect(await all(talk)).toEqual(['answer to x', 'answer to y']);
    expect(seen.map(({ token }) => token)).toEqual(Array(4).fill('Bearer access-1'));
  });

  it('UNAUTHENTICATED: signs in again once and repeats the call once, with its message', async () => {
    const { calls, seen, obtained } = await setUp(refuseFirst);
    expect(await calls.unary('one')).toBe('answer to one');
    expect(seen).toEqual([
      { token: 'Bearer access-1', message: 'one' },
      { token: 'Bearer access-2', message: 'one' },
    ]);
    expect(obtained()).toBe(2);
  });

  it('the metadata of a call that was repeated is that of the second answer alone', async () => {
    const { calls, onMetadata } = await setUp(refuseFirst);
    const attempts: unknown[] = [];
    onMetadata((metadata) => attempts.push(metadata.get('attempt')));
    await calls.unary('one');
    expect(attempts).toEqual([['2']]);
  });

  it('a stream of answers is repeated when none has arrived', async () => {
    const { calls, seen } = await setUp(refuseFirst);
    expect(await all(calls.watch('one'))).toEqual(['answer 0', 'answer 1']);
    expect(seen.map(({ token }) => token)).toEqual(['Bearer access-1', 'Bearer access-2']);
  });

  it('a stream that is refused after its first answer is not repeated, but the token is replaced', async () => {
    const { calls, seen, obtained } = await setUp((token, sent) =>
      sent === 1 ? refuseFirst(token, sent) : undefined,
    );
    expect(await codeOf(all(calls.watch('one')))).toBe(status.UNAUTHENTICATED);
    expect([seen.length, obtained()]).toEqual([1, 2]);
    expect(await codeOf(all(calls.watch('one')))).toBe('answered');
  });

  it('a call that streams requests is not repeated, but the token is replaced', async () => {
    const { calls, seen, obtained } = await setUp(refuseFirst);
    expect(await codeOf(calls.upload('a'))).toBe(status.UNAUTHENTICATED);
    expect([seen.length, obtained()]).toEqual([1, 2]);
    expect(await calls.upload('a', 'b')).toBe('ab');
    expect(obtained()).toBe(2);
  });

  it('twenty calls refused at once cause one exchange', async () => {
    const { calls, obtained } = await setUp(refuseFirst);
    const answers = await Promise.all(Array.from({ length: 20 }, () => calls.unary('one')));
    expect(answers).toEqual(Array(20).fill('answer to one'));
    expect(obtained()).toBe(2);
  });

  it('a platform that refuses every token is asked twice for a call', async () => {
    const { calls, seen, obtained } = await setUp(() => status.UNAUTHENTICATED);
    expect(await codeOf(calls.unary('one'))).toBe(status.UNAUTHENTICATED);
    expect(await codeOf(calls.unary('one'))).toBe(status.UNAUTHENTICATED);
    expect([seen.length, obtained()]).toEqual([3, 2]);
  });

  it.each([status.PERMISSION_DENIED, status.UNAVAILABLE, status.UNKNOWN])(
    'status %i is no reason to sign in',
    async (code) => {
      const { calls, seen, obtained } = await setUp(() => code);
      expect(await codeOf(calls.unary('one'))).toBe(code);
      expect(await codeOf(all(calls.watch('one')))).toBe(code);
      expect([seen.length, obtained()]).toEqual([2, 1]);
    },
  );

  it('another target never sees the token', async () => {
    const { calls, seen } = await setUp(refuseFirst, { endpoint: 'https://flow.example' });
    expect(await calls.unary('one')).toBe('answer to one');
    expect(seen).toEqual([{ token: undefined, message: 'one' }]);
  });

  it.each([HEADER, 'authorization'])("a caller's own %s is left alone", async (name) => {
    const { calls, seen, obtained } = await setUp(() => status.UNAUTHENTICATED);
    const metadata = new Metadata();
    metadata.set(name, 'Bearer own');
    expect(await codeOf(calls.unary('one', metadata))).toBe(status.UNAUTHENTICATED);
    expect(seen.map(({ token }) => token)).toEqual([name === HEADER ? 'Bearer own' : undefined]);
    expect(obtained()).toBe(0);
  });

  it('without a token nothing is sent, and the status says what to do', async () => {
    const refusal = {
      error: 'login_required',
      description: 'There is no sign-in.',
      hint: 'Sign in.',
    };
    const source = { get: async () => refuse(refusal), replace: async () => refuse(refusal) };
    const { calls, seen } = await setUp(() => undefined, { source });
    await expect(calls.unary('one')).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
      details: 'There is no sign-in. Sign in.',
    });
    expect(seen).toEqual([]);
  });

  it('an outage is UNAVAILABLE, not a sign-in', async () => {
    const outage = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });
    const source = { get: () => Promise.reject(outage), replace: () => Promise.reject(outage) };
    const { calls } = await setUp(() => undefined, { source });
    expect(await codeOf(calls.unary('one'))).toBe(status.UNAVAILABLE);
  });

  it('a cancel ends the wait for a token, and the call', async () => {
    const waiting = Promise.withResolvers<AbortSignal | undefined>();
    const source: TokenSource = {
      get(options) {
        const { promise, reject } = Promise.withResolvers<never>();
        options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        waiting.resolve(options?.signal);
        return promise;
      },
      replace: () => Promise.reject(new Error('not needed')),
    };
    const { calls, seen } = await setUp(() => undefined, { source });
    const call = calls.watch('one');
    const ended = codeOf(all(call));
    const signal = await waiting.promise;
    call.cancel();
    expect(await ended).toBe(status.CANCELLED);
    expect(signal?.aborted).toBe(true);
    expect(seen).toEqual([]);
  });
});
