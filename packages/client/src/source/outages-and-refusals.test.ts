import { accept, SallyportError } from '@sallyport/protocol';
import { accessToken, setUp, setUpExpired } from '@sallyport/testing/client/signed-in';
import { HOUR, KEY } from '@sallyport/testing/client/tokens';
import { describe, expect, it } from 'vitest';
import type { Grant } from '../grant.ts';
import type { TokenStore } from '../token-store.ts';

const MINUTE = 60_000;

describe('Token source: outages and clocks', () => {
  it.each(['unreachable', 'temporarily_unavailable'] as const)(
    'an IdP that is %s is ridden out while the token lives, and tried again after 30 seconds',
    async (fault) => {
      const { create, issuer, store, clock, outages } = setUp();
      await store.write(KEY, issuer.issue());
      clock.advance(HOUR - 2 * MINUTE);
      issuer.fault = fault;
      let tried = 0;
      issuer.onExchange = async () => {
        tried += 1;
      };
      const source = create();
      expect(await accessToken(source.get())).toBe('access-1');
      expect(await accessToken(source.get())).toBe('access-1');
      expect([tried, outages.length]).toEqual([1, 1]);
      clock.advance(30_000);
      issuer.fault = undefined;
      expect(await accessToken(source.get())).toBe('access-2');
    },
  );

  it('an IdP that is unreachable once the token has ended is an error, and nothing is cleared', async () => {
    const { create, issuer, store } = await setUpExpired();
    issuer.fault = 'unreachable';
    await expect(create().get()).rejects.toMatchObject({ code: 'SP_IDP_UNREACHABLE' });
    expect(await store.read(KEY)).toMatchObject({ refreshToken: 'refresh-1' });
    issuer.fault = undefined;
    expect(await accessToken(create().get())).toBe('access-2');
  });

  it('tokens that the store does not take are used, and their refresh token the next time', async () => {
    const { create, issuer, store, clock, outages } = await setUpExpired();
    const full: TokenStore = {
      ...store,
      write: () =>
        Promise.reject(new SallyportError('SP_TOKEN_STORE_UNUSABLE', { component: 'test' })),
    };
    const source = create({ openStore: async () => full });
    expect(await accessToken(source.get())).toBe('access-2');
    expect(outages).toHaveLength(1);
    clock.advance(HOUR);
    expect(await accessToken(source.get())).toBe('access-3');
    expect(issuer.reuses).toBe(0);
  });

  it('a lock that was lost meanwhile keeps its holder from writing, not from going on', async () => {
    const { create, issuer, store, clock } = await setUpExpired();
    const lost = { acquire: async () => ({ isHeld: () => false, release: () => undefined }) };
    const source = create({ lock: lost });
    expect(await accessToken(source.get())).toBe('access-2');
    expect(await store.read(KEY)).toMatchObject({ accessToken: 'access-1' });
    clock.advance(HOUR);
    expect(await accessToken(source.get())).toBe('access-3');
    expect(issuer.reuses).toBe(0);
  });

  it('a lock that is not to be had is ridden out while the token lives, and an error after that', async () => {
    const { create, issuer, store, clock } = setUp();
    const timeout = new SallyportError('SP_TOKEN_LOCK_TIMEOUT', { component: 'test' });
    await store.write(KEY, issuer.issue());
    clock.advance(HOUR - MINUTE);
    const source = create({ lock: { acquire: () => Promise.reject(timeout) } });
    expect(await accessToken(source.get())).toBe('access-1');
    clock.advance(MINUTE);
    await expect(source.get()).rejects.toBe(timeout);
  });

  it('a store that cannot be opened is tried again the next time', async () => {
    const { create, store } = setUp();
    const locked = new SallyportError('SP_TOKEN_STORE_UNUSABLE', { component: 'test' });
    let fails = true;
    const openStore = async (): Promise<TokenStore> => {
      if (fails) throw locked;
      return store;
    };
    const source = create({ mayInteract: true, openStore });
    await expect(source.get()).rejects.toBe(locked);
    fails = false;
    expect(await accessToken(source.get())).toBe('access-1');
  });

  it('a clock that was set back makes a token stale once, because its remaining life is not known', async () => {
    const { create, issuer, store, clock } = setUp();
    await store.write(KEY, issuer.issue());
    clock.advance(-10 * HOUR);
    const source = create();
    expect(await accessToken(source.get())).toBe('access-2');
    expect(await accessToken(source.get())).toBe('access-2');
    expect(issuer.refreshes).toBe(1);
  });

  it('clocks that differ by half a minute make no difference', async () => {
    const { create, issuer, store, clock } = setUp();
    await store.write(KEY, issuer.issue());
    clock.advance(-30_000);
    expect(await accessToken(create().get())).toBe('access-1');
  });

  it('a clock that was set forward costs one refresh', async () => {
    const { create, issuer, store, clock } = setUp();
    await store.write(KEY, issuer.issue());
    clock.advance(1_000 * HOUR);
    const source = create();
    expect(await accessToken(source.get())).toBe('access-2');
    expect(await accessToken(source.get())).toBe('access-2');
    expect(issuer.refreshes).toBe(1);
  });

  it('an outage before the clock was set back does not keep the next attempt away', async () => {
    const { create, issuer, store, clock } = setUp();
    await store.write(KEY, issuer.issue());
    clock.advance(HOUR - MINUTE);
    issuer.fault = 'unreachable';
    const source = create();
    await source.get();
    clock.advance(-20_000);
    issuer.fault = undefined;
    expect(await accessToken(source.get())).toBe('access-2');
  });
});

