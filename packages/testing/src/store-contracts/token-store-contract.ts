/**
 * The contract suite of {@link TokenStore}: every implementation passes it. Imported by tests only.
 *
 * @module
 */

import { describe, expect, it } from 'vitest';
import type { TokenStore } from '../../../client/src/token-store.ts';
import { createTokens, KEY } from '../client/tokens.ts';

/** One user's tokens, as several processes open them. */
export interface TokenStoreUnderTest {
  /** Opens the store as a further process would. */
  open(): TokenStore;
}

/**
 * Registers the suite.
 *
 * @param name - Shown in the report.
 * @param create - Makes an empty store for the running test.
 */
export function testTokenStore(name: string, create: () => TokenStoreUnderTest): void {
  describe(`TokenStore contract: ${name}`, () => {
    it('has nothing at first', async () => {
      expect(await create().open().read(KEY)).toBeUndefined();
    });

    it('gives back what was written, to another process too', async () => {
      const stores = create();
      await stores.open().write(KEY, createTokens('1'));
      expect(await stores.open().read(KEY)).toEqual(createTokens('1'));
    });

    it('keeps tokens without an end or a refresh token as they are', async () => {
      const store = create().open();
      const tokens = createTokens('1', { expiresAt: undefined, refreshToken: undefined });
      await store.write(KEY, tokens);
      expect(await store.read(KEY)).toEqual(tokens);
    });

    it('replaces what was kept, completely', async () => {
      const store = create().open();
      await store.write(KEY, createTokens('1'));
      await store.write(KEY, createTokens('2', { refreshToken: undefined }));
      expect(await store.read(KEY)).toEqual(createTokens('2', { refreshToken: undefined }));
    });

    it('keeps the tokens of two keys apart', async () => {
      const store = create().open();
      const other = { ...KEY, audience: 'https://other.example' };
      await store.write(KEY, createTokens('1'));
      expect(await store.read(other)).toBeUndefined();
      await store.write(other, createTokens('2'));
      await store.remove(other);
      expect(await store.read(KEY)).toEqual(createTokens('1'));
    });

    it('removes what was kept, and nothing when there is nothing', async () => {
      const stores = create();
      const store = stores.open();
      await store.remove(KEY);
      await store.write(KEY, createTokens('1'));
      await store.remove(KEY);
      expect(await store.read(KEY)).toBeUndefined();
      expect(await stores.open().read(KEY)).toBeUndefined();
    });

    it('keeps tokens of 20,000 characters', async () => {
      const stores = create();
      const large = createTokens('x'.repeat(20_000));
      await stores.open().write(KEY, large);
      expect(await stores.open().read(KEY)).toEqual(large);
      await stores.open().write(KEY, createTokens('2'));
      expect(await stores.open().read(KEY)).toEqual(createTokens('2'));
    });

    it('of 20 writes at once one is kept, whole', async () => {
      const store = create().open();
      const all = Array.from({ length: 20 }, (_, index) => createTokens(String(index)));
      await Promise.all(all.map((tokens) => store.write(KEY, tokens)));
      expect(all).toContainEqual(await store.read(KEY));
    });
  });
}
