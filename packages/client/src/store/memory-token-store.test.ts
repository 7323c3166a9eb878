import { createTokens, KEY } from '@sallyport/testing/client/tokens';
import { testTokenStore } from '@sallyport/testing/store-contracts/token-store-contract';
import { expect, it } from 'vitest';
import { createMemoryTokenStore } from './memory-token-store.ts';

testTokenStore('memory', () => {
  const store = createMemoryTokenStore();
  return { open: () => store };
});

it('two memory stores share nothing', async () => {
  await createMemoryTokenStore().write(KEY, createTokens('1'));
  expect(await createMemoryTokenStore().read(KEY)).toBeUndefined();
});