describe('Token source: abort', () => {
  it('a caller that leaves does not end the exchange of the others', async () => {
    const { create, issuer } = await setUpExpired();
    const { promise, resolve } = Promise.withResolvers<void>();
    issuer.onExchange = () => promise;
    const source = create();
    const controller = new AbortController();
    const leaving = source.get({ signal: controller.signal });
    const staying = accessToken(source.get());
    controller.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    resolve();
    expect(await staying).toBe('access-2');
  });

  it('a refresh is finished and written though the last caller has left', async () => {
    const { create, issuer, store } = await setUpExpired();
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    issuer.onExchange = () => {
      begun.resolve();
      return promise;
    };
    const source = create();
    const controller = new AbortController();
    const leaving = source.get({ signal: controller.signal });
    await begun.promise;
    controller.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    resolve();
    expect(await accessToken(source.get())).toBe('access-2');
    expect(await store.read(KEY)).toMatchObject({ accessToken: 'access-2' });
    expect([issuer.refreshes, issuer.reuses]).toEqual([1, 0]);
  });

  it('the wait for a person ends with the last caller, and the next one asks anew', async () => {
    const { create, issuer } = setUp();
    const asked: AbortSignal[] = [];
    const begun = Promise.withResolvers<void>();
    const grant: Grant = {
      ...issuer.createGrant(),
      obtain: (options) => {
        const { promise, reject } = Promise.withResolvers<never>();
        const signal = options?.signal;
        if (signal === undefined) throw new Error('no signal');
        asked.push(signal);
        begun.resolve();
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        return asked.length === 1 ? promise : Promise.resolve(accept(issuer.issue()));
      },
    };
    const source = create({ grant, mayInteract: true });
    const controller = new AbortController();
    const first = source.get({ signal: controller.signal });
    await begun.promise;
    controller.abort(new Error('Ctrl-C'));
    await expect(first).rejects.toThrow('Ctrl-C');
    expect(asked[0]?.aborted).toBe(true);
    expect(await accessToken(source.get())).toBe('access-1');
  });

  it('a signal that was aborted before asks for nothing', async () => {
    const { create, issuer } = await setUpExpired();
    await expect(create().get({ signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
      'gone',
    );
    await create().get();
    expect(issuer.refreshes).toBe(1);
  });
});

describe('Token source: replacing what a server refused', () => {
  it('twenty that were refused with the same token cause one exchange', async () => {
    const { create, issuer, store } = setUp();
    await store.write(KEY, issuer.issue());
    const source = create();
    const refused = await source.get();
    if (!refused.ok) throw new Error('no token');
    const all = await Promise.all(
      Array.from({ length: 20 }, () => accessToken(source.replace(refused.value))),
    );
    expect(new Set(all)).toEqual(new Set(['access-2']));
    expect(issuer.refreshes).toBe(1);
  });

  it('one that comes late, with the token before, gets the new one without an exchange', async () => {
    const { create, issuer, store } = setUp();
    const first = issuer.issue();
    await store.write(KEY, first);
    const source = create();
    await source.replace(first);
    expect(await accessToken(source.replace(first))).toBe('access-2');
    expect(issuer.refreshes).toBe(1);
  });

  it('a token that another process has obtained meanwhile is used, without an exchange', async () => {
    const { create, issuer, store } = setUp();
    const first = issuer.issue();
    await store.write(KEY, first);
    const [one, other] = [create(), create()];
    await Promise.all([one.get(), other.get()]);
    const all = await Promise.all([one, other].map((source) => accessToken(source.replace(first))));
    expect(all).toEqual(['access-2', 'access-2']);
    expect(issuer.refreshes).toBe(1);
  });

  it('a replacement that is refused too is not replaced in a loop', async () => {
    const { create, issuer, store, clock } = setUp();
    await store.write(KEY, issuer.issue());
    const source = create();
    for (let call = 0; call < 20; call += 1) {
      const token = await source.get();
      if (!token.ok) throw new Error('no token');
      await source.replace(token.value);
    }
    expect(issuer.refreshes).toBe(1);
    const last = await source.get();
    if (!last.ok) throw new Error('no token');
    expect(await accessToken(source.replace(last.value))).toBe('token_refused');
    clock.advance(30_000);
    expect(await accessToken(source.replace(last.value))).toBe('access-3');
  });

  it('a server that gives the refused token again is not asked in a loop', async () => {
    const { create, issuer } = setUp();
    const tokens = issuer.issue();
    let asked = 0;
    const grant: Grant = {
      kind: 'client_credentials',
      isInteractive: false,
      obtain: async () => {
        asked += 1;
        return accept(tokens);
      },
    };
    const source = create({ grant });
    await source.get();
    expect(await accessToken(source.replace(tokens))).toBe('token_refused');
    expect(await accessToken(source.replace(tokens))).toBe('token_refused');
    expect(asked).toBe(2);
  });

  it('an outage while replacing is an error: the refused token is not handed out for a new one', async () => {
    const { create, issuer, store } = setUp();
    const tokens = issuer.issue();
    await store.write(KEY, tokens);
    issuer.fault = 'unreachable';
    await expect(create().replace(tokens)).rejects.toMatchObject({ code: 'SP_IDP_UNREACHABLE' });
  });

  it('a caller that asks while a token is replaced gets the new one', async () => {
    const { create, issuer } = await setUpExpired();
    const source = create();
    const [replaced, got] = await Promise.all([
      accessToken(source.replace({ ...issuer.issue(), accessToken: 'other' })),
      accessToken(source.get()),
    ]);
    expect(replaced).toBe(got);
  });
});
