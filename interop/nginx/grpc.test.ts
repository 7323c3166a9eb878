import { connect } from 'node:http2';
import { type Metadata, status } from '@grpc/grpc-js';
import { IDENTITY_HEADERS } from '@sallyport/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { accessToken } from '../../conformance/wire/bearer.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import type { Answer } from './backend.ts';
import { type Gate, type Platform, startGate, startPlatform } from './gate.ts';
import {
  callOnce,
  type EchoClient,
  type GrpcBackend,
  metadataOf,
  openClient,
  readAll,
  SERVICES,
  type ServiceKind,
  startGrpcBackend,
} from './grpc-backend.ts';
import { NGINX } from './nginx.ts';

/** Opens a client that ends with the test. */
function client(gate: Gate, kind: ServiceKind): EchoClient {
  const opened = openClient(gate.http2, kind);
  onTestFinished(() => opened.close());
  return opened;
}

/** A gRPC call with a path of the caller's own spelling. @returns The answer's headers. */
async function callPath(
  gate: Gate,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const session = connect(`http://${gate.http2}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  // One message of one byte; GET and HEAD have none.
  if (!stream.writableEnded) stream.end(Buffer.from([0, 0, 0, 0, 1, 120]));
  stream.resume();
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  stream.on('response', resolve);
  stream.on('error', reject);
  return promise;
}

describe.skipIf(NGINX.isLeftOut)('nginx: gRPC in front of the server', () => {
  let grpc: GrpcBackend;
  let platform: Platform;
  let session: Readonly<Record<string, string>>;
  beforeAll(async () => {
    grpc = await startGrpcBackend();
    platform = await startPlatform('', { grpc: grpc.address });
    const visitor = new Browser();
    await platform.signIn(visitor);
    session = { cookie: `core_session=${visitor.cookie('localhost', 'core_session')}` };
  });
  afterAll(async () => {
    await platform.stop();
    grpc.close();
  });
  beforeEach(() => {
    platform.arrived();
    grpc.seen.length = 0;
  });

  it.each(['streaming', 'unary', 'admin'] as const)(
    'a call passes with message, initial metadata and trailers: %s group',
    async (kind) => {
      const call = Promise.withResolvers<string>();
      const initial = Promise.withResolvers<Metadata>();
      const last = Promise.withResolvers<Metadata>();
      const sent = client(platform, kind).once('hello', metadataOf(session), (error, answer) => {
        if (error === null) call.resolve(answer);
        else call.reject(error);
      });
      sent.on('metadata', initial.resolve);
      sent.on('status', ({ metadata }) => last.resolve(metadata));
      expect(await call.promise).toBe('hello');
      expect((await initial.promise).get('x-initial')).toEqual(['first']);
      expect((await last.promise).get('x-last')).toEqual(['end']);
      expect(grpc.seen.map(({ path }) => path)).toEqual([`/${SERVICES[kind]}/Once`]);
    },
  );

  it('server stream, client stream and bidirectional stream pass', async () => {
    const opened = client(platform, 'streaming');
    expect(await readAll(opened.down('x', metadataOf(session)))).toEqual(['x', 'x', status.OK]);

    const whole = Promise.withResolvers<string>();
    const up = opened.up(metadataOf(session), (_error, answer) => whole.resolve(answer));
    for (const message of ['a', 'b', 'c']) up.write(message);
    up.end();
    expect(await whole.promise).toBe('abc');

    const both = opened.both(metadataOf(session));
    for (const message of ['a', 'b']) {
      const { promise, resolve } = Promise.withResolvers<string>();
      both.once('data', resolve);
      both.write(message);
      expect(await promise).toBe(message);
    }
    both.end();
    expect(await readAll(both)).toEqual([status.OK]);
  });

  it.each(['streaming', 'unary', 'admin'] as const)(
    'no credential: 401 of the check becomes UNAUTHENTICATED for every kind of call (%s group), and none reaches the backend',
    async (kind) => {
      const opened = client(platform, kind);
      const anonymous = metadataOf({});
      expect(await callOnce(opened)).toBe(status.UNAUTHENTICATED);
      expect(await readAll(opened.down('', anonymous))).toEqual([status.UNAUTHENTICATED]);
      expect(await readAll(opened.both(anonymous))).toEqual([status.UNAUTHENTICATED]);
      const failed = Promise.withResolvers<number | undefined>();
      opened.up(anonymous, (error) => failed.resolve(error?.code)).end();
      expect(await failed.promise).toBe(status.UNAUTHENTICATED);
      expect(grpc.seen).toEqual([]);
    },
  );

  it('a refusal has no body and its status in the headers, HTTP 200', async () => {
    const headers = await callPath(platform, `/${SERVICES.unary}/Once`);
    expect(headers).toMatchObject({
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': '16',
      'grpc-message': 'Sign%20in%20first%20(unauthenticated)',
      'cache-control': 'no-store',
    });
    expect(headers).not.toHaveProperty('location');
  });

  it.each(['authorization', 'core-authorization'])(
    'a bearer in %s admits a gRPC call, and a bad one is UNAUTHENTICATED',
    async (name) => {
      const token = await accessToken(platform.service.idp, platform.url);
      const opened = client(platform, 'unary');
      expect(await callOnce(opened, { [name]: `Bearer ${token}` })).toBe('hello');
      expect(await callOnce(opened, { [name]: `Bearer ${token}x` })).toBe(status.UNAUTHENTICATED);
      expect(grpc.seen.map(({ metadata }) => metadata[name])).toEqual([undefined]);
      await callOnce(client(platform, 'admin'), { [name]: `Bearer ${token}` });
      expect(grpc.seen.at(-1)?.metadata[name]).toBe(`Bearer ${token}`);
    },
  );

  it('403 of the check becomes PERMISSION_DENIED, and the call does not reach the backend', async () => {
    const opened = client(platform, 'unary');
    const crossSite = { ...session, origin: 'https://evil.example' };
    expect(await callOnce(opened, crossSite)).toBe(status.PERMISSION_DENIED);
    expect(grpc.seen).toEqual([]);
    expect(await callOnce(opened, { ...session, origin: platform.url })).toBe('hello');
  });

  it.each(['streaming', 'admin', 'open'] as const)(
    "a client's own identity headers never reach the backend on gRPC: %s group",
    async (kind) => {
      const names = [
        ...Object.values(IDENTITY_HEADERS),
        'x-user-claim-groups',
        'x-user-claim-tenant-id',
        'x-forwarded-user',
        'x-auth-request-user',
        'x-real-ip',
        'x-original-uri',
        'forwarded',
      ];
      const made = Object.fromEntries(names.map((name) => [name, 'evil']));
      const headers = { ...session, ...made, x_user_subject: 'evil', 'x-kept': 'kept' };
      expect(await callOnce(client(platform, kind), headers)).toBe('hello');
      const metadata = grpc.seen[0]?.metadata ?? {};
      expect(Object.values(metadata)).not.toContain('evil');
      expect(metadata).toMatchObject({ 'x-kept': 'kept' });
      expect(metadata['x-user-subject']).toBe(kind === 'open' ? undefined : 'ada');
      expect(metadata['x-forwarded-for']).toBe('127.0.0.1');
    },
  );

  it('credentials reach the backend only where its group forwards them', async () => {
    const sent = { cookie: `a=1; ${session['cookie']}; b=2` };
    await callOnce(client(platform, 'streaming'), sent);
    await callOnce(client(platform, 'admin'), sent);
    expect(grpc.seen.map(({ metadata }) => metadata['cookie'])).toEqual(['a=1; b=2', sent.cookie]);
  });

  it('AuthMetadataService is unprotected over gRPC: no check is asked', async () => {
    expect(await callOnce(client(platform, 'open'))).toBe('hello');
    expect(platform.backend('admin').seen).toEqual([]);
    expect(grpc.seen.map(({ path }) => path)).toEqual([`/${SERVICES.open}/Once`]);
  });

  it.each([
    `/${SERVICES.open}/../${SERVICES.admin}/Once`,
    `/${SERVICES.open}/%2e%2e/${SERVICES.admin}/Once`,
    `//${SERVICES.open}/Once`,
    `/${SERVICES.open}/Once?x=1`,
    `/${SERVICES.open}/Once/more`,
    `/${SERVICES.open}/`,
    `/${SERVICES.open}`,
    `/%66lyteidl.service.AuthMetadataService/Once`,
    `/${SERVICES.open.toUpperCase()}/Once`,
    '/login',
    '/me',
    '/healthz',
    '/openapi/x',
  ])('opens no other spelling, and no HTTP route, to a gRPC call: %s', async (path) => {
    expect(await callPath(platform, path)).toMatchObject({ ':status': 200, 'grpc-status': '16' });
    expect(grpc.seen).toEqual([]);
    expect(platform.arrived()).toEqual([]);
  });

  it.each(['GET', 'HEAD'])(
    'what another ingress asks /me about a gRPC call (%s) is an HTTP request, whatever its content type',
    async (method) => {
      const ask = (headers: Readonly<Record<string, string>>) =>
        callPath(platform, '/me', { ':method': method, ...headers });
      expect(await ask({})).toMatchObject({ ':status': 401 });
      expect(await ask(session)).toMatchObject({ ':status': 200, 'x-user-subject': 'ada' });
    },
  );

  it('a service that no group names is UNIMPLEMENTED, to the admitted alone', async () => {
    const opened = client(platform, 'unknown');
    expect(await callOnce(opened)).toBe(status.UNAUTHENTICATED);
    expect(await callOnce(opened, session)).toBe(status.UNIMPLEMENTED);
    expect(await callPath(platform, '/org/list', session)).toMatchObject({ 'grpc-status': '12' });
    expect(platform.arrived()).toEqual([]);
  });

  it('a cancelled call is cancelled at the backend', async () => {
    const failed = Promise.withResolvers<number | undefined>();
    const call = client(platform, 'unary').wait('x', metadataOf(session), (error) =>
      failed.resolve(error?.code),
    );
    await grpc.waiting;
    call.cancel();
    expect(await failed.promise).toBe(status.CANCELLED);
    await grpc.cancelled;
  });

  it('the deadline reaches the backend', async () => {
    const path = `/${SERVICES.unary}/Once`;
    await callPath(platform, path, { ...session, 'grpc-timeout': '59S' });
    await callPath(platform, path, session);
    const [limited, unlimited] = grpc.seen;
    expect(Number.isFinite(limited?.deadline)).toBe(true);
    expect(unlimited?.deadline).toBe(Number.POSITIVE_INFINITY);
  });

  it('more than client_max_body_size is RESOURCE_EXHAUSTED, but a stream may be longer', async () => {
    const message = 'x'.repeat(300_000);
    const large = message.repeat(5);
    expect(await callOnce(client(platform, 'unary'), session, large)).toBe(
      status.RESOURCE_EXHAUSTED,
    );
    const whole = Promise.withResolvers<string>();
    const up = client(platform, 'streaming').up(metadataOf(session), (_error, answer) =>
      whole.resolve(answer),
    );
    for (let index = 0; index < 5; index += 1) up.write(message);
    up.end();
    expect((await whole.promise) === large).toBe(true);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: gRPC in front of a check of the test', () => {
  let grpc: GrpcBackend;
  let gate: Gate;
  let answer: Answer;
  beforeAll(async () => {
    grpc = await startGrpcBackend();
    gate = await startGate((seen, res) => answer(seen, res), {
      grpc: grpc.address,
      server: 'error_page 401 403 502 503 504 =200 /console;',
    });
  });
  afterAll(async () => {
    await gate.stop();
    grpc.close();
  });
  beforeEach(() => {
    grpc.seen.length = 0;
  });

  it('an admission passes', async () => {
    answer = (_, res) => res.writeHead(200).end();
    expect(await callOnce(client(gate, 'unary'))).toBe('hello');
  });

  it.each([302, 400, 404, 429, 500, 502, 503, 504])(
    'a check that answers %i decides nothing: UNAVAILABLE, and no backend is asked',
    async (code) => {
      answer = (_, res) => res.writeHead(code, { location: '/login' }).end();
      expect(await callOnce(client(gate, 'unary'))).toBe(status.UNAVAILABLE);
      expect(await readAll(client(gate, 'streaming').both(metadataOf({})))).toEqual([
        status.UNAVAILABLE,
      ]);
      expect(grpc.seen).toEqual([]);
    },
  );

  it('a check that breaks off is UNAVAILABLE, and no backend is asked', async () => {
    answer = (_, res) => void res.destroy();
    expect(await callOnce(client(gate, 'unary'))).toBe(status.UNAVAILABLE);
    expect(grpc.seen).toEqual([]);
  });

  it('the check learns method, target and content type, and nothing made up about them', async () => {
    answer = (_, res) => res.writeHead(200).end();
    await callOnce(client(gate, 'unary'), {
      'x-original-uri': '/open',
      'x-original-method': 'GET',
    });
    expect(gate.last('admin')).toMatchObject({
      method: 'HEAD',
      path: '/me',
      headers: {
        'x-original-method': 'POST',
        'x-original-uri': `/${SERVICES.unary}/Once`,
        'content-type': 'application/grpc',
      },
    });
  });

  it("the check's Set-Cookie reaches the caller, admitted or refused", async () => {
    const cookie = 'core_session=slid; Max-Age=9';
    answer = (_, res) => res.writeHead(200, { 'set-cookie': cookie }).end();
    const admitted = await callPath(gate, `/${SERVICES.unary}/Once`);
    expect(admitted['set-cookie']).toEqual([cookie]);
    answer = (_, res) => res.writeHead(401, { 'set-cookie': cookie }).end();
    const refused = await callPath(gate, `/${SERVICES.unary}/Once`);
    expect([refused['grpc-status'], refused['set-cookie']]).toEqual(['16', [cookie]]);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: gRPC without a backend', () => {
  it('is UNAVAILABLE to admitted callers, and UNAUTHENTICATED to all others', async () => {
    const gate = await startGate((seen, res) =>
      res.writeHead(seen.headers.authorization === 'good' ? 200 : 401).end(),
    );
    onTestFinished(() => gate.stop());
    for (const kind of ['streaming', 'unary', 'admin'] as const) {
      const opened = client(gate, kind);
      expect(await callOnce(opened, { authorization: 'good' })).toBe(status.UNAVAILABLE);
      expect(await callOnce(opened)).toBe(status.UNAUTHENTICATED);
    }
  });
});
