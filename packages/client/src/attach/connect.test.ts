import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  Code,
  ConnectError,
  createClient,
  type HandlerContext,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
} from '@connectrpc/connect';
import {
  connectNodeAdapter,
  createConnectTransport,
  createGrpcTransport,
} from '@connectrpc/connect-node';
import { refuse, SallyportError } from '@sallyport/protocol';
import { Health, HealthCheckResponse_ServingStatus as Serving } from '@sallyport/protocol/protobuf';
import { createCountingSource } from '@sallyport/testing/client/fixed-source';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TokenSource } from '../token-source.ts';
import { createAuthenticatingInterceptor } from './connect.ts';

const HEADER = 'core-authorization';
const header = async (): Promise<string> => HEADER;
const CODE = { serving: Serving.SERVING };

/** What the platform does with a call, after it has noted the token. */
type Behaviour = (token: string | null, sent: number) => void;

const PROTOCOLS = ['connect', 'grpc'] as const;

/** A platform with the health service, whose stream sends two messages. */
async function serve(protocol: (typeof PROTOCOLS)[number], behave: Behaviour) {
  const seen: (string | null)[] = [];
  const handler = connectNodeAdapter({
    routes: (router) =>
      router.service(Health, {
        check(_request, context: HandlerContext) {
          note(context);
          behave(context.requestHeader.get(HEADER), 0);
          return { status: CODE.serving };
        },
        async *watch(_request, context: HandlerContext) {
          note(context);
          for (let sent = 0; sent < 2; sent += 1) {
            behave(context.requestHeader.get(HEADER), sent);
            yield { status: CODE.serving };
          }
        },
      }),
  });
  const server = protocol === 'grpc' ? createHttp2Server(handler) : createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, seen };

  function note(context: HandlerContext): void {
    seen.push(context.requestHeader.get(HEADER));
  }
}

async function setUp(
  protocol: (typeof PROTOCOLS)[number],
  behave: Behaviour,
  source?: TokenSource,
  endpointOfTokens?: string,
) {
  const { endpoint, seen } = await serve(protocol, behave);
  const counting = createCountingSource();
  const interceptor = createAuthenticatingInterceptor({
    source: source ?? counting.source,
    endpoint: endpointOfTokens ?? endpoint,
    header,
  });
  const options = { baseUrl: endpoint, interceptors: [interceptor] };
  const transport =
    protocol === 'grpc'
      ? createGrpcTransport(options)
      : createConnectTransport({ ...options, httpVersion: '1.1' });
  return { client: createClient(Health, transport), seen, obtained: counting.obtained };
}

const refuseFirst: Behaviour = (token) => {
  if (token === 'Bearer access-1') throw new ConnectError('no', Code.Unauthenticated);
};

async function count(messages: AsyncIterable<unknown>): Promise<number> {
  let received = 0;
  for await (const _ of messages) received += 1;
  return received;
}

