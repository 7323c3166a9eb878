import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenOn, listenOnFreePort } from './listen.ts';
import { isChosen, isTaken } from './ports.ts';

const close = (server: ReturnType<typeof createServer>): Promise<void> =>
  new Promise((resolve) => void server.close(() => resolve()));

describe('a server of a test', () => {
  it('listens on a port that stays the process’s own, and again after it was closed', async () => {
    const server = createServer();
    const port = await listenOnFreePort(server);
    expect([isChosen(port), await isTaken(port)]).toEqual([true, true]);
    await close(server);
    expect(await isTaken(port)).toBe(false);
    await listenOn(server, port);
    expect(await isTaken(port)).toBe(true);
    await close(server);
  });

  it('fails where another one listens', async () => {
    const [one, other] = [createServer(), createServer()];
    const port = await listenOnFreePort(one);
    onTestFinished(() => close(one));
    await expect(listenOn(other, port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
