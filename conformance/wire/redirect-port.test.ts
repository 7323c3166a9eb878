import { createServer } from 'node:net';
import { listenOn } from '@sallyport/testing/wire/listen';
import { isTaken } from '@sallyport/testing/wire/ports';
import { describe, expect, it } from 'vitest';
import { holdRedirectPort, REDIRECT_PORT } from './redirect-port.ts';

describe('The redirect port', () => {
  it('can be listened on by who holds it, again and again', async () => {
    const giveBack = await holdRedirectPort();
    for (let count = 0; count < 3; count += 1) {
      const server = createServer();
      await listenOn(server, REDIRECT_PORT);
      expect(await isTaken(REDIRECT_PORT)).toBe(true);
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    }
    await giveBack();
  });

  it('is held by one at a time', async () => {
    let holders = 0;
    const useOnce = async () => {
      const giveBack = await holdRedirectPort();
      holders += 1;
      const atOnce = holders;
      const server = createServer();
      await listenOn(server, REDIRECT_PORT);
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      holders -= 1;
      await giveBack();
      return atOnce;
    };
    expect(await Promise.all([useOnce(), useOnce(), useOnce()])).toEqual([1, 1, 1]);
  });
});
