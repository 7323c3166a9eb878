import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http2';
import { createServer } from 'node:net';
import {
  type Echo,
  echo,
  headerValues,
  listenForTest,
  startBackend,
  startGrpcBackend,
} from '@sallyport/testing/gateway/backends';
import { collect, dialHttp2, grpcCall, request2 } from '@sallyport/testing/gateway/http2-client';
import {
  ADMITTED,
  startGateway,
  TEST_ROUTES,
  testAnswer,
} from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { freePort } from '@sallyport/testing/wire/ports';
import { dial, talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it } from 'vitest';
import type { AskAnswer } from './admission.ts';

const CLOSE = 'host: a\r\nconnection: close\r\n';
const GOOD = 'core-authorization: Bearer good\r\n';
const SLIDE = 'cookie: core_session=good; slide=1\r\n';

function bodyOf(answer: string): Echo {
  return JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as Echo;
}

/** A backend that counts what reaches it. */
async function startCounting() {
  const seen: string[] = [];
  const http = await startBackend((request, response) => {
    seen.push(request.url ?? '');
    echo(request, response);
  });
  return { http, seen };
}

describe('bodies stream', () => {
  const size = 4 * 1024 * 1024;

  it.each(['http/1', 'http/2'])('a large one passes both ways, over %s', async (version) => {
    const http = await startBackend((request, response) => {
      request.pipe(response);
    });
    const { origin, port } = await startGateway({ http });
    if (version === 'http/2') {
      const headers = { ':method': 'POST', ':path': '/x', ...ADMITTED };
      const answer = await request2(dialHttp2(origin), headers, 'x'.repeat(size));
      expect([answer.headers?.[':status'], answer.body.length]).toEqual([200, size]);
    } else {
      const response = await fetch(`http://127.0.0.1:${port}/x`, {
        method: 'POST',
        headers: ADMITTED,
        body: 'x'.repeat(size),
      });
      expect((await response.text()).length).toBe(size);
    }
  });

  it('a client that does not read holds the backend back', async () => {
    const stopped = signal<number>();
    const http = await startBackend((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      let written = 0;
      (function fill(): void {
        while (written < 1024 * chunk.length) {
          written += chunk.length;
          if (response.write(chunk)) continue;
          // Full. It stays so until the gateway gives the client up, which ends the answer.
          response.once('drain', fill);
          return;
        }
        stopped.set(written);
      })();
      response.once('close', () => stopped.set(written));
    });
    const { port } = await startGateway({ http }, { timeouts: { clientStallMs: 200 } });
    const socket = dial(port);
    socket.write(`GET /open HTTP/1.1\r\n${CLOSE}\r\n`);
    socket.pause();
    expect(await stopped.seen).toBeLessThan(64 * 1024 * 1024);
  });

  it.each(['http/1', 'http/2'])(
    'the first event of an event stream arrives before it ends, over %s',
    async (version) => {
      const end = signal<() => void>();
      const http = await startBackend((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: 1\n\n');
        end.set(() => response.end('data: 2\n\n'));
      });
      const { origin, port } = await startGateway({ http });
      if (version === 'http/2') {
        const stream = dialHttp2(origin).request({ ':path': '/events', ...ADMITTED });
        const answer = collect(stream);
        const [first] = (await once(stream, 'data')) as [Buffer];
        expect(String(first)).toBe('data: 1\n\n');
        (await end.seen)();
        expect((await answer).body).toBe('data: 1\n\ndata: 2\n\n');
        return;
      }
      const socket = dial(port);
      let received = '';
      const first = signal();
      socket.on('data', (chunk) => {
        received += String(chunk);
        if (received.includes('data: 1')) first.set();
      });
      socket.write(`GET /events HTTP/1.1\r\n${CLOSE}${GOOD}\r\n`);
      await first.seen;
      expect(received).not.toContain('data: 2');
      (await end.seen)();
      await once(socket, 'close');
      expect(received).toContain('data: 2');
    },
  );

  it('headers of a stream arrive before its first event', async () => {
    const http = await startBackend((_request, response) => {
      response.flushHeaders();
    });
    const { origin } = await startGateway({ http });
    const stream = dialHttp2(origin).request({ ':path': '/events', ...ADMITTED });
    stream.on('error', () => {});
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(200);
  });

  it.each(['http/1', 'http/2'])('HEAD and 304 have none, over %s', async (version) => {
    const http = await startBackend((request, response) => {
      response.writeHead(request.method === 'HEAD' ? 200 : 304, { etag: '"x"' });
      response.end();
    });
    const { origin, port } = await startGateway({ http });
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 304],
    ] as const)
      if (version === 'http/2') {
        const answer = await request2(dialHttp2(origin), { ':method': method, ':path': '/open' });
        expect(answer).toMatchObject({ headers: { ':status': status, etag: '"x"' }, body: '' });
      } else {
        const answer = await talk(port, `${method} /open HTTP/1.1\r\n${CLOSE}\r\n`);
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*\r\n\r\n$`, 's'));
      }
  });
});

describe('what a backend receives', () => {
  it('the public origin and the peer, whatever the client claims', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const claimed =
      'x-forwarded-for: 1.2.3.4\r\nx-forwarded-proto: http\r\nx-forwarded-host: evil.example\r\nforwarded: for=1.2.3.4\r\n';
    const seen = bodyOf(await talk(port, `GET /x?y HTTP/1.1\r\n${CLOSE}${GOOD}${claimed}\r\n`));
    expect(seen.target).toBe('/x?y');
    expect(headerValues(seen, 'host')).toEqual(['flows.example.org']);
    expect(headerValues(seen, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(headerValues(seen, 'x-forwarded-host')).toEqual(['flows.example.org']);
    expect(headerValues(seen, 'x-forwarded-proto')).toEqual(['https']);
    expect(headerValues(seen, 'forwarded')).toEqual([]);
    expect(headerValues(seen, 'x-request-id')).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  it('a request id that the client drew, and the answer does not repeat the credential to the caller', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const id = 'x-request-id: caller-drew-1\r\n';
    const seen = bodyOf(await talk(port, `GET /x HTTP/1.1\r\n${CLOSE}${GOOD}${id}\r\n`));
    expect(headerValues(seen, 'x-request-id')).toEqual(['caller-drew-1']);
    expect(headerValues(seen, 'core-authorization')).toEqual([]);
  });

  it('the target byte for byte, also of absolute form with the public origin', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    for (const sent of ['/x/%2e%2e/y//z?a=%00', 'https://flows.example.org/x/%2e%2e/y//z?a=%00']) {
      const seen = bodyOf(await talk(port, `GET ${sent} HTTP/1.1\r\n${CLOSE}${GOOD}\r\n`));
      expect(seen.target).toBe('/x/%2e%2e/y//z?a=%00');
    }
  });
});

describe('the cookie that slides a session', () => {
  const COOKIE = 'set-cookie: core_session=good; Max-Age=9';

  it.each([200, 404, 500])('is appended to a backend answer of %i', async (status) => {
    const http = await startBackend((_request, response) => {
      response.writeHead(status, ['set-cookie', 'own=1']);
      response.end();
    });
    const { port } = await startGateway({ http });
    const answer = await talk(port, `GET /x HTTP/1.1\r\n${CLOSE}${SLIDE}\r\n`);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain('set-cookie: own=1\r\n');
    expect(answer).toContain(COOKIE);
    expect(answer).toContain('cache-control: private');
  });

  it('is appended to a stream', async () => {
    const http = await startBackend((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: 1\n\n');
    });
    const { port } = await startGateway({ http });
    expect(await talk(port, `GET /events HTTP/1.1\r\n${CLOSE}${SLIDE}\r\n`)).toContain(COOKIE);
  });

  it('is appended when the backend cannot be reached', async () => {
    const { port } = await startGateway({});
    const answer = await talk(port, `GET /nowhere HTTP/1.1\r\n${CLOSE}${SLIDE}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain(COOKIE);
  });

  it('is absent when the verdict gives none', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    expect(await talk(port, `GET /x HTTP/1.1\r\n${CLOSE}${GOOD}\r\n`)).not.toContain('set-cookie');
  });
});

