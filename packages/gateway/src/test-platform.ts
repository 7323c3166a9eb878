/**
 * A small platform around a gateway, for its tests: backends, a verdict, clients; all on loopback.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, connect as connectTcp, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouteGroup } from '@sallyport/protocol';
import type { Answer, BackendHeaderPolicy } from '@sallyport/server/verdict';
import { onTestFinished } from 'vitest';
import type { AnswerRequest, AskAnswer } from './admission.ts';
import { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';

/** The public origin of every test; nothing listens there. */
export const PUBLIC_ORIGIN = 'https://flows.example.org';

/** Routes of one backend called `console`; gRPC method names end in what they are. */
export const TEST_ROUTES: readonly RouteGroup[] = [
  testGroup('closed', true, '/'),
  testGroup('open', false, '/open'),
  { ...testGroup('own', false, '/login'), forwardCredential: 'all' },
  { ...testGroup('events', true, '/events'), streaming: true },
  { ...testGroup('nowhere', true, '/nowhere'), backend: 'nowhere' },
  { ...testGroup('nowhere-open', false, '/nowhere-open'), backend: 'nowhere' },
  { ...testGroup('rpc', true, 'pkg.Unary'), forwardCredential: 'bearer' },
  testGroup('rpc-open', false, 'pkg.Open'),
  { ...testGroup('rpc-streams', true, 'pkg.Stream'), streaming: true },
];

/** Credentials as the test verdict knows them. */
export const POLICY: BackendHeaderPolicy = {
  bearerHeaders: new Set(['authorization', 'core-authorization']),
  stripHeaders: new Set(['x-secret-hint']),
  isSessionCookie: (name) => name === 'core_session',
  isAttemptCookie: (name) => name.startsWith('core_login_'),
};

/** The header that the test verdict admits. */
export const ADMITTED = { 'core-authorization': 'Bearer good' };

/** A verdict shaped as the server shapes it: one good bearer, one good session. */
export const testAnswer: AskAnswer = (request: AnswerRequest): Answer => {
  const isAdmitted =
    request.headers['core-authorization'] === 'Bearer good' ||
    (request.headers.cookie ?? '').includes('core_session=good');
  if (isAdmitted)
    return {
      outcome: 'admitted',
      identityHeaders: [
        ['x-user-subject', 'ada'],
        ['x-user-email', ''],
      ],
      setCookie: (request.headers.cookie ?? '').includes('slide=1')
        ? 'core_session=good; Max-Age=9'
        : undefined,
      body: '{}',
    };
  const noStore = ['cache-control', 'no-store'] as const;
  if (request.transport === 'grpc')
    return {
      outcome: 'denied',
      status: 200,
      headers: [
        ['content-type', 'application/grpc'],
        ['grpc-status', '16'],
      ],
      body: '',
    };
  if (request.headers['sec-fetch-mode'] === 'navigate')
    return {
      outcome: 'denied',
      status: 302,
      headers: [
        [
          'location',
          `${PUBLIC_ORIGIN}/login?redirect_url=${encodeURIComponent(request.target)}`,
        ],
        noStore,
      ],
      body: '',
    };
  return {
    outcome: 'denied',
    status: 401,
    headers: [['content-type', 'application/problem+json'], noStore],
    body: JSON.stringify({ status: 401, request_id: request.requestId }),
  };
};

/** A gateway that listens. */
export interface TestGateway {
  readonly gateway: Gateway;
  readonly port: number;
  readonly origin: string;
  readonly events: readonly (readonly [event: string, fields: Readonly<Record<string, unknown>>])[];
}

/** Starts a gateway in front of the backends given, and closes it with the test. */
export async function startGateway(
  upstreams: { readonly http?: string; readonly grpc?: string },
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const events: [string, Readonly<Record<string, unknown>>][] = [];
  const gateway = createGateway({
    publicOrigin: PUBLIC_ORIGIN,
    routes: TEST_ROUTES,
    upstreamFor: (backend, transport) => (backend === 'console' ? upstreams[transport] : undefined),
    answer: testAnswer,
    backendHeaders: POLICY,
    log: (event, fields) => events.push([event, fields]),
    ...options,
  });
  const { port } = await gateway.listen(0, '127.0.0.1');
  onTestFinished(() => gateway.close());
  return { gateway, port, origin: `http://127.0.0.1:${port}`, events };
}

