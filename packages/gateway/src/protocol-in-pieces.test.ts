import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Duplex } from 'node:stream';
import { echo, startBackend, startGrpcBackend } from '@sallyport/testing/gateway/backends';
import { collect, grpcCall } from '@sallyport/testing/gateway/http2-client';
import { startGateway } from '@sallyport/testing/gateway/running-gateway';
import { dial, drainSocket, talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';

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
