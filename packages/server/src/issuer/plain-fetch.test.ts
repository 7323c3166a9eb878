import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Timers } from '@sallyport/testing/time/timers';
import { startRawServer } from '@sallyport/testing/wire/raw-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPlainFetch } from './plain-fetch.ts';

const DOCUMENT = '{"issuer":"https://idp.example"}';
const TIME_IS_UP = new DOMException('time is up', 'TimeoutError');

function answer(body: string | Buffer, ...headers: readonly string[]): Buffer {
  const lines = ['HTTP/1.1 200 OK', `content-length: ${Buffer.byteLength(body)}`, ...headers];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

async function setup(onData: (socket: Socket, text: string) => void) {
  const requests: string[] = [];
  const server = await startRawServer((socket, text) => {
    requests.push(text);
    onData(socket, text);
  });
  onTestFinished(() => server.close());
  const fetch = createPlainFetch(new Timers().schedule);
  const url = `http://127.0.0.1:${server.port}/jwks`;
  return { fetch, url, requests, sockets: server.sockets, server };
}

describe('requests one after the other', () => {
  it('share a connection', async () => {
    const { fetch, url, sockets } = await setup((socket) => socket.write(answer(DOCUMENT)));
    for (let count = 0; count < 3; count += 1)
      expect(await (await fetch(url)).text()).toBe(DOCUMENT);
    expect(sockets).toHaveLength(1);
  });

  it.each(['connection: close', 'keep-alive: timeout=0'])(
    'have a new one each where the server says `%s`',
    async (header) => {
      const { fetch, url, sockets } = await setup((socket) =>
        socket.write(answer(DOCUMENT, header)),
      );
      for (let count = 0; count < 3; count += 1)
        expect(await (await fetch(url)).text()).toBe(DOCUMENT);
      expect(sockets).toHaveLength(3);
    },
  );

  it('have a new one once the server has closed the one before', async () => {
    const { fetch, url, sockets } = await setup((socket) => socket.write(answer(DOCUMENT)));
    await (await fetch(url)).text();
    const [first] = sockets;
    if (first === undefined) throw new TypeError('there is no connection');
    const closed = new Promise((resolve) => first.once('close', resolve));
    first.end();
    await closed;
    expect(await (await fetch(url)).text()).toBe(DOCUMENT);
    expect(sockets).toHaveLength(2);
  });
});

describe('a request', () => {
  it('names its client, accepts any type and no coding, and has no body that was not given', async () => {
    const { fetch, url, requests } = await setup((socket) => socket.write(answer(DOCUMENT)));
    await (await fetch(url)).text();
    await (await fetch(url, { headers: { accept: 'application/json' } })).text();
    const [plain = '', asking = ''] = requests.map((text) => text.toLowerCase());
    expect(plain).toMatch(/^get \/jwks http\/1\.1\r\n/);
    for (const line of ['accept: */*', 'user-agent: node', 'accept-encoding: identity'])
      expect(plain.split('\r\n')).toContain(line);
    expect(plain).not.toContain('content-length');
    expect(asking.split('\r\n')).toContain('accept: application/json');
    expect(asking).not.toContain('*/*');
  });
});

describe('an answer', () => {
  it.each([
    ['gzip', gzipSync],
    ['X-Gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('that comes packed with %s is unpacked', async (coding, pack) => {
    const packed = answer(pack(DOCUMENT), `content-encoding: ${coding}`);
    const { fetch, url } = await setup((socket) => socket.write(packed));
    expect(await (await fetch(url)).text()).toBe(DOCUMENT);
  });

  it.each(['identity', 'constructor'])('is as it comes where its coding is %s', async (coding) => {
    const { fetch, url } = await setup((socket) =>
      socket.write(answer(DOCUMENT, `content-encoding: ${coding}`)),
    );
    expect(await (await fetch(url)).text()).toBe(DOCUMENT);
  });

  it('that is not packed as it says fails as it is read', async () => {
    const { fetch, url } = await setup((socket) =>
      socket.write(answer(DOCUMENT, 'content-encoding: gzip')),
    );
    const response = await fetch(url);
    await expect(response.text()).rejects.toMatchObject({ code: 'Z_DATA_ERROR' });
  });

  it('is unpacked no further than it is read: what is small and unpacks to much takes no memory', async () => {
    const packed = gzipSync(Buffer.alloc(2 ** 24));
    // Its last byte is kept back, so that the connection is not free for another request.
    const { fetch, url, sockets } = await setup((socket) =>
      socket.write(answer(packed, 'content-encoding: gzip').subarray(0, -1)),
    );
    const reader = (await fetch(url)).body?.getReader();
    const first = (await reader?.read()) as { readonly value: Uint8Array };
    expect(first.value.byteLength).toBeLessThan(2 ** 20);
    const [socket] = sockets;
    const closed = new Promise((resolve) => socket?.once('close', resolve));
    await reader?.cancel();
    await closed;
  });
});

describe('an answer without a body', () => {
  it.each([
    ['204 No Content', ''],
    ['304 Not Modified', 'content-length: 5\r\n'],
    ['205 Reset Content', 'transfer-encoding: chunked\r\n'],
  ])(
    'is taken by its head, and nothing more is read of the connection: %s',
    async (status, header) => {
      const { fetch, url, sockets } = await setup((socket) =>
        socket.write(`HTTP/1.1 ${status}\r\n${header}\r\n`),
      );
      const response = await fetch(url);
      expect([response.status, response.body]).toEqual([Number(status.slice(0, 3)), null]);
      const [socket] = sockets;
      if (socket?.destroyed === false)
        await new Promise((resolve) => socket.once('close', resolve));
    },
  );
});

describe('interim answers', () => {
  const early = 'HTTP/1.1 103 Early Hints\r\n\r\n';

  it('may come before the one that counts', async () => {
    const { fetch, url } = await setup((socket) =>
      socket.write(Buffer.concat([Buffer.from(early.repeat(3)), answer(DOCUMENT)])),
    );
    expect(await (await fetch(url)).text()).toBe(DOCUMENT);
  });

  it('without end are a failure', async () => {
    const { fetch, url } = await setup((socket) => socket.write(early.repeat(100)));
    await expect(fetch(url)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { message: 'too many interim answers' },
    });
  });
});

describe('a request that fails', () => {
  it('does so as with the runtime: where no server listens', async () => {
    const { fetch, url, server } = await setup(() => undefined);
    await server.close();
    const own: unknown = await fetch(url).catch((error: unknown) => error);
    const runtimes: unknown = await globalThis.fetch(url).catch((error: unknown) => error);
    for (const failure of [own, runtimes]) {
      expect(failure).toBeInstanceOf(TypeError);
      expect(failure).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNREFUSED' } });
    }
  });

  it('does so where the connection ends without an answer', async () => {
    const { fetch, url } = await setup((socket) => socket.end());
    await expect(fetch(url)).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { message: 'socket hang up' },
    });
  });

  it('does so with the reason where the wait is called off, before and after a connection stands', async () => {
    const { promise: received, resolve } = Promise.withResolvers<void>();
    const { fetch, url } = await setup(() => resolve());
    await expect(fetch(url, { signal: AbortSignal.abort(TIME_IS_UP) })).rejects.toBe(TIME_IS_UP);

    const early = new AbortController();
    const connecting = expect(fetch(url, { signal: early.signal })).rejects.toBe(TIME_IS_UP);
    early.abort(TIME_IS_UP);
    await connecting;

    const late = new AbortController();
    const waiting = expect(fetch(url, { signal: late.signal })).rejects.toBe(TIME_IS_UP);
    await received;
    late.abort(TIME_IS_UP);
    await waiting;
  });

  it('does so with the reason where the wait is called off while its body is read', async () => {
    const { fetch, url, sockets } = await setup(() => undefined);
    const calledOff = new AbortController();
    const form = { method: 'POST', body: new URLSearchParams({ code: 'c' }) };
    const refused = expect(fetch(url, { ...form, signal: calledOff.signal })).rejects.toBe(
      TIME_IS_UP,
    );
    calledOff.abort(TIME_IS_UP);
    await refused;
    expect(sockets).toEqual([]);
  });

  it('that fails of itself is no wait that was called off', async () => {
    const { fetch, url } = await setup((socket) => socket.end());
    const { signal } = new AbortController();
    await expect(fetch(url, { signal })).rejects.toThrow('fetch failed');
  });
});