/** Starts an HTTP/1.1 backend. */
export async function startBackend(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  return listenForTest(server);
}

/** Starts a server and closes it with the test. */
export async function listenForTest(server: Server | HttpServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts an HTTP/2 backend without TLS. */
export async function startGrpcBackend(
  serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]) => void,
): Promise<string> {
  const server = createHttp2Server();
  server.on('stream', (stream, headers, _flags, raw: readonly string[]) => {
    stream.on('error', () => {});
    serve(stream, headers, raw);
  });
  return listenForTest(server);
}

/** A backend that answers with what it was sent, as JSON. */
export const echo: RequestListener = (request, response) => {
  void readAll(request).then((body) => {
    const { method, url: target, rawHeaders } = request;
    response.end(JSON.stringify({ method, target, rawHeaders, body }));
  });
};

/** What {@link echo} answers. */
export interface Echo {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Values of a header in a flat list. */
export function headerValues({ rawHeaders }: Echo, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1] === name);
}

/** Reads a request body. */
export async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Opens a TCP connection that ends with the test. */
export function dial(port: number): Socket {
  const socket = connectTcp({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Sends bytes and resolves to all that came back, once the gateway has closed the connection. */
export function talk(port: number, sent: string | Buffer): Promise<string> {
  const socket = dial(port);
  socket.write(sent);
  return drainSocket(socket);
}

/** Resolves to all that a socket receives until it is closed. */
export function drainSocket(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.once('end', () => socket.end());
  });
}

/** One answer over HTTP/2. */
export interface Http2Answer {
  readonly headers: IncomingHttpHeaders | undefined;
  readonly trailers: IncomingHttpHeaders | undefined;
  readonly informational: readonly IncomingHttpHeaders[];
  readonly body: string;
  readonly rstCode: number;
}

/** Opens an HTTP/2 connection that ends with the test. */
export function dialHttp2(origin: string, options: { readonly ca?: string } = {}): ClientHttp2Session {
  const session = connectHttp2(origin, options);
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Collects an answer until its stream is closed. */
export function collect(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let headers: IncomingHttpHeaders | undefined;
  let trailers: IncomingHttpHeaders | undefined;
  const informational: IncomingHttpHeaders[] = [];
  const chunks: Buffer[] = [];
  stream.on('response', (received) => {
    headers = received;
  });
  stream.on('headers', (received) => informational.push(received));
  stream.on('trailers', (received) => {
    trailers = received;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  return new Promise((resolve) => {
    stream.once('close', () => {
      const body = Buffer.concat(chunks).toString();
      resolve({ headers, trailers, informational, body, rstCode: stream.rstCode });
    });
  });
}

/** Sends one request over HTTP/2. */
export function request2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Http2Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return collect(stream);
}

/** Headers of a gRPC call. */
export function grpcCall(path: string, extra: OutgoingHttpHeaders = {}): OutgoingHttpHeaders {
  return {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...ADMITTED,
    ...extra,
  };
}

/** A promise and the function that settles it. */
export function signal<T = void>(): { readonly seen: Promise<T>; readonly set: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { seen: promise, set: resolve };
}

/**
 * Makes a certificate for `localhost` that lives as long as the run; no key is kept in the repository.
 *
 * @returns `undefined` where openssl is missing, except in CI, which has to have it.
 */
export function makeCertificate(): { readonly key: string; readonly cert: string } | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-gateway-'));
  try {
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
        ...['-keyout', key, '-out', cert, '-days', '1', '-subj', '/CN=localhost'],
        ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
      ],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error;
    return undefined;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function testGroup(name: string, isProtected: boolean, match: string): RouteGroup {
  return {
    name,
    transport: match.startsWith('/') ? 'http' : 'grpc',
    protected: isProtected,
    backend: 'console',
    matches: [match],
    forwardCredential: 'none',
    streaming: false,
  };
}
