import { IDENTITY_HEADERS } from '@sallyport/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpListener, listenHttp } from '../up/http-listener.ts';
import { addConsoleKey, createConsoleKey } from './console-key.ts';
import { createConsole } from './console-server.ts';

const KEY = createConsoleKey();

/** The identity headers that the gateway sends for an admitted request. */
async function headersOfGateway(key: string): Promise<Record<string, string>> {
  const ask = addConsoleKey(
    () => ({
      outcome: 'admitted',
      identityHeaders: [[IDENTITY_HEADERS.subject, 'ada']],
      setCookie: undefined,
      body: '',
    }),
    key,
  );
  const request = { method: 'GET', headers: {}, rawHeaders: [], transport: 'http' } as const;
  const answer = await ask({ ...request, target: '/', requestId: '1' });
  if (answer.outcome !== 'admitted') throw new Error('not admitted');
  return Object.fromEntries(answer.identityHeaders);
}

describe('The console of the plane', () => {
  let listener: HttpListener;
  beforeAll(async () => {
    const listen = createConsole({
      idpOrigin: 'http://idp.test',
      key: KEY,
      viewPlatform: () => [],
    });
    listener = await listenHttp(listen, 0, '127.0.0.1');
  });
  afterAll(() => listener.close());

  const ask = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`, { headers });
    return { status: response.status, body: await response.text() };
  };

  it.each(['/', '/platform', '/platform.json'])(
    'shows %s to a request that the gateway has admitted',
    async (path) => {
      expect((await ask(path, await headersOfGateway(KEY))).status).toBe(200);
    },
  );

  it.each(['/', '/platform', '/platform.json'])(
    'shows nothing of %s to a program that sends identity headers of its own',
    async (path) => {
      const refused = { status: 404, body: '{"status":"not served here"}' };
      expect(await ask(path, { [IDENTITY_HEADERS.subject]: 'ada' })).toEqual(refused);
      expect(await ask(path, await headersOfGateway(createConsoleKey()))).toEqual(refused);
      const twice = { ...(await headersOfGateway(KEY)), 'X-Console-Key': 'another' };
      expect(await ask(path, { ...twice, 'x-console-key': `${KEY}, another` })).toEqual(refused);
    },
  );

  it('adds no key to a refusal', async () => {
    const denial = { outcome: 'denied', status: 401, headers: [], body: '' } as const;
    const request = { method: 'GET', headers: {}, rawHeaders: [], transport: 'http' } as const;
    const asked = addConsoleKey(() => denial, KEY)({ ...request, target: '/', requestId: '1' });
    expect(await asked).toEqual(denial);
  });
});
