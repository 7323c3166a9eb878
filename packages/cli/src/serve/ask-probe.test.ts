import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askProbe } from './ask-probe.ts';

const PATIENCE_MS = 10_000;
const READY = { status: 'ready' };

async function listen(listener: RequestListener, path?: string): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) =>
    path === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(path, resolve),
  );
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return path === undefined ? (server.address() as AddressInfo).port : 0;
}

/** Answers one path, and any other with 404. */
const answering =
  (path: string, status: number, body: unknown) =>
  (...[{ url }, res]: Parameters<RequestListener>) => {
    res.writeHead(url === path ? status : 404);
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const ask = (port: number, probe: 'ready' | 'alive' = 'ready', timeoutMs = PATIENCE_MS) =>
  askProbe({ host: '127.0.0.1', port }, probe, timeoutMs);

describe('A probe of the service', () => {
  it('succeeds where /readyz says ready', async () => {
    expect(await ask(await listen(answering('/readyz', 200, READY)))).toEqual({ ok: true });
  });

  it('asks /healthz for a process that answers at all', async () => {
    const port = await listen(answering('/healthz', 200, { status: 'ok' }));
    expect(await ask(port, 'alive')).toEqual({ ok: true });
    expect(await ask(port, 'ready')).toMatchObject({ ok: false });
  });

  it('asks a Unix socket', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-probe-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const socketPath = join(folder, 's');
    await listen(answering('/readyz', 200, READY), socketPath);
    expect(await askProbe({ socketPath }, 'ready', PATIENCE_MS)).toEqual({ ok: true });
  });

  it('says what a service waits for, in words of its own alone', async () => {
    const body = { status: 'not_ready', waiting_for: ['identity_provider', '\u001b[2J', 7] };
    expect(await ask(await listen(answering('/readyz', 503, body)))).toEqual({
      ok: false,
      error: { error: 'not_ready', why: 'not ready, waits for identity_provider' },
    });
  });

  it('says of any other answer which commands have a probe', async () => {
    expect(await ask(await listen(answering('/readyz', 401, {})))).toEqual({
      ok: false,
      error: {
        error: 'bad_answer',
        why: '/readyz was answered with 401, and not as "sallyport serve" and "sallyport agent" do; "sallyport up --upstream" has no probe',
      },
    });
  });

  it('follows no redirect', async () => {
    const asked: (string | undefined)[] = [];
    const port = await listen(({ url }, res) => {
      asked.push(url);
      res.writeHead(302, { location: '/elsewhere' });
      res.end();
    });
    expect(await ask(port)).toMatchObject({ ok: false, error: { error: 'bad_answer' } });
    expect(asked).toEqual(['/readyz']);
  });

  it.each([
    ['an empty answer', ''],
    ['a page', '<h1>ready</h1>'],
    ['other words', { status: 'ok' }],
    ['a list', [READY]],
    ['null', 'null'],
    ['an answer without end', `{"status":"ready","more":"${'x'.repeat(100_000)}"}`],
  ])('takes 200 with %s for another program', async (_, body) => {
    expect(await ask(await listen(answering('/readyz', 200, body)))).toMatchObject({
      ok: false,
      error: { error: 'bad_answer' },
    });
  });

  it.each([201, 204, 401, 500, 503])('does not take status %d for ready', async (status) => {
    const port = await listen(answering('/readyz', status, READY));
    expect(await ask(port)).toMatchObject({ ok: false });
  });

  it('says that nothing listens', async () => {
    expect(await ask(await freePort())).toEqual({
      ok: false,
      error: { error: 'unreachable', why: 'connection refused' },
    });
  });

  it.each([
    ['never answers', () => {}],
    [
      'answers in part and no further',
      (...[, res]: Parameters<RequestListener>) => {
        res.writeHead(200);
        res.write('{"status":');
      },
    ],
  ])('gives up on a program that %s', async (_, listener) => {
    expect(await ask(await listen(listener), 'ready', 200)).toEqual({
      ok: false,
      error: { error: 'unreachable', why: 'no answer within 0.2 s' },
    });
  });
});
