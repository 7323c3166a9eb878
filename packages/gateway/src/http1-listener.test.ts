import { echo, startBackend } from '@sallyport/testing/gateway/backends';
import { startGateway } from '@sallyport/testing/gateway/running-gateway';
import { signal } from '@sallyport/testing/time/signal';
import { dial, drainSocket, talk } from '@sallyport/testing/wire/wire-client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const GOOD = 'core-authorization: Bearer good\r\n';
const HOST = 'host: flows.example.org\r\n';
const WEBSOCKET = `${HOST}${GOOD}connection: upgrade\r\nupgrade: websocket\r\n`;
const GET = `GET /open HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`;

/** An error that is not caught would fail the run; that the port still serves shows it here. */
async function expectServing(port: number): Promise<void> {
  expect(await talk(port, GET)).toMatch(/^HTTP\/1\.1 200 /);
}

describe('a request to leave HTTP/1.1', () => {
  it.each([
    ['GET /x', WEBSOCKET, 'content-length: 5', 400],
    ['GET /x', WEBSOCKET, 'transfer-encoding: chunked', 400],
    ['CONNECT a:1', HOST, 'content-length: 5', 405],
    ['CONNECT a:1', HOST, 'transfer-encoding: chunked', 405],
  ])('%s, whose body has not arrived: %#', async (line, headers, framing, status) => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const answer = await talk(port, `${line} HTTP/1.1\r\n${headers}${framing}\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await expectServing(port);
  });

  it.each([
    ['a WebSocket', `GET /x HTTP/1.1\r\n${WEBSOCKET}\r\n`],
    ['a WebSocket with a body', `GET /x HTTP/1.1\r\n${WEBSOCKET}content-length: 5\r\n\r\n`],
    ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`],
  ])('%s behind requests under way ends the connection, and them', async (_what, leaving) => {
    const arrived = [signal(), signal()];
    const aborted = [signal(), signal()];
    let count = 0;
    const http = await startBackend((request, response) => {
      if (request.url === '/open') {
        response.end();
        return;
      }
      const index = count++;
      arrived[index]?.set();
      response.once('close', () => aborted[index]?.set());
    });
    const { port } = await startGateway({ http });
    const socket = dial(port);
    const closed = drainSocket(socket);
    socket.write(`GET /slow HTTP/1.1\r\n${HOST}${GOOD}\r\n`.repeat(2));
    await Promise.all(arrived.map(({ seen }) => seen));
    socket.write(leaving);
    expect(await closed).toBe('');
    await Promise.all(aborted.map(({ seen }) => seen));
    await expectServing(port);
  });

  it.each([
    ['an expectation that no server can meet', `GET /x HTTP/1.1\r\n${HOST}expect: wonders\r\n\r\n`],
    ['a request without a host', 'GET /x HTTP/1.1\r\n\r\n'],
  ])('behind %s, which Node answers by itself', async (_what, first) => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    await talk(port, `${first}CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`);
    await expectServing(port);
  });
});

describe('a listener that strangers can reach', () => {
  const line = fc
    .tuple(
      fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'get'),
      fc.constantFrom('/', '/open', '/login/../x', '*', 'a:1', '/a#b', 'http://evil.example/'),
      fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0'),
    )
    .map((parts) => `${parts.join(' ')}\r\n`);
  const header = fc
    .constantFrom(
      HOST.trim(),
      GOOD.trim(),
      WEBSOCKET.trim(),
      'upgrade: h2c',
      'connection: close',
      'expect: 100-continue',
      'expect: wonders',
      'content-length: 5',
      'transfer-encoding: chunked',
      'content-type: application/grpc',
    )
    .map((text) => `${text}\r\n`);
  const request = fc
    .tuple(line, fc.array(header, { maxLength: 5 }), fc.constantFrom('', 'hello', '5\r\nhello'))
    .map(([first, headers, body]) => `${first}${headers.join('')}\r\n${body}`);
  const noise = fc.string({ unit: 'binary-ascii', maxLength: 20 });

  it('outlives whatever they pipeline', async () => {
    const { port } = await startGateway(
      { http: await startBackend(echo) },
      {
        timeouts: { headersMs: 40, firstBytesMs: 40, keepAliveMs: 1, requestMs: 40, lingerMs: 40 },
      },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 8, arbitrary: request }, noise), {
          minLength: 1,
          maxLength: 4,
        }),
        async (pieces) => {
          const socket = dial(port);
          const closed = drainSocket(socket);
          socket.end(pieces.join(''), 'latin1');
          await closed;
        },
      ),
      { numRuns: 400 },
    );
    await expectServing(port);
  });
});
