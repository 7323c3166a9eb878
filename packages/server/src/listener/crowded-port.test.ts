import { once } from 'node:events';
import type { Socket } from 'node:net';
import { dial, drainSocket } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOnePort } from './one-port.ts';

interface Client {
  readonly socket: Socket;
  readonly closed: Promise<string>;
}

/** Takes two connections; what one says decides whether it rests. */
async function start(): Promise<(first: string) => Promise<Client>> {
  let accepted = (): void => {};
  const port = createOnePort({
    firstBytesMs: 60_000,
    connectionsMax: 2,
    accept(socket) {
      socket.once('data', (bytes: Buffer) => {
        if (String(bytes) === 'REST') socket.setTimeout(60_000);
        accepted();
      });
      socket.resume();
    },
  });
  onTestFinished(() => {
    port.stopListening();
    port.destroyAll();
  });
  const number = await port.listen(0, '127.0.0.1');
  return async (first) => {
    const socket = dial(number);
    const closed = drainSocket(socket);
    const taken = new Promise<void>((resolve) => {
      accepted = resolve;
    });
    const connected = once(socket, 'connect');
    if (first === '') await connected;
    else {
      socket.write(first);
      await Promise.race([taken, closed]);
    }
    return { socket, closed };
  };
}

describe('a port with more connections than it takes closes', () => {
  it.each([
    ['the oldest that has said nothing, not one at rest', ['REST', '', 'WORK'], 1],
    ['the oldest at rest, not one at work', ['WORK', 'REST', 'WORK'], 1],
    ['the newest when all others are at work', ['WORK', 'WORK', 'WORK'], 2],
  ])('%s', async (_what, says, leaving) => {
    const connect = await start();
    const clients: Client[] = [];
    for (const first of says) clients.push(await connect(first));
    const closed = clients.map((client, n) => client.closed.then(() => n));
    expect(await Promise.race(closed)).toBe(leaving);
    expect(clients.filter(({ socket }) => !socket.destroyed)).toHaveLength(2);
  });
});
