import type { ServerResponse } from 'node:http';
import { dial, drainSocket, talk } from '@sallyport/testing/wire/wire-client';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpHandler } from './connections.ts';
import { listenOnOnePort } from './http-service.ts';
import { HOLDING_MAX, PIPELINED_MAX } from './http1-server.ts';
import type { ServiceTimeouts } from './timeouts.ts';

const HOST = 'host: a\r\n\r\n';
/** One more than the limit can be parsed before the connection rests. */
const UNDER_WAY_MAX = PIPELINED_MAX + 1;

async function start(
  handler: HttpHandler,
  timeouts: Partial<ServiceTimeouts> = {},
): Promise<number> {
  const listener = await listenOnOnePort(handler, {
    port: 0,
    host: '127.0.0.1',
    timeouts: { drainMs: 100, ...timeouts },
  });
  onTestFinished(() => listener.close());
  return listener.port;
}

/** A handler whose answers are given by hand, those for `/other` at once. */
function holdAnswers() {
  const held: ServerResponse[] = [];
  const seen = { now: 0, most: 0, all: 0 };
  let changed = (): void => {};
  const handler: HttpHandler = (req, res) => {
    if (req.url === '/other') return void res.end('other');
    seen.all += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    res.once('close', () => {
      seen.now -= 1;
    });
    held.push(res as ServerResponse);
    changed();
    return undefined;
  };
  return {
    handler,
    held,
    seen,
    async until(count: number): Promise<void> {
      while (held.length < count)
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
    },
  };
}

