import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOnePort, tellProtocol, type WireProtocol } from './one-port.ts';
import { echo, startBackend, startGrpcBackend } from './testing/backends.ts';
import { collect, grpcCall } from './testing/http2-client.ts';
import { startGateway } from './testing/running-gateway.ts';
import { signal } from './testing/signal.ts';
import { dial, drainSocket, talk } from './testing/wire-client.ts';

describe('tellProtocol', () => {
  it.each([
    ['P', undefined],
    ['PR', undefined],
    ['PRI', 'h2c'],
    ['PRI * HTTP/2.0', 'h2c'],
    ['PUT', 'http1'],
    ['PO', 'http1'],
    ['PROPFIND /', 'http1'],
    ['G', 'http1'],
    ['GET / HTTP/1.1', 'http1'],
    ['pri', 'http1'],
    ['\u0016', 'tls'],
    ['\u0016\u0003\u0001', 'tls'],
    ['\u0015', 'http1'],
  ])('%j -> %s', (bytes, protocol) => {
    expect(tellProtocol(Buffer.from(bytes, 'latin1'))).toBe(protocol);
  });

  it('decides at the latest with the third byte, and never otherwise with more', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 3, maxLength: 8 }), (bytes) => {
        const whole = tellProtocol(Buffer.from(bytes));
        expect(whole).toBeDefined();
        for (let length = 1; length < bytes.length; length += 1)
          expect([undefined, whole]).toContain(
            tellProtocol(Buffer.from(bytes.subarray(0, length))),
          );
      }),
    );
  });
});

describe('createOnePort', () => {
  async function start(firstBytesMs = 5_000) {
    const accepted = signal<readonly [WireProtocol, string]>();
    const port = createOnePort({
      firstBytesMs,
      accept(socket, protocol) {
        socket.once('data', (bytes: Buffer) => accepted.set([protocol, String(bytes)]));
        socket.resume();
      },
    });
    onTestFinished(() => {
      port.stopListening();
      port.destroyAll();
    });
    return { port, number: await port.listen(0, '127.0.0.1'), accepted: accepted.seen };
  }

  it.each([
    ['P', 'OST / HTTP/1.1', 'http1'],
    ['PR', 'I * HTTP/2.0', 'h2c'],
    ['P', 'RI * HTTP/2.0', 'h2c'],
    ['PR', 'OPFIND / HTTP/1.1', 'http1'],
  ])('waits for the rest of %j + %j', async (first, second, protocol) => {
    const { number, accepted } = await start();
    const socket = dial(number);
    socket.setNoDelay(true);
    await once(socket, 'connect');
    await new Promise<void>((resolve) => {
      socket.write(first, () => resolve());
    });
    socket.write(second);
    expect(await accepted).toEqual([protocol, first + second]);
  });

  it.each(['', 'P', 'PR'])('closes a connection that stays at %j', async (sent) => {
    const { number } = await start(100);
    const socket = dial(number);
    if (sent !== '') socket.write(sent);
    expect(await drainSocket(socket)).toBe('');
  });

  it('closes a connection that ends before it has said anything', async () => {
    const { number, port } = await start();
    const socket = dial(number);
    socket.end();
    await drainSocket(socket);
    await port.allClosed();
  });

  it('closes undecided connections when it stops listening', async () => {
    const { number, port } = await start();
    const socket = dial(number);
    await once(socket, 'connect');
    const closed = drainSocket(socket);
    const refused = signal<string>();
    socket.write('P', () => {
      port.stopListening();
      const late = dial(number);
      late.once('connect', () => refused.set('connected'));
      late.once('error', (error: NodeJS.ErrnoException) => refused.set(error.code ?? ''));
    });
    await closed;
    expect(await refused.seen).toBe('ECONNREFUSED');
  });

  it('says which port is taken', async () => {
    const { number, port } = await start();
    const other = createOnePort({ firstBytesMs: 1, accept: () => {} });
    await expect(other.listen(number, '127.0.0.1')).rejects.toMatchObject({
      code: 'SP_PORT_IN_USE',
      message: `SP_PORT_IN_USE (gateway): another program listens on 127.0.0.1:${number}`,
    });
    port.stopListening();
  });
});

describe('a connection that shows its protocol in pieces is served', () => {
  /** Writes a piece and resolves once it has left. */
  function write(socket: Duplex, piece: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      socket.write(piece, () => setImmediate(resolve));
    });
  }

  const REST = ' /open HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi';

  it.each([
    ['P', 'OST'],
    ['PU', 'T'],
    ['PR', 'OPFIND'],
  ])('HTTP/1.1 as %j + %j', async (first, second) => {
    const { port } = await startGateway({ http: await startBackend(echo) });
    const socket = dial(port);
    socket.setNoDelay(true);
    const answer = drainSocket(socket);
    await write(socket, first);
    await write(socket, second + REST);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*"body":"hi"/s);
  });

  it.each([1, 2, 3, 4, 24])('a gRPC call whose first %i bytes come alone', async (length) => {
    const grpc = await startGrpcBackend((stream) => {
      stream.respond({ 'grpc-status': '0' }, { endStream: true });
    });
    const { origin, port } = await startGateway({ grpc });
    const socket = dial(port);
    socket.setNoDelay(true);
    let isFirst = true;
    const splitting = new Duplex({
      read() {
        socket.resume();
      },
      write(chunk: Buffer, _encoding, callback) {
        void (async () => {
          if (isFirst) await write(socket, chunk.subarray(0, length));
          await write(socket, isFirst ? chunk.subarray(length) : chunk);
          isFirst = false;
          callback();
        })();
      },
    });
    socket.on('data', (chunk: Buffer) => splitting.push(chunk));
    socket.once('end', () => splitting.push(null));
    const session = connectHttp2(origin, { createConnection: () => splitting });
    session.on('error', () => {});
    onTestFinished(() => session.destroy());
    const stream = session.request(grpcCall('/pkg.Unary/Call'));
    stream.end();
    expect(await collect(stream)).toMatchObject({ headers: { 'grpc-status': '0' } });
  });

  it.each(['', 'P', 'PR'])(
    'while another connection stays at %j, and that one afterwards',
    async (first) => {
      const { port } = await startGateway({ http: await startBackend(echo) });
      const waiting = dial(port);
      waiting.setNoDelay(true);
      const late = drainSocket(waiting);
      await once(waiting, 'connect');
      if (first !== '') await write(waiting, first);
      for (let round = 0; round < 3; round += 1)
        expect(await talk(port, `PUT${REST}`)).toMatch(/^HTTP\/1\.1 200 /);
      waiting.write(`PROPFIND${REST}`.slice(first.length));
      expect(await late).toMatch(/^HTTP\/1\.1 200 .*"method":"PROPFIND"/s);
    },
  );
});
