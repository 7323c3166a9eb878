import type { AgentOptions } from 'node:http';
import { globalAgent } from 'node:https';
import { Socket } from 'node:net';
import { Timers } from '@sallyport/testing/time/timers';
import { startRawServer } from '@sallyport/testing/wire/raw-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NotSentError } from './http-fetch.ts';
import { createPatientFetch } from './patient-fetch.ts';
import { createPlainFetch } from './plain-fetch.ts';

const TOKEN = 'https://idp.example/token';
const FORM = { method: 'POST', body: new URLSearchParams({ refresh_token: 'r' }) };
const TIME_IS_UP = new DOMException('time is up', 'TimeoutError');
const TUNNEL_STANDS = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** What the proxy does with each piece, numbered from 1. */
type Proxy = (socket: Socket, piece: number) => void;

const STALLED: readonly (readonly [what: string, pieces: number, proxy: Proxy])[] = [
  ['says nothing', 1, () => undefined],
  ['sends half a status line', 1, (socket) => void socket.write('HTTP/1.1 2')],
  [
    'says nothing once the tunnel stands',
    2,
    (socket, piece) => void (piece === 1 && socket.write(TUNNEL_STANDS)),
  ],
];
const FETCHES = [
  ['a refresh', createPatientFetch],
  ['another request', createPlainFetch],
] as const;
const EVERY_STALL = FETCHES.flatMap(([request, create]) =>
  STALLED.map(([what, pieces, proxy]) => [request, what, { create, pieces, proxy }] as const),
);

/** `stalled` ends when the proxy got so many pieces. */
async function setup(
  create: typeof createPlainFetch,
  { pieces, proxy }: { readonly pieces: number; readonly proxy: Proxy },
) {
  const { promise: stalled, resolve } = Promise.withResolvers<Socket>();
  const texts: string[] = [];
  const server = await startRawServer((socket, text) => {
    texts.push(text);
    proxy(socket, texts.length);
    if (texts.length === pieces) resolve(socket);
  });
  onTestFinished(() => server.close());
  const options = (globalAgent as { readonly options: AgentOptions }).options;
  const { proxyEnv } = options;
  onTestFinished(() => void Object.assign(options, { proxyEnv }));
  options.proxyEnv = { https_proxy: `http://user:secret@127.0.0.1:${server.port}` };
  const timers = new Timers();
  return { timers, stalled, texts, fetch: create(timers.schedule) };
}

const closeOf = (socket: Socket) =>
  new Promise<void>((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });

describe('a request through a proxy', () => {
  it('asks for a tunnel, and sends nothing of itself before that stands', async () => {
    const { fetch, texts } = await setup(createPatientFetch, {
      pieces: 1,
      proxy: (socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'),
    });
    const failure: unknown = await fetch(TOKEN, FORM).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotSentError);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/^CONNECT idp\.example:443 HTTP\/1\.1\r\n/);
    expect(texts[0]).not.toContain('refresh_token');
    expect(String((failure as Error).cause)).not.toContain('secret');
  });

  it('goes through one that was set while the process ran, as http.setGlobalProxyFromEnv does: by another agent', async () => {
    const texts: string[] = [];
    const server = await startRawServer((socket, text) => {
      texts.push(text);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    onTestFinished(() => server.close());
    const runtime = process.getBuiltinModule('node:https');
    const before = runtime.globalAgent;
    onTestFinished(() => {
      runtime.globalAgent = before;
    });
    const proxyEnv = { https_proxy: `http://127.0.0.1:${server.port}` };
    runtime.globalAgent = new runtime.Agent({ proxyEnv });
    const fetch = createPatientFetch(new Timers().schedule);
    await expect(fetch(TOKEN, FORM)).rejects.toThrow(NotSentError);
    expect(texts).toEqual([expect.stringMatching(/^CONNECT idp\.example:443 /)]);
  });

  it.each(FETCHES)(
    '%s: a tunnel is not limited by what an idle connection has',
    async (_, create) => {
      const limits = vi.spyOn(Socket.prototype, 'setTimeout');
      onTestFinished(() => limits.mockRestore());
      const { fetch, stalled } = await setup(create, { pieces: 1, proxy: () => undefined });
      const calledOff = new AbortController();
      const failed = fetch(TOKEN, { ...FORM, signal: calledOff.signal }).catch(() => undefined);
      const socket = await stalled;
      expect(limits.mock.calls.filter(([ms]) => ms > 0)).toEqual([]);
      calledOff.abort(TIME_IS_UP);
      await failed;
      await closeOf(socket);
    },
  );

  it.each(EVERY_STALL)(
    '%s through one that %s ends where the wait is called off, and the connection with it',
    async (_request, _what, { create, ...proxy }) => {
      const { fetch, stalled, timers } = await setup(create, proxy);
      const calledOff = new AbortController();
      const failed = fetch(TOKEN, { ...FORM, signal: calledOff.signal }).catch(
        (error: unknown) => error,
      );
      const socket = await stalled;
      calledOff.abort(TIME_IS_UP);
      const failure = await failed;
      if (create === createPlainFetch) expect(failure).toBe(TIME_IS_UP);
      else expect(failure).toMatchObject({ name: 'NotSentError', cause: TIME_IS_UP });
      await closeOf(socket);
      expect(timers.waiting).toEqual([]);
    },
  );

  it.each(EVERY_STALL)(
    '%s through one that %s ends after ten seconds, also without a signal',
    async (_request, _what, { create, ...proxy }) => {
      const { fetch, stalled, timers } = await setup(create, proxy);
      const tooLate = { code: 'ETIMEDOUT', message: 'no connection within 10 s' };
      const failed = expect(fetch(TOKEN, FORM)).rejects.toMatchObject(
        create === createPlainFetch
          ? { name: 'TypeError', cause: tooLate }
          : { name: 'NotSentError', cause: tooLate },
      );
      const socket = await stalled;
      timers.fire(10_000);
      await failed;
      await closeOf(socket);
    },
  );

  it('leaves no connection behind where the proxy refuses and keeps it open', async () => {
    const { fetch, stalled } = await setup(createPatientFetch, {
      pieces: 1,
      proxy: (socket) => void socket.write('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    });
    await expect(fetch(TOKEN, FORM)).rejects.toBeInstanceOf(NotSentError);
    await closeOf(await stalled);
  });
});