describe('a connection that pipelines', () => {
  it('has a handful of requests under way, and others are served meanwhile', async () => {
    const { handler, seen, until } = holdAnswers();
    const port = await start(handler);
    const socket = dial(port);
    socket.write(`GET / HTTP/1.1\r\n${HOST}`.repeat(200_000));
    await until(PIPELINED_MAX);
    for (let n = 0; n < 20; n += 1)
      expect(await talk(port, `GET /other HTTP/1.1\r\nconnection: close\r\n${HOST}`)).toMatch(
        /other$/,
      );
    expect(seen.all).toBeLessThanOrEqual(UNDER_WAY_MAX);
  });

  it('has all of them answered, in order, as the answers come', async () => {
    const { handler, held, seen, until } = holdAnswers();
    const port = await start(handler);
    const count = 500;
    const socket = dial(port);
    socket.write(Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\n${HOST}`).join(''));
    const received = drainSocket(socket);
    for (let n = 0; n < count; n += 1) {
      await until(n + 1);
      if (n === count - 1) held[n]?.setHeader('connection', 'close');
      held[n]?.end(`<${held[n]?.req.url}>`);
    }
    const answers = [...(await received).matchAll(/<\/(\d+)>/g)].map(([, n]) => Number(n));
    expect(answers).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(seen.most).toBeLessThanOrEqual(UNDER_WAY_MAX);
  });

  it('has all of them answered although the answers pile up, and it is slow to take them', async () => {
    const count = 400;
    const body = 'x'.repeat(50_000);
    const port = await start((req, res) => res.end(`<${req.url}>${body}`));
    const requests = Array.from({ length: count }, (_, n) => {
      const end = n === count - 1 ? 'connection: close\r\n' : '';
      return `GET /${n} HTTP/1.1\r\n${end}${HOST}`;
    });
    const socket = dial(port);
    socket.write(requests.join(''));
    let text = '';
    let chunks = 0;
    for await (const chunk of socket) {
      text += (chunk as Buffer).toString('latin1');
      chunks += 1;
      // A round trip of another connection now and then.
      if (chunks % 20 === 0) await talk(port, `GET / HTTP/1.1\r\nconnection: close\r\n${HOST}`);
    }
    const answers = [...text.matchAll(/<\/(\d+)>/g)].map(([, n]) => Number(n));
    expect(answers).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(text.length).toBeGreaterThan(count * body.length);
  });

  it('is closed when too many others wait with more already, and only then', async () => {
    const { handler, held } = holdAnswers();
    const port = await start(handler);
    const more = `GET / HTTP/1.1\r\n${HOST}`.repeat(UNDER_WAY_MAX + 1);
    const sockets = Array.from({ length: HOLDING_MAX + 4 }, () => dial(port));
    let closed = 0;
    const fourClosed = new Promise<void>((resolve) => {
      for (const socket of sockets)
        socket.resume().once('close', () => {
          closed += 1;
          if (closed === 4) resolve();
        });
    });
    for (const socket of sockets) socket.write(more);
    await fourClosed;
    for (const response of held) response.end();
    expect(await talk(port, `GET /other HTTP/1.1\r\nconnection: close\r\n${HOST}`)).toMatch(
      /other$/,
    );
    expect(closed).toBe(4);
  });

  it('frees what is under way when it goes', async () => {
    const { handler, held, until } = holdAnswers();
    const port = await start(handler);
    const socket = dial(port);
    socket.write(`GET / HTTP/1.1\r\n${HOST}`.repeat(PIPELINED_MAX));
    await until(PIPELINED_MAX);
    const gone = Promise.all(
      held.map((res) => new Promise<void>((resolve) => res.once('close', resolve))),
    );
    socket.destroy();
    await gone;
  });

  it('reads the same requests out of whatever pieces they come in', async () => {
    // Every third answer fills the buffers.
    const echo: HttpHandler = (req, res) => {
      const fill = 'x'.repeat(Number(req.url?.slice(1)) % 3 === 0 ? 50_000 : 0);
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.once('end', () =>
        res.end(`<${req.url} ${Buffer.concat(chunks).toString('latin1')}>${fill}`),
      );
    };
    const port = await start(echo);
    const body = fc.string({ unit: fc.constantFrom('\r', '\n', '0', 'G', ' '), maxLength: 40 });
    const request = fc.oneof(
      fc.constant({ body: '', framing: 'none' as const }),
      fc.record({ body, framing: fc.constant('length' as const) }),
      fc.record({ body, framing: fc.constant('chunked' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 60 }),
        fc.array(fc.nat({ max: 400 }), { maxLength: 8 }),
        async (requests, cuts) => {
          const text = requests
            .map((each, n) => spell(each, n, n === requests.length - 1))
            .join('');
          const socket = dial(port);
          socket.setNoDelay(true);
          const received = drainSocket(socket);
          let at = 0;
          for (const cut of cuts) {
            await new Promise((resolve) => {
              socket.write(text.slice(at, at + cut), 'latin1', () => setImmediate(resolve));
            });
            at += cut;
          }
          socket.write(text.slice(at), 'latin1');
          const answers = (await received).match(/<\/\d+ [^>]*>/g) ?? [];
          expect(answers).toEqual(requests.map((each, n) => `</${n} ${each.body}>`));
        },
      ),
      { numRuns: 60 },
    );
  });
});

function spell(
  { body, framing }: { body: string; framing: 'none' | 'length' | 'chunked' },
  n: number,
  isLast: boolean,
): string {
  const end = isLast ? 'connection: close\r\n' : '';
  if (framing === 'none') return `GET /${n} HTTP/1.1\r\n${end}${HOST}`;
  const line = `POST /${n} HTTP/1.1\r\n${end}`;
  if (framing === 'length') return `${line}content-length: ${body.length}\r\n${HOST}${body}`;
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  return `${line}transfer-encoding: chunked\r\n${HOST}${chunk}0\r\n\r\n`;
}

describe('a client that does not take its answers', () => {
  it('is disconnected, also when each is small', async () => {
    const closed = Promise.withResolvers<void>();
    let sent = 0;
    const port = await start(
      (req, res) => {
        sent += 1;
        if (sent === 1) req.socket.once('close', () => closed.resolve());
        res.end('x'.repeat(16_000));
      },
      { headersMs: 200, requestMs: 200 },
    );
    const count = 10_000;
    dial(port).pause().write(`GET / HTTP/1.1\r\n${HOST}`.repeat(count));
    await closed.promise;
    expect(sent).toBeLessThan(count);
  });

  it('is not mistaken for one that takes them slowly, or one that has nothing to take', async () => {
    const size = 12_000_000;
    const idle = Promise.withResolvers<void>();
    const handler: HttpHandler = (req, res) => {
      const answer = res as ServerResponse;
      if (req.url === '/large') return void answer.end('x'.repeat(size));
      answer.write('begun');
      void idle.promise.then(() => answer.end('ended'));
      return undefined;
    };
    const limits = { headersMs: 150, requestMs: 150, firstBytesMs: 40 };
    const port = await start(handler, limits);
    const end = `connection: close\r\n${HOST}`;
    const quiet = talk(port, `GET /idle HTTP/1.1\r\n${end}`);
    const socket = dial(port);
    socket.write(`GET /large HTTP/1.1\r\n${end}`);
    let received = 0;
    let ticks = 0;
    for await (const chunk of socket) {
      received += (chunk as Buffer).length;
      if (received < (ticks + 1) * 1_000_000) continue;
      ticks += 1;
      // A connection that says nothing is closed after `firstBytesMs`: the listener's own clock.
      await drainSocket(dial(port));
    }
    expect(ticks * limits.firstBytesMs).toBeGreaterThan(limits.requestMs * 2);
    expect(received).toBeGreaterThan(size);
    idle.resolve();
    expect(await quiet).toMatch(/begun.*ended/s);
  });
});

describe('what cannot be read is answered as Node answers it', () => {
  it.each([
    ['no HTTP', 'nonsense\r\n\r\n', '400 Bad Request'],
    ['a header too many', `GET / HTTP/1.1\r\nx: ${'x'.repeat(70_000)}\r\n${HOST}`, '431 '],
    [
      'chunk extensions too long',
      `POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n${HOST}1;${'x'.repeat(20_000)}\r\n`,
      '413 ',
    ],
  ])('%s', async (_what, sent, status) => {
    const port = await start((req: { resume(): unknown }) => void req.resume());
    const answer = await talk(port, sent);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status}.*\r\nConnection: close\r\n\r\n$`));
  });

  it('but never into the middle of an answer', async () => {
    const port = await start((_req, res) => {
      const answer = res as ServerResponse;
      answer.writeHead(200, { 'content-length': '10' });
      answer.write('half');
    });
    const socket = dial(port);
    socket.write(`GET / HTTP/1.1\r\n${HOST}`);
    const received = drainSocket(socket);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write('nonsense\r\n\r\n');
    expect(await received).toMatch(/\r\n\r\nhalf$/);
  });
});
