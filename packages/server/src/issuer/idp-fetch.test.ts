import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createIdpFetch } from './idp-fetch.ts';

const TOKEN = 'https://idp.example/token';
const MAX_BYTES = 1_000;

type Answer = () => Response | Promise<Response>;

function setup(answer: Answer = () => Response.json({ keys: [1] })) {
  const seen: { url: string; init: RequestInit }[] = [];
  const idp: { answer: Answer } = { answer };
  const idpFetch = createIdpFetch({
    fetch: async (url, init) => {
      seen.push({ url: typeof url === 'string' ? url : 'not a string', init: init ?? {} });
      return idp.answer();
    },
    timeoutMs: 10_000,
    bodyMaxBytes: MAX_BYTES,
  });
  return { seen, idp, fetch: idpFetch.fetch };
}

describe('an exchange with the IdP', () => {
  it('passes on the request and gives back status, headers and body', async () => {
    const { fetch, seen } = setup(
      () =>
        new Response('{"a":1}', {
          status: 400,
          headers: { 'content-type': 'application/json', 'x-a': 'b' },
        }),
    );
    const response = await fetch(TOKEN, {
      method: 'POST',
      body: 'x=y',
      headers: { authorization: 'Basic z' },
    });
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([
      400,
      'b',
      '{"a":1}',
    ]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      url: TOKEN,
      init: { method: 'POST', body: 'x=y', headers: { authorization: 'Basic z' } },
    });
  });

  it('follows no redirect, whatever the caller asks for: a secret must not travel on', async () => {
    const { fetch, seen } = setup(
      () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
    );
    const response = await fetch(TOKEN, { redirect: 'follow' });
    expect(response.status).toBe(302);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.init.redirect).toBe('manual');
  });

  it('ends after its time, whatever the caller asks for', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => timeout.mockRestore());
    const { fetch, seen } = setup();
    await fetch(TOKEN, { signal: new AbortController().signal });
    expect(timeout.mock.calls).toEqual([[10_000]]);
    expect(seen[0]?.init.signal).toBe(timeout.mock.results[0]?.value);
  });

  it('ends after the time that is given for it alone, and no other exchange does', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => timeout.mockRestore());
    const { fetch, seen } = setup();
    const ended = new AbortController();
    const patient: AbortSignal[] = [];
    const patience = {
      fetch: async (_: unknown, init?: RequestInit) => {
        if (init?.signal) patient.push(init.signal);
        return Response.json({});
      },
      timeoutMs: 600_000,
      signal: ended.signal,
    };
    await fetch(TOKEN, {}, patience);
    await fetch(TOKEN, {});
    expect(timeout.mock.calls).toEqual([[600_000], [10_000]]);
    expect(seen.map(({ init }) => init.signal)).toEqual(
      timeout.mock.results.slice(1).map(({ value }) => value),
    );
    // The caller's signal can end the wait as well.
    expect(patient.map(({ aborted }) => aborted)).toEqual([false]);
    ended.abort();
    expect(patient.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('takes a body up to its bound and no byte more, and reads no further then', async () => {
    const fits = setup(() => new Response('x'.repeat(MAX_BYTES)));
    expect(await (await fits.fetch(TOKEN, {})).text()).toHaveLength(MAX_BYTES);
    const over = setup(() => new Response('x'.repeat(MAX_BYTES + 1)));
    await expect(over.fetch(TOKEN, {})).rejects.toThrow('too large');

    let pulled = 0;
    let isCancelled = false;
    const endless = setup(() => {
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(400));
        },
        cancel() {
          isCancelled = true;
        },
      });
      return new Response(body);
    });
    await expect(endless.fetch(TOKEN, {})).rejects.toThrow('too large');
    expect(pulled).toBeLessThan(6);
    expect(isCancelled).toBe(true);
  });

  it('counts the body as it is unpacked, and does not have it unpacked twice', async () => {
    const { fetch } = setup(
      () =>
        new Response('{}', { headers: { 'content-encoding': 'gzip', 'content-length': '999' } }),
    );
    const response = await fetch(TOKEN, {});
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(response.headers.get('content-length')).toBeNull();
    expect(await response.json()).toEqual({});
  });

  it.each([204, 205, 304])('reads a %d without a body', async (status) => {
    const { fetch } = setup(() => new Response(null, { status }));
    expect(await (await fetch(TOKEN, {})).text()).toBe('');
  });

  it('fails when the IdP cannot be reached, and keeps nothing of other addresses', async () => {
    const { fetch, seen, idp } = setup();
    await fetch(TOKEN, {});
    await fetch(TOKEN, {});
    expect(seen).toHaveLength(2);
    idp.answer = () => Promise.reject(new TypeError('fetch failed'));
    await expect(fetch(TOKEN, {})).rejects.toMatchObject({
      code: 'SP_IDP_UNREACHABLE',
      cause: new TypeError('fetch failed'),
    });
  });
});
