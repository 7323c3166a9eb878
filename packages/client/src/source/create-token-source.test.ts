import { refuse } from '@sallyport/protocol';
import { accessToken, setUp, setUpExpired } from '@sallyport/testing/client/signed-in';
import { HOUR, KEY } from '@sallyport/testing/client/tokens';
import { describe, expect, it } from 'vitest';
import { forgetTokens } from './forget-tokens.ts';

const MINUTE = 60_000;

describe('Token source: keeping and refreshing', () => {
  it('hands out the stored token while it is fresh, without an exchange or the lock', async () => {
    const { store, issuer, create, clock } = setUp();
    await store.write(KEY, issuer.issue());
    clock.advance(HOUR - 6 * MINUTE);
    const lock = { acquire: () => Promise.reject(new Error('not needed')) };
    const source = create({ lock });
    expect(await accessToken(source.get())).toBe('access-1');
    expect(await accessToken(source.get())).toBe('access-1');
    expect(issuer.refreshes + issuer.grants).toBe(0);
  });

  it('Client credentials rule 2: a token is replaced within the refresh window before its end', async () => {
    const { issuer, create, clock } = setUp();
    const grant = issuer.createGrant({ kind: 'client_credentials', isInteractive: false });
    const { refresh: _, ...repeated } = grant;
    const source = create({ grant: repeated });
    expect(await accessToken(source.get())).toBe('access-1');
    clock.advance(HOUR - 5 * MINUTE - 1);
    expect(await accessToken(source.get())).toBe('access-1');
    clock.advance(2);
    expect(await accessToken(source.get())).toBe('access-2');
    expect(issuer.grants).toBe(2);
  });

  it('the refresh window is the configured one', async () => {
    const { issuer, create, clock, store } = setUp();
    await store.write(KEY, issuer.issue());
    clock.advance(HOUR - 20 * MINUTE);
    expect(await accessToken(create({ refreshWindowMs: 10 * MINUTE }).get())).toBe('access-1');
    expect(await accessToken(create({ refreshWindowMs: 30 * MINUTE }).get())).toBe('access-2');
  });

  it('a token shorter than the window is kept for half of its life, not exchanged with each call', async () => {
    const { issuer, create, clock, store } = setUp();
    issuer.lifetimeMs = 2 * MINUTE;
    await store.write(KEY, issuer.issue());
    const source = create();
    clock.advance(MINUTE - 1);
    expect(await accessToken(source.get())).toBe('access-1');
    clock.advance(2);
    expect(await accessToken(source.get())).toBe('access-2');
  });

  it.each([30_000, 24 * HOUR])(
    'a clock that was set back by %i ms makes no token live longer',
    async (stepMs) => {
      const { issuer, create, clock } = setUp();
      issuer.lifetimeMs = 2 * MINUTE;
      const grant = issuer.createGrant({ kind: 'client_credentials', isInteractive: false });
      const { refresh: _, ...repeated } = grant;
      let elapsedMs = 0;
      const source = create({ grant: repeated, monotonic: () => elapsedMs });
      expect(await accessToken(source.get())).toBe('access-1');
      elapsedMs = MINUTE + 1;
      clock.advance(-stepMs);
      expect(await accessToken(source.get())).toBe('access-2');
      expect(await accessToken(source.get())).toBe('access-2');
    },
  );

  it('a token that only a person could replace is used to its end by the clock that is never set, and no longer', async () => {
    const { issuer, create, clock, store } = setUp();
    await store.write(KEY, { ...issuer.issue(), refreshToken: undefined });
    let elapsedMs = 0;
    const source = create({ monotonic: () => elapsedMs });
    expect(await accessToken(source.get())).toBe('access-1');
    clock.advance(-30_000);
    elapsedMs = HOUR - 1;
    expect(await accessToken(source.get())).toBe('access-1');
    elapsedMs = HOUR;
    expect(await accessToken(source.get())).toBe('login_required');
  });

  it('a caller that needs more of its life gets a token that has it', async () => {
    const { issuer, create, store } = setUp();
    await store.write(KEY, issuer.issue());
    const source = create();
    expect(await accessToken(source.get({ minTtlMs: HOUR }))).toBe('access-1');
    expect(await accessToken(source.get({ minTtlMs: HOUR + 1 }))).toBe('access-2');
  });

  it('a token without an end is used until it is refused', async () => {
    const { issuer, create, store, clock } = setUp();
    issuer.lifetimeMs = undefined;
    await store.write(KEY, issuer.issue());
    clock.advance(1_000 * HOUR);
    expect(await accessToken(create().get())).toBe('access-1');
  });

  it('twenty callers share one exchange', async () => {
    const { issuer, create } = await setUpExpired();
    const source = create();
    const all = await Promise.all(Array.from({ length: 20 }, () => accessToken(source.get())));
    expect(new Set(all)).toEqual(new Set(['access-2']));
    expect(issuer.refreshes).toBe(1);
  });

  it('keeps the refresh token that works when the answer brings no other', async () => {
    const { issuer, create, store, clock } = await setUpExpired();
    issuer.fault = 'no_refresh_token';
    await create().get();
    expect(await store.read(KEY)).toMatchObject({
      accessToken: 'access-2',
      refreshToken: 'refresh-1',
    });
    clock.advance(HOUR);
    expect(await accessToken(create().get())).toBe('access-3');
  });

  it('writes what it obtained, so that the next process needs no exchange', async () => {
    const { issuer, create } = await setUpExpired();
    await create().get();
    expect(await accessToken(create().get())).toBe('access-2');
    expect(issuer.refreshes).toBe(1);
  });

  it('tokens of client credentials never reach the store, unless asked for', async () => {
    const { issuer, create, store } = setUp();
    const grant = issuer.createGrant({ kind: 'client_credentials', isInteractive: false });
    await create({ grant }).get();
    expect(await store.read(KEY)).toBeUndefined();
    await create({ grant, keep: 'store' }).get();
    expect(await store.read(KEY)).toMatchObject({ accessToken: 'access-2' });
  });

  it('opens no store before a token is needed, and one only', async () => {
    const { create, store } = setUp();
    let opened = 0;
    const source = create({
      mayInteract: true,
      openStore: async () => {
        opened += 1;
        return store;
      },
    });
    expect(opened).toBe(0);
    await source.get();
    await source.get({ minTtlMs: 2 * HOUR });
    expect(opened).toBe(1);
  });
});