describe('a request that is not admitted reaches no backend', () => {
  it('when refused, by 401 or by the redirect to sign in', async () => {
    const { http, seen } = await startCounting();
    const { port } = await startGateway({ http });
    expect(await talk(port, `GET /x HTTP/1.1\r\n${CLOSE}\r\n`)).toMatch(/^HTTP\/1\.1 401 /);
    const navigation = `GET /x HTTP/1.1\r\n${CLOSE}sec-fetch-mode: navigate\r\n\r\n`;
    expect(await talk(port, navigation)).toMatch(/^HTTP\/1\.1 302 .*redirect_url=%2Fx/s);
    expect(seen).toEqual([]);
  });

  it('when refused, also while its body is still being sent', async () => {
    const { http, seen } = await startCounting();
    const { origin } = await startGateway({ http });
    const session = dialHttp2(origin);
    const ask = async (path: string) =>
      (await request2(session, { ':path': path, ...ADMITTED })).headers?.[':status'];
    expect(await ask('/first')).toBe(200);
    const refused = session.request(
      { ':method': 'POST', ':path': '/refused' },
      { endStream: false },
    );
    refused.on('error', () => {});
    refused.write('half');
    const [headers] = (await once(refused, 'response')) as [IncomingHttpHeaders];
    expect(headers[':status']).toBe(401);
    expect(await ask('/last')).toBe(200);
    expect(seen).toEqual(['/first', '/last']);
  });

  it.each(['get', 'Get', 'FOO!'])(
    'when its method is %j, which another reader may take for another one',
    async (method) => {
      const seen: string[] = [];
      const http = await listenForTest(
        createServer((socket) =>
          socket.on('data', (bytes) => {
            seen.push(bytes.toString());
            socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
          }),
        ),
      );
      const { origin } = await startGateway({ http });
      const session = dialHttp2(origin);
      const answer = await request2(session, { ':method': method, ':path': '/open' }).catch(
        () => undefined,
      );
      expect(answer?.headers?.[':status']).not.toBe(200);
      expect(seen).toEqual([]);
    },
  );

  const BROKEN: readonly (readonly [string, unknown])[] = [
    [
      'throws',
      () => {
        throw new Error('canary');
      },
    ],
    ['rejects', () => Promise.reject(new Error('canary'))],
    ['rejects with nothing', () => Promise.reject()],
    ['returns undefined', () => undefined],
    ['returns null', () => null],
    ['returns true', () => true],
    ['returns an empty object', () => ({})],
    ['returns an admission without identity', () => ({ outcome: 'admitted' })],
    ['returns an unknown outcome', () => ({ outcome: 'maybe', identityHeaders: [] })],
    [
      'returns an impossible status',
      () => ({ outcome: 'denied', status: 9999, headers: [], body: '' }),
    ],
    ['is switched off', undefined],
  ];

  it.each(BROKEN)('when the verdict %s: 503, gRPC UNAVAILABLE', async (_title, answer) => {
    const { http, seen } = await startCounting();
    const grpc = await startGrpcBackend((stream) => {
      seen.push('grpc');
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin, port, events } = await startGateway(
      { http, grpc },
      { answer: answer as AskAnswer | undefined },
    );
    const answer1 = await talk(port, `GET /x HTTP/1.1\r\n${CLOSE}${GOOD}\r\n`);
    expect(answer1).toMatch(/^HTTP\/1\.1 503 .*application\/problem\+json/s);
    const session = dialHttp2(origin);
    const answer2 = await request2(session, { ':path': '/x', ...ADMITTED });
    expect(answer2.headers).toMatchObject({ ':status': 503 });
    const call = await request2(session, grpcCall('/pkg.Unary/Call'), '');
    expect(call.headers).toMatchObject({ ':status': 200, 'grpc-status': '14' });
    expect(seen).toEqual([]);
    expect(JSON.stringify([answer1, answer2, call, events])).not.toContain('canary');
  });

  it('when the verdict returns a header that would split the answer: 503', async () => {
    const { http, seen } = await startCounting();
    const headers = [['x', 'a\r\nset-cookie: evil']] as const;
    const { port } = await startGateway(
      { http },
      { answer: () => ({ outcome: 'denied', status: 401, headers, body: '' }) },
    );
    const answer = await talk(port, `GET /x HTTP/1.1\r\n${CLOSE}${GOOD}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).not.toContain('evil');
    expect(seen).toEqual([]);
  });

  it('negative twin: unprotected routes are served while the verdict is off', async () => {
    const { http, seen } = await startCounting();
    const { port } = await startGateway({ http }, { answer: undefined });
    expect(await talk(port, `GET /open HTTP/1.1\r\n${CLOSE}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen).toEqual(['/open']);
  });

  it('and a client that has gone while it was decided reaches none either', async () => {
    const { http, seen } = await startCounting();
    const asked = signal();
    const decide = signal();
    const { port } = await startGateway(
      { http },
      {
        async answer(request) {
          asked.set();
          await decide.seen;
          return testAnswer(request);
        },
      },
    );
    const socket = dial(port);
    socket.write(`GET /x HTTP/1.1\r\n${CLOSE}${GOOD}\r\n`);
    await asked.seen;
    socket.resetAndDestroy();
    // Another connection's answer: by then the gateway has seen the reset.
    await talk(port, `GET /open HTTP/1.1\r\n${CLOSE}\r\n`);
    decide.set();
    await talk(port, `GET /open HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(seen).toEqual(['/open', '/open']);
  });
});

describe('a backend that is not there', () => {
  it('unreachable: 502 problem, gRPC UNAVAILABLE', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const { origin, port, events } = await startGateway({ http: dead, grpc: dead });
    const answer = await talk(port, `GET /open HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 502 .*application\/problem\+json/s);
    expect(bodyOf(answer)).toMatchObject({ status: 502, reason: 'upstream_unreachable' });
    const call = await request2(dialHttp2(origin), grpcCall('/pkg.Unary/Call'), '');
    expect(call.headers).toMatchObject({ ':status': 200, 'grpc-status': '14' });
    expect(events.map(([event]) => event)).toEqual([
      'gateway.upstream_failed',
      'gateway.upstream_failed',
    ]);
  });

  it('unreachable: a browser that goes there gets a page that says so; its fetch gets the problem', async () => {
    const { port } = await startGateway({ http: `http://127.0.0.1:${await freePort()}` });
    const ask = (mode: string, further = '') =>
      talk(port, `GET /open HTTP/1.1\r\n${CLOSE}sec-fetch-mode: ${mode}\r\n${further}\r\n`);
    const page = await ask('navigate', 'x-request-id: <b>id\r\n');
    expect(page).toMatch(/^HTTP\/1\.1 502 .*content-type: text\/html/s);
    expect(page).toMatch(/content-security-policy: default-src 'none'/);
    expect(page.match(/^cache-control: .*$/gim)).toEqual(['cache-control: no-store']);
    expect(page).toContain('<h1>The service cannot be reached</h1>');
    expect(page).toContain('<code>upstream_unreachable</code>');
    expect(page).not.toContain('<b>');
    expect(bodyOf(await ask('cors', 'accept: text/html\r\n'))).toMatchObject({
      reason: 'upstream_unreachable',
    });
  });

  it('silent: 504, gRPC DEADLINE_EXCEEDED; not on a streaming route', async () => {
    const http = await startBackend(() => {});
    const grpc = await startGrpcBackend(() => {});
    const { origin, port } = await startGateway(
      { http, grpc },
      { timeouts: { upstreamHeadersMs: 50 } },
    );
    const session = dialHttp2(origin);
    const streaming = session.request({ ':path': '/events', ...ADMITTED });
    const settled = signal<string>();
    streaming.once('response', () => settled.set('answered'));
    streaming.on('error', () => {});
    const answer = await talk(port, `GET /open HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 504 /);
    const call = await request2(session, grpcCall('/pkg.Unary/Call'), '');
    expect(call.headers).toMatchObject({ ':status': 200, 'grpc-status': '4' });
    settled.set('waiting');
    expect(await settled.seen).toBe('waiting');
  });

  it('not run by this installation: 404, gRPC UNIMPLEMENTED', async () => {
    const { port } = await startGateway({});
    const answer = await talk(port, `GET /nowhere-open HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(bodyOf(answer)).toMatchObject({ status: 404, reason: 'route_not_served' });
    expect(TEST_ROUTES.some(({ backend }) => backend === 'nowhere')).toBe(true);
  });
});

describe('requests that no route could make acceptable', () => {
  it.each([
    ['a raw # in the path', 'GET /open#/x HTTP/1.1', '', 400],
    ['absolute form of another origin', 'GET http://evil.example/open HTTP/1.1', '', 400],
    ['asterisk form', 'OPTIONS * HTTP/1.1', '', 400],
    ['no slash', 'GET open HTTP/1.1', '', 400],
    ['CONNECT', 'CONNECT backend:80 HTTP/1.1', '', 405],
    ['TRACE', 'TRACE /open HTTP/1.1', '', 405],
    ['two hosts', 'GET /open HTTP/1.1', 'host: b\r\n', 400],
    ['an unknown method', 'get /open HTTP/1.1', '', 400],
    [
      'both Content-Length and Transfer-Encoding',
      'POST /open HTTP/1.1',
      'content-length: 5\r\ntransfer-encoding: chunked\r\n',
      400,
    ],
    [
      'two Content-Lengths',
      'POST /open HTTP/1.1',
      'content-length: 5\r\ncontent-length: 6\r\n',
      400,
    ],
    ['a doubtful Transfer-Encoding', 'POST /open HTTP/1.1', 'transfer-encoding: xchunked\r\n', 400],
    ['a folded header', 'GET /open HTTP/1.1', 'x-a: b\r\n c\r\n', 400],
    ['a space before the colon', 'GET /open HTTP/1.1', 'x-a : b\r\n', 400],
  ])('%s', async (_title, line, extra, status) => {
    const { http, seen } = await startCounting();
    const { port } = await startGateway({ http });
    const answer = await talk(port, `${line}\r\n${CLOSE}${extra}\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(seen).toEqual([]);
  });

  it.each([
    ['a raw #', { ':path': '/open#/x' }, 400],
    ['asterisk form', { ':method': 'OPTIONS', ':path': '*' }, 400],
    ['TRACE', { ':method': 'TRACE', ':path': '/open' }, 405],
    [
      'a differing host',
      { ':path': '/open', ':authority': 'flows.example.org', host: 'evil.example' },
      400,
    ],
  ])('%s over HTTP/2', async (_title, headers, status) => {
    const { http, seen } = await startCounting();
    const { origin } = await startGateway({ http });
    const answer = await request2(dialHttp2(origin), headers);
    expect(answer.headers?.[':status']).toBe(status);
    expect(seen).toEqual([]);
  });

  it('too many header fields: 431', async () => {
    const { http, seen } = await startCounting();
    const { port } = await startGateway({ http });
    const answer = await talk(port, `GET /open HTTP/1.1\r\n${CLOSE}${'a: 1\r\n'.repeat(210)}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(seen).toEqual([]);
  });

  it('Upgrade: h2c is ignored, and the request served as it is', async () => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const upgrade =
      'connection: close, upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n';
    const answer = await talk(port, `GET /open HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(headerValues(bodyOf(answer), 'http2-settings')).toEqual([]);
    expect(headerValues(bodyOf(answer), 'upgrade')).toEqual([]);
  });
});
