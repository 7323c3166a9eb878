import { once } from 'node:events';
import { freePort } from '@sallyport/testing/wire/ports';
import { dial, drainSocket } from '@sallyport/testing/wire/wire-client';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOnePort, detectProtocol, type WireProtocol } from './one-port.ts';

describe('detectProtocol', () => {
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
    expect(detectProtocol(Buffer.from(bytes, 'latin1'))).toBe(protocol);
  });

  it('decides at the latest with the third byte, and never otherwise with more', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 3, maxLength: 8 }), (bytes) => {
        const whole = detectProtocol(Buffer.from(bytes));
        expect(whole).toBeDefined();
        for (let length = 1; length < bytes.length; length += 1)
          expect([undefined, whole]).toContain(
            detectProtocol(Buffer.from(bytes.subarray(0, length))),
          );
      }),
    );
  });
});

describe('createOnePort', () => {
  async function start(firstBytesMs = 5_000) {
    const accepted = Promise.withResolvers<readonly [WireProtocol, string]>();
    const port = createOnePort({
      firstBytesMs,
      accept(socket, protocol) {
        socket.once('data', (bytes: Buffer) => accepted.resolve([protocol, String(bytes)]));
        socket.resume();
      },
    });
    onTestFinished(() => {
      port.stopListening();
      port.destroyAll();
    });
    return {
      port,
      number: await port.listen(await freePort(), '127.0.0.1'),
      accepted: accepted.promise,
    };
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
    const refused = Promise.withResolvers<string>();
    socket.write('P', () => {
      port.stopListening();
      const late = dial(number);
      late.once('connect', () => refused.resolve('connected'));
      late.once('error', (error: NodeJS.ErrnoException) => refused.resolve(error.code ?? ''));
    });
    await closed;
    expect(await refused.promise).toBe('ECONNREFUSED');
  });

  it('says which port is taken', async () => {
    const { number, port } = await start();
    const other = createOnePort({ firstBytesMs: 1, accept: () => {} });
    await expect(other.listen(number, '127.0.0.1')).rejects.toMatchObject({
      code: 'SP_PORT_IN_USE',
      message: `SP_PORT_IN_USE (127.0.0.1:${number}): port ${number} is taken by another program; stop it, or choose another one`,
    });
    await expect(other.listen(number, '127.0.0.1', { port: 'listen.port' })).rejects.toThrow(
      `(127.0.0.1:${number}): listen.port: port ${number} is taken`,
    );
    port.stopListening();
  });

  it('says which address the machine does not have, and what to do', async () => {
    const port = createOnePort({ firstBytesMs: 1, accept: () => {} });
    await expect(port.listen(0, '203.0.113.7', { host: 'listen.host' })).rejects.toMatchObject({
      code: 'SP_LISTEN_FAILED',
      message:
        'SP_LISTEN_FAILED (203.0.113.7:0): listen.host: this machine has no address 203.0.113.7; use 127.0.0.1, or 0.0.0.0 for every address',
    });
  });
});
