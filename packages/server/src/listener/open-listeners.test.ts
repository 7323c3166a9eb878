import { freePort } from '@sallyport/testing/wire/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpHandler } from './http-service.ts';
import { openListeners } from './open-listeners.ts';

const HOST = '127.0.0.1';
const AT = { host: HOST, timeouts: { drainMs: 100, drainRestMs: 50 } };
const say =
  (text: string): HttpHandler =>
  (_, res) => {
    res.statusCode = 200;
    res.end(text);
  };
const read = async (port: number) => (await fetch(`http://${HOST}:${port}/`)).text();

describe('openListeners', () => {
  it('serves each handler on a port of its own, and closes all', async () => {
    const { ports, close } = await openListeners({
      http: { handler: say('http'), port: await freePort(), ...AT },
      check: { handler: say('check'), port: await freePort(), ...AT },
    });
    onTestFinished(close);
    expect([await read(ports.http), await read(ports.check)]).toEqual(['http', 'check']);
    await close();
    await expect(read(ports.http)).rejects.toThrow();
    await expect(read(ports.check)).rejects.toThrow();
  });

  it('keeps none open when one cannot be had', async () => {
    const taken = await openListeners({ http: { handler: say('taken'), port: 0, ...AT } });
    onTestFinished(taken.close);
    const port = await freePort();
    await expect(
      openListeners({
        http: { handler: say('http'), port, ...AT },
        check: { handler: say('check'), port: taken.ports.http, ...AT },
      }),
    ).rejects.toMatchObject({ code: 'SP_PORT_IN_USE' });
    await expect(read(port)).rejects.toThrow();
    expect(await read(taken.ports.http)).toBe('taken');
  });
});
