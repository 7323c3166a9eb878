import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Clock } from '../testing/clock.ts';
import { createIdpFetch } from './idp-fetch.ts';

const JWKS = 'https://idp.example/keys';
const TOKEN = 'https://idp.example/token';
const MAX_BYTES = 1_000;

type Answer = () => Response | Promise<Response>;

function setup(answer: Answer = () => Response.json({ keys: [1] })) {
  const clock = new Clock();
  const seen: { url: string; init: RequestInit }[] = [];
  const idp: { answer: Answer } = { answer };
  const idpFetch = createIdpFetch({
    fetch: async (url, init) => {
      seen.push({ url: typeof url === 'string' ? url : 'not a string', init: init ?? {} });
      return idp.answer();
    },
    now: clock.now,
    timeoutMs: 10_000,
    bodyMaxBytes: MAX_BYTES,
  });
  idpFetch.rememberKeysOf(JWKS);
  const keys = async (): Promise<unknown> => (await idpFetch.fetch(JWKS, {})).json();
  return { clock, seen, idp, idpFetch, fetch: idpFetch.fetch, keys };
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

  it('ends after the time that is given for it alone; the key set has its usual one even so', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => timeout.mockRestore());
    const { fetch, seen } = setup();
    await fetch(TOKEN, {}, 60_000);
    await fetch(TOKEN, {});
    await fetch(JWKS, {}, 60_000);
    expect(timeout.mock.calls).toEqual([[60_000], [10_000], [10_000]]);
    expect(seen.map(({ init }) => init.signal)).toEqual(
      timeout.mock.results.map(({ value }) => value),
    );
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

  it.each([204, 304])('reads a %d without a body', async (status) => {
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

describe('the key set', () => {
  it('is fetched once however often it is asked for within the cool-down: 1,000 forged key ids, one fetch', async () => {
    const { keys, seen, clock } = setup();
    for (let ask = 0; ask < 1_000; ask += 1) {
      expect(await keys()).toEqual({ keys: [1] });
      clock.advance(29);
    }
    expect(seen).toHaveLength(1);
    clock.advance(1_000);
    await keys();
    expect(seen).toHaveLength(2);
  });

  it('is fetched once for all who ask at the same time', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    const { keys, seen } = setup(() => promise);
    const asked = Array.from({ length: 100 }, keys);
    resolve(Response.json({ keys: [1] }));
    expect(new Set((await Promise.all(asked)).map((set) => JSON.stringify(set)))).toEqual(
      new Set(['{"keys":[1]}']),
    );
    expect(seen).toHaveLength(1);
  });

  it('is the new one after the cool-down', async () => {
    const { keys, idp, clock } = setup();
    await keys();
    idp.answer = () => Response.json({ keys: [2] });
    clock.advance(29_999);
    expect(await keys()).toEqual({ keys: [1] });
    clock.advance(1);
    expect(await keys()).toEqual({ keys: [2] });
  });

  it('is the new one also when the clock was set back', async () => {
    const { keys, idp, clock } = setup();
    await keys();
    idp.answer = () => Response.json({ keys: [2] });
    clock.advance(-3_600_000);
    expect(await keys()).toEqual({ keys: [2] });
  });

  it.each([
    ['cannot be reached', () => Promise.reject(new TypeError('fetch failed'))],
    ['answers 500', () => new Response('oops', { status: 500 })],
    ['answers 404', () => new Response('', { status: 404 })],
    [
      'sends elsewhere',
      () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
    ],
    ['answers without end', () => new Response('x'.repeat(MAX_BYTES + 1))],
  ] as readonly (readonly [string, Answer])[])(
    'is the last good one while the IdP %s, for a day, asked for once a cool-down',
    async (_, failing) => {
      const { keys, idp, clock, seen } = setup();
      await keys();
      idp.answer = failing;
      for (let second = 0; second < 3_600; second += 10) {
        clock.advance(10_000);
        expect(await keys()).toEqual({ keys: [1] });
      }
      expect(seen).toHaveLength(1 + 120);
      clock.advance(86_400_000 - 3_600_000 - 1);
      expect(await keys()).toEqual({ keys: [1] });
      clock.advance(1);
      await expect(keys()).rejects.toThrow();
      idp.answer = () => Response.json({ keys: [2] });
      expect(await keys()).toEqual({ keys: [2] });
    },
  );

  it('is a failure while there never was one', async () => {
    const { keys, idp } = setup(() => new Response('', { status: 503 }));
    await expect(keys()).rejects.toThrow('status 503');
    idp.answer = () => Response.json({ keys: [1] });
    expect(await keys()).toEqual({ keys: [1] });
  });

  it('of another address is not the one of this', async () => {
    const { fetch, keys, seen, idp, idpFetch } = setup();
    await keys();
    idp.answer = () => Response.json({ keys: [2] });
    idpFetch.rememberKeysOf(JWKS);
    expect(await keys()).toEqual({ keys: [1] });
    idpFetch.rememberKeysOf('https://idp.example/other');
    expect(await (await fetch('https://idp.example/other', {})).json()).toEqual({ keys: [2] });
    expect(seen.map(({ url }) => url)).toEqual([JWKS, 'https://idp.example/other']);
  });

  it('is read whole by everybody who gets it', async () => {
    const { fetch } = setup();
    const [one, other] = [await fetch(JWKS, {}), await fetch(JWKS, {})];
    expect(await one.json()).toEqual(await other.json());
    expect(one.headers.get('content-type')).toBe('application/json');
  });
});
