import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import type { HttpHandler } from '@sallyport/server/listener';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthority, createServerCertificate } from '../up/certificate.ts';
import { listenForReviews } from './webhook-listener.ts';

const AUTHORITY = createAuthority(Date.now());
const ISSUED = createServerCertificate(AUTHORITY, Date.now());
const CERTIFICATE = {
  cert: ISSUED.certificate.toString(),
  key: ISSUED.key.export({ type: 'pkcs8', format: 'pem' }),
};
const MAX = 3;

/** A listener for three connections. A request for `/slow` is answered when the test is over. */
async function start() {
  const slow = Promise.withResolvers<void>();
  const closed: string[] = [];
  const arrived: (() => void)[] = [];
  const handler: HttpHandler = (req, res) => {
    arrived.shift()?.();
    if (req.url === '/slow') void slow.promise.then(() => res.end('late'));
    else res.end('ok');
  };
  const listener = await listenForReviews({
    host: '127.0.0.1',
    port: 0,
    certificate: CERTIFICATE,
    connectionsMax: MAX,
    onCrowded: (state) => closed.push(state),
    handler,
  });
  onTestFinished(async () => {
    slow.resolve();
    await listener.close();
  });
  return { port: listener.port, closed, connect: () => connect(listener.port), hold };

  /** Sends a request that stays unanswered, and waits until the listener has it. */
  async function hold(client: ReturnType<typeof connect>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrived.push(resolve);
    client.ask('/slow').catch(() => {});
    await promise;
  }
}

/** A client with one connection of its own, which it keeps. */
function connect(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const sockets = new Set<unknown>();
  return {
    /** How many connections it has needed. */
    connections: () => sockets.size,
    async ask(path: string): Promise<string> {
      const ca = AUTHORITY.certificate.toString();
      const sent = request({ host: 'localhost', port, path, family: 4, ca, agent });
      sent.on('socket', (socket) => sockets.add(socket));
      const answered = once(sent, 'response');
      sent.end();
      const [answer] = (await answered) as [AsyncIterable<Buffer>];
      let text = '';
      for await (const piece of answer) text += String(piece);
      return text;
    },
  };
}

describe('A webhook with as many connections as it keeps', () => {
  it('closes the one that has been idle longest for a new one', async () => {
    const { closed, connect } = await start();
    const [first, second, third, fourth] = [connect(), connect(), connect(), connect()];
    for (const client of [first, second, third, first]) await client.ask('/');
    expect(await fourth.ask('/')).toBe('ok');
    expect(closed).toEqual(['idle']);
    expect(await first.ask('/')).toBe('ok');
    expect(await third.ask('/')).toBe('ok');
    expect([first.connections(), third.connections()]).toEqual([1, 1]);
    expect(await second.ask('/')).toBe('ok');
    expect(second.connections()).toBe(2);
  });

  it('closes none that has a request under way: the new one is refused', async () => {
    const { closed, connect, hold } = await start();
    for (let count = 0; count < MAX; count += 1) await hold(connect());
    await expect(connect().ask('/')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(closed).toEqual(['newest']);
  });

  it('keeps no new one out for handshakes that go no further', async () => {
    const { port, closed, connect } = await start();
    for (let count = 0; count < MAX; count += 1) {
      const socket = connectPlain(port, '127.0.0.1').on('error', () => {});
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      // The head of a record that never comes.
      socket.resume().write(Buffer.from([0x16, 0x03, 0x01]));
    }
    expect(await connect().ask('/')).toBe('ok');
    expect(closed).toEqual(['idle']);
  });
});
