/**
 * Clients that all come at once, as they do when another replica has ended.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startService } from '../wire/platform.ts';
import { PATIENCE } from '../wire/workers.ts';

/** The kernel lets no more wait for any program than it is set to. */
const ALLOWED = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
const AT_ONCE = Math.min(1_000, ALLOWED);

describe('A thousand connections at once', () => {
  it('are all taken while the service is busy, and each is answered', async () => {
    const service = await startService();
    onTestFinished(() => service.stop());
    const { port } = new URL(service.url);
    // Takes none of them: who finds no room asks the kernel again only a second later, then three.
    process.kill(service.running.pid, 'SIGSTOP');
    const sockets: Socket[] = [];
    onTestFinished(() => {
      process.kill(service.running.pid, 'SIGCONT');
      for (const socket of sockets) socket.destroy();
    });
    let connected = 0;
    let answered = 0;
    for (let number = 0; number < AT_ONCE; number += 1) {
      const socket = connect(Number(port), '127.0.0.1', () => {
        connected += 1;
        socket.write('GET /me HTTP/1.1\r\nhost: localhost\r\n\r\n');
      });
      socket.once('data', (bytes: Buffer) => {
        if (bytes.toString('latin1').startsWith('HTTP/1.1 401 ')) answered += 1;
      });
      sockets.push(socket);
    }
    await expect.poll(() => connected, PATIENCE).toBe(AT_ONCE);
    expect(answered).toBe(0);
    process.kill(service.running.pid, 'SIGCONT');
    await expect.poll(() => answered, PATIENCE).toBe(AT_ONCE);
  });
});