describe('Token source: people', () => {
  it('asks no person unless it may: login_required', async () => {
    const { create, issuer } = setUp();
    expect(await create().get()).toEqual(
      refuse(expect.objectContaining({ error: 'login_required' })),
    );
    expect(issuer.grants).toBe(0);
    expect(await accessToken(create({ mayInteract: true }).get())).toBe('access-1');
  });

  it('without a refresh token a living token is used to its end before a person is asked', async () => {
    const { create, issuer, store, clock } = setUp();
    await store.write(KEY, { ...issuer.issue(), refreshToken: undefined });
    const source = create({ mayInteract: true });
    clock.advance(HOUR - 1);
    expect(await accessToken(source.get())).toBe('access-1');
    clock.advance(1);
    expect(await accessToken(source.get())).toBe('access-2');
  });

  it('invalid_grant ends the sign-in: the store is cleared and a person is needed', async () => {
    const { create, issuer, store } = await setUpExpired();
    issuer.revoke();
    expect(await accessToken(create().get())).toBe('login_required');
    expect(await store.read(KEY)).toBeUndefined();
  });

  it('after invalid_grant a new grant follows when a person may be asked', async () => {
    const { create, issuer, store } = await setUpExpired();
    issuer.revoke();
    expect(await accessToken(create({ mayInteract: true }).get())).toBe('access-2');
    expect(await store.read(KEY)).toMatchObject({ accessToken: 'access-2' });
  });

  it('invalid_grant does not clear the sign-in that another process has put there since', async () => {
    const { create, issuer, store } = await setUpExpired();
    issuer.onExchange = async () => {
      issuer.onExchange = async () => undefined;
      await store.write(KEY, issuer.issue());
    };
    expect(await accessToken(create().get())).toBe('access-2');
    expect(await store.read(KEY)).toMatchObject({ accessToken: 'access-2' });
  });

  it('a sign-out in another process is not undone: the old refresh token is not used again', async () => {
    const { create, issuer, store, lock, clock } = setUp();
    await store.write(KEY, issuer.issue());
    const source = create();
    await source.get();
    expect(await forgetTokens(KEY, store, lock, { waitMs: 0 })).toMatchObject({
      refreshToken: 'refresh-1',
    });
    clock.advance(HOUR);
    expect(await accessToken(source.get())).toBe('login_required');
    expect(issuer.refreshes).toBe(0);
    expect(await store.read(KEY)).toBeUndefined();
  });

  it('a refresh under way during a sign-out does not bring the tokens back', async () => {
    const { create, issuer, store, lock } = await setUpExpired();
    let signedOut: Promise<unknown> | undefined;
    issuer.onExchange = async () => {
      signedOut = forgetTokens(KEY, store, lock, { waitMs: 0 });
    };
    expect(await accessToken(create().get())).toBe('access-2');
    expect(await signedOut).toMatchObject({ refreshToken: 'refresh-2' });
    expect(await store.read(KEY)).toBeUndefined();
  });
});
