import { createHash } from 'node:crypto';
import { createServer, request as send } from 'node:http';
import { connect } from 'node:net';
import { closeServer } from '@sallyport/testing/idp/scripted-server';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerReceiver, receiveAnswer } from './receive-answer.ts';
import { parseLoopbackRedirect } from './redirect-uri.ts';

const STATE = 'st4te';
const EXPECTED = { state: STATE, issuer: 'https://idp.example.com', isIssuerNamed: false };
const GOOD = `/callback?state=${STATE}&code=c0de`;
const DONE = { ok: true, value: undefined } as const;

let port: number;
let receiver: AnswerReceiver;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Sends to one of the loopback addresses; `node:http`, because fetch sets its own Host. */
function ask(
  path: string,
  { host = `localhost:${port}`, method = 'GET', address = '127.0.0.1' } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = send({ host: address, port, path, method, headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    request.on('error', reject).end();
  });
}

function redirectAt(at: number) {
  const redirect = parseLoopbackRedirect(`http://localhost:${at}/callback`);
  if (!redirect.ok) throw new Error(redirect.error);
  return redirect.value;
}

function isListening(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

async function isPending(): Promise<boolean> {
  return (await Promise.race([receiver.answer, Promise.resolve('pending')])) === 'pending';
}

beforeEach(async () => {
  port = await freePort();
  const started = await receiveAnswer(redirectAt(port), EXPECTED);
  if (!started.ok) throw new Error(started.error.description);
  receiver = started.value;
});
afterEach(() => receiver.finish(DONE));

describe('the callback', () => {
  it('is received on 127.0.0.1 and on ::1, and nowhere when it has ended', async () => {
    expect(await isListening('127.0.0.1')).toBe(true);
    expect(await isListening('::1')).toBe(true);
    await receiver.finish(DONE);
    expect(await isListening('127.0.0.1')).toBe(false);
    expect(await isListening('::1')).toBe(false);
  });

  it('by ::1 gives the code', async () => {
    const page = ask(GOOD, { address: '::1' });
    expect(await receiver.answer).toEqual({ ok: true, value: { code: 'c0de' } });
    await receiver.finish(DONE);
    expect((await page).status).toBe(200);
  });

  it('shows success only after the tokens were obtained', async () => {
    const page = ask(GOOD);
    await receiver.answer;
    // Another request is answered meanwhile, this one is not.
    await ask('/favicon.ico');
    expect(await Promise.race([page, Promise.resolve('waiting')])).toBe('waiting');
    await receiver.finish(DONE);
    expect((await page).body).toContain('You are signed in');
  });

  it('shows failure when they were not, with escaped words', async () => {
    const page = ask(GOOD);
    await receiver.answer;
    await receiver.finish({
      ok: false,
      error: { error: 'invalid_<grant', description: '<script>alert(1)</script>', hint: '"&' },
    });
    const { status, body } = await page;
    expect(status).toBe(400);
    expect(body).toContain('You are not signed in');
    expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(body).toContain('&quot;&amp;');
    expect(body).toContain('Reason <code>invalid_&lt;grant</code>');
    expect(body).not.toContain('<script');
  });

  it('answers with a page that loads nothing and sends no referrer, and closes the connection', async () => {
    const page = ask(GOOD);
    await receiver.answer;
    await receiver.finish(DONE);
    const { headers, body } = await page;
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
      'x-content-type-options': 'nosniff',
    });
    // An icon of its own, so that none is asked for at a port that another process has by then.
    expect(body).toContain('<link rel="icon" href="data:,">');
    expect(body).not.toMatch(/(?:src|href)=(?!"data:,")|url\(|@import|c0de|st4te/);
    expect(body).toContain('prefers-color-scheme:dark');
    expect(body).toContain('<html lang="en">');
  });

  it('allows its own style by its hash, and no other', async () => {
    const page = ask(GOOD);
    await receiver.answer;
    await receiver.finish(DONE);
    const { headers, body } = await page;
    const style = /<style>([^<]*)<\/style>/.exec(body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}';`);
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });

  it.each([
    ['/favicon.ico', 404],
    ['/', 404],
    [`/callback/?state=${STATE}&code=c0de`, 404],
    [`/other?state=${STATE}&code=c0de`, 404],
    [`http://localhost/callback?state=${STATE}&code=c0de`, 404],
    ['/callback', 400],
    ['/callback?state=wrong&code=c0de', 400],
    ['/callback?code=c0de', 400],
  ])('at %s is answered %i, and the waiting goes on', async (path, status) => {
    expect((await ask(path)).status).toBe(status);
    expect(await isPending()).toBe(true);
    void ask(GOOD);
    expect(await receiver.answer).toMatchObject({ ok: true });
  });

  it.each(['POST', 'HEAD', 'PUT', 'OPTIONS'])(
    'by %s is answered 405, and the waiting goes on',
    async (method) => {
      const { status, headers } = await ask(GOOD, { method });
      expect([status, headers['allow']]).toEqual([405, 'GET']);
      expect(await isPending()).toBe(true);
    },
  );

  it.each(['evil.example', 'evil.example:PORT', 'localhost', '127.0.0.1:PORT', 'localhost:1'])(
    'with Host %s is answered 400, and the waiting goes on (DNS rebinding)',
    async (host) => {
      expect((await ask(GOOD, { host: host.replace('PORT', String(port)) })).status).toBe(400);
      expect(await isPending()).toBe(true);
    },
  );

  it('that says error ends the waiting with it', async () => {
    const page = ask(`/callback?state=${STATE}&error=access_denied&error_description=No`);
    const outcome = await receiver.answer;
    expect(outcome).toMatchObject({ ok: false, error: { error: 'access_denied' } });
    await receiver.finish(outcome);
    expect((await page).body).toContain('access_denied: No');
  });

  it('that comes twice is counted once', async () => {
    const first = ask(GOOD);
    const outcome = await receiver.answer;
    const second = ask(`${GOOD}2`).catch(() => undefined);
    await receiver.finish(DONE);
    expect((await first).status).toBe(200);
    await second;
    expect([outcome, await receiver.answer]).toEqual([outcome, outcome]);
    expect(outcome).toEqual({ ok: true, value: { code: 'c0de' } });
  });

  it('that an idle connection waits for does not keep the listeners open', async () => {
    const socket = connect({ host: '127.0.0.1', port });
    await new Promise((resolve) => socket.once('connect', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    await receiver.finish(DONE);
    await closed;
    expect(await isListening('127.0.0.1')).toBe(false);
  });
});

describe('connections that say nothing', () => {
  /** More than are kept open at a time. */
  const MANY = 300;

  async function connectIdle(): Promise<{ readonly isClosed: () => boolean; end(): void }> {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => {});
    let isClosed = false;
    socket.once('close', () => {
      isClosed = true;
    });
    await new Promise((resolve) => socket.once('connect', resolve));
    return { isClosed: () => isClosed, end: () => socket.destroy() };
  }

  it('do not keep the browser out: the oldest of them make way, and that is known', async () => {
    const idle = [];
    for (let index = 0; index < MANY; index += 1) idle.push(await connectIdle());
    const page = ask(GOOD);
    expect(await receiver.answer).toEqual({ ok: true, value: { code: 'c0de' } });
    expect(receiver.isCrowded()).toBe(true);
    await receiver.finish(DONE);
    expect((await page).status).toBe(200);
    for (const { end } of idle) end();
  });

  it('never make way for others while the browser waits for its page', async () => {
    const page = ask(GOOD);
    await receiver.answer;
    const idle = [];
    for (let index = 0; index < MANY; index += 1) idle.push(await connectIdle());
    await receiver.finish(DONE);
    expect((await page).body).toContain('You are signed in');
    for (const { end } of idle) end();
  });

  it('stay when they are few', async () => {
    const idle = [await connectIdle(), await connectIdle()];
    await ask('/favicon.ico');
    expect([receiver.isCrowded(), idle.some(({ isClosed }) => isClosed())]).toEqual([false, false]);
    for (const { end } of idle) end();
  });
});

describe('a pasted answer', () => {
  it.each([
    () => `http://localhost:${port}${GOOD}`,
    () => `  http://localhost:${port}${GOOD}#_=_ \n`,
    () => GOOD.slice('/callback'.length),
  ])('is taken as the address or its query (%#)', async (text) => {
    expect(receiver.takePasted(text())).toBeUndefined();
    expect(await receiver.answer).toEqual({ ok: true, value: { code: 'c0de' } });
  });

  it.each([
    ['c0de', 'begins with'],
    ['https://evil.example/callback?state=st4te&code=c0de', 'begins with'],
    ['?state=other&code=c0de', 'another attempt'],
    ['', 'begins with'],
  ])('%j is refused with a reason, and the waiting goes on', async (text, reason) => {
    expect(receiver.takePasted(text)).toContain(reason);
    expect(await isPending()).toBe(true);
  });
});

describe('a port that another process holds', () => {
  it.each(['127.0.0.1', '::1'])(
    'on %s alone is a conflict that names the holder',
    async (address) => {
      const other = await freePort();
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(other, address, resolve));
      const started = await receiveAnswer(redirectAt(other), EXPECTED);
      expect(started).toMatchObject({ ok: false, error: { error: 'redirect_port_in_use' } });
      if (process.platform === 'linux')
        expect(started.ok ? '' : started.error.description).toContain(`process ${process.pid} (`);
      await closeServer(server);
      // Nothing of the attempt is left on the address that was free.
      const again = await receiveAnswer(redirectAt(other), EXPECTED);
      expect(again.ok).toBe(true);
      if (again.ok) await again.value.finish(DONE);
    },
  );
});