describe.each(PROTOCOLS)('Bearer header rule 1: %s call', (protocol) => {
  it('attaches the token in the header the platform names', async () => {
    const { client, seen } = await setUp(protocol, () => undefined);
    expect((await client.check({})).status).toBe(CODE.serving);
    expect(await count(client.watch({}))).toBe(2);
    expect(seen).toEqual(['Bearer access-1', 'Bearer access-1']);
  });

  it('unauthenticated: signs in again once and repeats the call once', async () => {
    const { client, seen, obtained } = await setUp(protocol, refuseFirst);
    expect((await client.check({})).status).toBe(CODE.serving);
    expect(seen).toEqual(['Bearer access-1', 'Bearer access-2']);
    expect(obtained()).toBe(2);
  });

  it('a stream of answers is repeated when none has arrived', async () => {
    const { client, seen, obtained } = await setUp(protocol, refuseFirst);
    expect(await count(client.watch({}))).toBe(2);
    expect(seen).toEqual(['Bearer access-1', 'Bearer access-2']);
    expect(obtained()).toBe(2);
  });

  it('a stream that is refused after its first answer is not repeated, but the token is replaced', async () => {
    const { client, seen, obtained } = await setUp(protocol, (token, sent) => {
      if (sent === 1) refuseFirst(token, sent);
    });
    await expect(count(client.watch({}))).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect([seen.length, obtained()]).toEqual([1, 2]);
    expect(await count(client.watch({}))).toBe(2);
  });

  it('twenty calls refused at once cause one exchange', async () => {
    const { client, obtained } = await setUp(protocol, refuseFirst);
    await Promise.all(Array.from({ length: 20 }, () => client.check({})));
    expect(obtained()).toBe(2);
  });

  it('a platform that refuses every token is asked twice for a call', async () => {
    const { client, seen, obtained } = await setUp(protocol, () => {
      throw new ConnectError('no', Code.Unauthenticated);
    });
    await expect(client.check({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expect(client.check({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect([seen.length, obtained()]).toEqual([3, 2]);
  });

  it.each([Code.PermissionDenied, Code.Unavailable, Code.Unknown, Code.Internal])(
    'code %i is no reason to sign in',
    async (code) => {
      const { client, seen, obtained } = await setUp(protocol, () => {
        throw new ConnectError('no', code);
      });
      await expect(client.check({})).rejects.toMatchObject({ code });
      await expect(count(client.watch({}))).rejects.toMatchObject({ code });
      expect([seen.length, obtained()]).toEqual([2, 1]);
    },
  );

  it('another origin never sees the token', async () => {
    const { client, seen, obtained } = await setUp(
      protocol,
      () => {
        throw new ConnectError('no', Code.Unauthenticated);
      },
      undefined,
      'https://flow.example',
    );
    await expect(client.check({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect([seen, obtained()]).toEqual([[null], 0]);
  });

  it.each([HEADER, 'authorization'])("a caller's own %s is left alone", async (name) => {
    const { client, seen, obtained } = await setUp(protocol, () => {
      throw new ConnectError('no', Code.Unauthenticated);
    });
    const call = client.check({}, { headers: { [name]: 'Bearer own' } });
    await expect(call).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(seen).toEqual([name === HEADER ? 'Bearer own' : null]);
    expect(obtained()).toBe(0);
  });

  it('without a token nothing is sent, and the error says what to do', async () => {
    const refusal = {
      error: 'login_required',
      description: 'There is no sign-in.',
      hint: 'Sign in.',
    };
    const source = { get: async () => refuse(refusal), replace: async () => refuse(refusal) };
    const { client, seen } = await setUp(protocol, () => undefined, source);
    await expect(client.check({})).rejects.toMatchObject({
      code: Code.Unauthenticated,
      rawMessage: 'There is no sign-in. Sign in.',
      cause: { refusal },
    });
    expect(seen).toEqual([]);
  });

  it('an outage is unavailable, not a sign-in', async () => {
    const outage = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });
    const source = { get: () => Promise.reject(outage), replace: () => Promise.reject(outage) };
    const { client } = await setUp(protocol, () => undefined, source);
    await expect(client.check({})).rejects.toMatchObject({ code: Code.Unavailable, cause: outage });
  });
});

describe('A call that streams requests', () => {
  /** A call as Connect makes it, answered by `answer`. */
  async function call(answer: () => AsyncGenerator<string>, methodKind: string) {
    const { source, obtained } = createCountingSource();
    const endpoint = 'https://flow.example';
    const interceptor: Interceptor = createAuthenticatingInterceptor({ source, endpoint, header });
    let calls = 0;
    const request = {
      stream: true,
      url: `${endpoint}/service/method`,
      header: new Headers(),
      signal: new AbortController().signal,
      method: { methodKind },
      message: (async function* () {
        yield 'one';
      })(),
    } as unknown as StreamRequest;
    const made = interceptor(async () => {
      calls += 1;
      return { stream: true, message: answer() } as unknown as StreamResponse;
    })(request);
    return { response: (await made) as StreamResponse, calls: () => calls, obtained };
  }

  it.each(['client_streaming', 'bidi_streaming'])(
    '%s: cannot be repeated, so the error is passed on after the token was replaced',
    async (methodKind) => {
      const { response, calls, obtained } = await call(async function* () {
        yield* [];
        throw new ConnectError('no', Code.Unauthenticated);
      }, methodKind);
      await expect(count(response.message)).rejects.toMatchObject({ code: Code.Unauthenticated });
      expect([calls(), obtained()]).toEqual([1, 2]);
    },
  );

  it('is handed back before its first answer has arrived', async () => {
    let isAsked = false;
    const { response } = await call(async function* () {
      isAsked = true;
      yield 'one';
    }, 'bidi_streaming');
    expect(isAsked).toBe(false);
    expect(await count(response.message)).toBe(1);
  });
});
