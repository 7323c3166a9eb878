import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const COMMAND = new URL('../../bin/sallyport.js', import.meta.url).pathname;

/** A running plane, as it announces itself. */
interface Plane {
  readonly ready: string;
  readonly https_url: string;
  readonly caFile: string;
  readonly state: string;
  readonly ca: string;
  readonly port: number;
  stop(): Promise<void>;
}

async function start(...args: readonly string[]): Promise<Plane> {
  const state = mkdtempSync(join(tmpdir(), 'sallyport-up-'));
  const child = spawn(
    process.execPath,
    [COMMAND, 'up', '--port', '0', '--state', state, '--json', ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface(child.stdout).once('line', resolve);
  child.once('exit', (code) => reject(new Error(`sallyport up ended with ${code}`)));
  const said = JSON.parse(await promise);
  return {
    ...said,
    state,
    ca: readFileSync(said.caFile, 'utf8'),
    port: Number(new URL(said.https_url).port),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(state, { recursive: true });
    },
  };
}

/** Asks over HTTPS/1.1, trusting the authority of the plane alone. */
async function getOverTls({ port, ca }: Plane, path: string) {
  const sent = requestHttps({ host: '127.0.0.1', port, servername: 'localhost', ca, path });
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  const { statusCode, headers, httpVersion } = response;
  return { status: statusCode, headers, httpVersion };
}

/** Calls a gRPC method with an empty message. @returns The headers, trailers over them. */
async function call(
  plane: Plane,
  scheme: 'http' | 'https',
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<IncomingHttpHeaders> {
  const session = connectHttp2(`${scheme}://localhost:${plane.port}`, { ca: plane.ca });
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  let received: IncomingHttpHeaders = {};
  const take = (some: IncomingHttpHeaders) => {
    received = { ...received, ...some };
  };
  stream.on('response', take);
  stream.on('trailers', take);
  stream.resume();
  stream.end(Buffer.alloc(5));
  await once(stream, 'close');
  session.destroy();
  return received;
}

/** A token of the service application, by the grant `client_credentials`. */
async function fetchToken({ state }: Plane): Promise<string> {
  const deployment = readFileSync(join(state, 'deployment.env'), 'utf8');
  const setting = (name: string) =>
    new RegExp(`^${name}='([^']+)'$`, 'm').exec(deployment)?.[1] ?? '';
  const secret = readFileSync(join(state, 'idp', 'service-client-secret'), 'utf8').trim();
  const basic = Buffer.from(`${setting('AUTH_CLIENT_ID')}:${secret}`).toString('base64');
  const answer = await fetch(setting('AUTH_TOKEN_URL'), {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'all' }),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return token;
}

const METADATA = '/flyteidl.service.AuthMetadataService/GetPublicClientConfig';
const IDENTITY = '/flyteidl.service.IdentityService/UserInfo';
const ELSEWHERE = '/cloudidl.usage.UsageService/GetUsage';

describe('sallyport up', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await start();
  });
  afterAll(() => plane.stop());

  it('its one port speaks HTTP/1.1 and TLS, trusted through the authority it names', async () => {
    const plain = await fetch(`${plane.ready}/me`);
    expect(plain.status).toBe(401);
    expect(await getOverTls(plane, '/me')).toMatchObject({ status: 401, httpVersion: '1.1' });
    expect(plane.https_url).toBe(plane.ready.replace('http:', 'https:'));
    await expect(getOverTls({ ...plane, ca: '' }, '/me')).rejects.toThrow(/certificate/);
  });

  it.each([
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1'], 'http/1.1'],
    [[], false],
  ])('ALPN %j agrees on %j', async (offered, agreed) => {
    const { port, ca } = plane;
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca,
      ...(offered.length === 0 ? {} : { ALPNProtocols: offered }),
    });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe(agreed);
    socket.destroy();
  });

  it.each(['http', 'https'] as const)(
    'AuthMetadataService answers gRPC over %s without a credential, no other service does',
    async (scheme) => {
      expect(await call(plane, scheme, METADATA)).toMatchObject({ 'grpc-status': '0' });
      for (const path of [IDENTITY, ELSEWHERE])
        expect(await call(plane, scheme, path)).toMatchObject({
          ':status': 200,
          'grpc-status': '16',
        });
    },
  );

  it('an admitted gRPC call reaches the admin service; a service of no backend here is UNIMPLEMENTED', async () => {
    const headers = { 'core-authorization': `Bearer ${await fetchToken(plane)}` };
    expect(await call(plane, 'https', IDENTITY, headers)).toMatchObject({ 'grpc-status': '0' });
    expect(await call(plane, 'https', ELSEWHERE, headers)).toMatchObject({
      'grpc-status': '12',
      'grpc-message': 'No%20service%20answers%20this%20route%20here%20(route_not_served)',
    });
  });

  it('a Connect call to a service of no backend here is unimplemented, once admitted', async () => {
    const post = async (headers: Readonly<Record<string, string>>) => {
      const answer = await fetch(plane.ready + ELSEWHERE, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'connect-protocol-version': '1',
          ...headers,
        },
        body: '{}',
      });
      const { code } = (await answer.json()) as { code: string };
      return code;
    };
    expect(await post({})).toBe('unauthenticated');
    expect(await post({ 'core-authorization': `Bearer ${await fetchToken(plane)}` })).toBe(
      'unimplemented',
    );
  });

  it('the public URL is http: cookies have no prefix', async () => {
    const { headers } = await getOverTls(plane, '/login');
    expect(headers['set-cookie']?.[0]).toMatch(/^core_login_0=(?!.*Secure)/);
  });
});

describe('sallyport up --https', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await start('--https');
  });
  afterAll(() => plane.stop());

  it('the public URL is https: cookies are __Host- and Secure, sign-in comes back to https', async () => {
    expect(plane.ready).toBe(plane.https_url);
    const { headers } = await getOverTls(plane, '/login');
    expect(headers['set-cookie']?.[0]).toMatch(/^__Host-core_login_0=.*; Secure/);
    expect(new URL(headers.location ?? '').searchParams.get('redirect_uri')).toBe(
      `${plane.https_url}/callback`,
    );
  });
});
