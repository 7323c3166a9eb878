import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, type Server, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Timers } from '@sallyport/testing/time/timers';
import { freePort } from '@sallyport/testing/wire/ports';
import { startRawServer } from '@sallyport/testing/wire/raw-server';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { NotSentError } from './http-fetch.ts';
import { createPatientFetch } from './patient-fetch.ts';

const FORM = { method: 'POST', body: new URLSearchParams({ refresh_token: 'r' }) };
const NOTHING_SENT: unknown = expect.any(NotSentError);

afterEach(() => void vi.restoreAllMocks());

function setup() {
  const timers = new Timers();
  const schedule = vi.fn(timers.schedule);
  return { timers, schedule, fetch: createPatientFetch(schedule) };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve(undefined))));
  return (server.address() as AddressInfo).port;
}

async function startRaw(onData: (socket: Socket, text: string) => void) {
  const server = await startRawServer(onData);
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}/token`, sockets: server.sockets };
}

const answer = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`;

describe('an exchange', () => {
  it('passes on method, headers and body, and gives back status, every header and the body', async () => {
    const seen: unknown[] = [];
    const server = createHttpServer((req, res) => {
      void (async () => {
        let body = '';
        for await (const chunk of req) body += String(chunk);
        seen.push([req.method, req.url, req.headers, body]);
        res.writeHead(
          400,
          [
            ['content-type', 'application/json'],
            ['x-a', '1'],
            ['x-a', '2'],
          ].flat(),
        );
        res.end('{"error":"invalid_grant"}');
      })();
    });
    const port = await listen(server);
    const { fetch } = setup();
    const response = await fetch(`http://127.0.0.1:${port}/token?a=b`, {
      ...FORM,
      headers: { authorization: 'Basic z' },
    });
    expect([response.status, response.headers.get('x-a'), await response.json()]).toEqual([
      400,
      '1, 2',
      { error: 'invalid_grant' },
    ]);
    expect(seen).toMatchObject([
      [
        'POST',
        '/token?a=b',
        {
          authorization: 'Basic z',
          'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
          'content-length': '15',
          'accept-encoding': 'identity',
          connection: 'close',
        },
        'refresh_token=r',
      ],
    ]);
  });

  it.each([204, 304])('takes an answer of status %i, which has no body', async (status) => {
    const { url } = await startRaw((socket) => socket.end(`HTTP/1.1 ${status} X\r\n\r\n`));
    const response = await setup().fetch(url, FORM);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it('follows no redirect: a secret must not travel on', async () => {
    const { url } = await startRaw((socket) =>
      socket.end('HTTP/1.1 302 X\r\nlocation: https://evil.example/\r\ncontent-length: 0\r\n\r\n'),
    );
    expect((await setup().fetch(url, { ...FORM, redirect: 'follow' })).status).toBe(302);
  });

  it('has a connection of its own each time', async () => {
    const { url, sockets } = await startRaw((socket) => socket.end(answer('{}')));
    const { fetch } = setup();
    for (let count = 0; count < 3; count += 1) await (await fetch(url, FORM)).text();
    expect(sockets).toHaveLength(3);
  });

  it('sets no limit once the connection stands, and keeps that alive for longer than it is listened to', async () => {
    const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
    // As in the runtime: a spy takes no named parameters, and their number says what it can.
    Object.defineProperty(keepAlive, 'length', { value: 4 });
    const { promise: received, resolve } = Promise.withResolvers<void>();
    const { url } = await startRaw(() => resolve());
    const idleLimit = vi.spyOn(Socket.prototype, 'setTimeout');
    const { fetch, timers, schedule } = setup();
    void fetch(url, FORM).catch(() => undefined);
    await received;
    expect(schedule.mock.calls.map(([afterMs]) => afterMs)).toEqual([10_000]);
    expect(timers.waiting).toEqual([]);
    expect(keepAlive.mock.calls.filter(([isOn]) => isOn === true)).toEqual([
      [true, 60_000, 60_000, 10],
    ]);
    expect(idleLimit.mock.calls.filter(([ms]) => ms !== 0)).toEqual([]);
  });

  it('leaves keep-alive alone where the runtime would give a frozen machine up after ten seconds', async () => {
    const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
    Object.defineProperty(keepAlive, 'length', { value: 2 });
    const { url } = await startRaw((socket) => socket.end(answer('{}')));
    await (await setup().fetch(url, FORM)).text();
    expect(keepAlive.mock.calls.filter(([isOn]) => isOn === true)).toEqual([]);
  });

  it('takes the first of two answers, and the rest for nothing', async () => {
    const { url } = await startRaw((socket) => socket.end(answer('{"a":1}') + answer('{"a":2}')));
    expect(await (await setup().fetch(url, FORM)).json()).toEqual({ a: 1 });
  });

  it('takes what comes before the answer for none', async () => {
    const { url } = await startRaw((socket) =>
      socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${answer('{"a":1}')}`),
    );
    expect(await (await setup().fetch(url, FORM)).json()).toEqual({ a: 1 });
  });
});

describe('nothing has been sent', () => {
  it('where no server listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}/token`;
    await expect(setup().fetch(url, FORM)).rejects.toEqual(NOTHING_SENT);
  });

  it('where the name is unknown', async () => {
    await expect(setup().fetch('http://nowhere.invalid/token', FORM)).rejects.toEqual(NOTHING_SENT);
  });

  it.each([
    ['answers no TLS', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['ends the connection in the handshake', (socket: Socket) => socket.resetAndDestroy()],
  ])('where the server %s', async (_, onData) => {
    const { url } = await startRaw(onData);
    const secure = url.replace('http:', 'https:');
    await expect(setup().fetch(secure, FORM)).rejects.toEqual(NOTHING_SENT);
  });

  it('where a server that stands still comes to no end of the handshake within ten seconds', async () => {
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const { url } = await startRaw(() => resolve());
    const { fetch, timers } = setup();
    const refused = expect(fetch(url.replace('http:', 'https:'), FORM)).rejects.toEqual(
      NOTHING_SENT,
    );
    await begun;
    timers.fire(10_000);
    await refused;
  });

  it('where it was called off before', async () => {
    const { url, sockets } = await startRaw(() => undefined);
    const reason = new Error('called off');
    await expect(setup().fetch(url, { ...FORM, signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(sockets).toEqual([]);
  });
});

describe('something may have arrived', () => {
  it.each([
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy()],
    ['ends it without an answer', (socket: Socket) => socket.end()],
    ['answers what is no HTTP', (socket: Socket) => socket.end('nonsense\r\n\r\n')],
    [
      'answers with a status that is none',
      (socket: Socket) => socket.end('HTTP/1.1 999 X\r\n\r\n'),
    ],
    [
      'takes another protocol',
      (socket: Socket) => socket.end('HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ])('where the server %s', async (_, onData) => {
    const { url } = await startRaw(onData);
    const failure: unknown = await setup()
      .fetch(url, FORM)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(NotSentError);
  });

  it('where the answer breaks off: its body fails', async () => {
    const { url } = await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":');
      setImmediate(() => socket.resetAndDestroy());
    });
    const broken = (async () => (await setup().fetch(url, FORM)).text())();
    await expect(broken).rejects.not.toBeInstanceOf(NotSentError);
  });

  it('where the wait is called off: with the reason, and the connection is closed', async () => {
    const { promise: received, resolve } = Promise.withResolvers<Socket>();
    const { url } = await startRaw((socket) => resolve(socket));
    const calledOff = new AbortController();
    const reason = new DOMException('time is up', 'TimeoutError');
    const refused = expect(setup().fetch(url, { ...FORM, signal: calledOff.signal })).rejects.toBe(
      reason,
    );
    const socket = await received;
    const closed = new Promise((done) => socket.once('close', done));
    calledOff.abort(reason);
    await refused;
    await closed;
  });

  it('where the wait is called off after a collection of garbage', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { promise: received, resolve } = Promise.withResolvers<void>();
    const { url } = await startRaw(() => resolve());
    const calledOff = new AbortController();
    const reason = new DOMException('time is up', 'TimeoutError');
    const refused = expect(setup().fetch(url, { ...FORM, signal: calledOff.signal })).rejects.toBe(
      reason,
    );
    await received;
    collect();
    calledOff.abort(reason);
    await refused;
  });

  it('where the wait for the rest of a body is called off: the body fails with the reason', async () => {
    const { url } = await startRaw((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":'),
    );
    const calledOff = new AbortController();
    const reason = new DOMException('time is up', 'TimeoutError');
    const response = await setup().fetch(url, { ...FORM, signal: calledOff.signal });
    const refused = expect(response.text()).rejects.toBe(reason);
    calledOff.abort(reason);
    await refused;
  });
});
