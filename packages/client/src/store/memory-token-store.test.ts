import { expect, it } from 'vitest';
import { createTokens, KEY } from '../testing/tokens.ts';
import { createMemoryTokenStore } from './memory-token-store.ts';
import { testTokenStore } from './token-store-contract.ts';

testTokenStore('memory', () => {
  const store = createMemoryTokenStore();
  return { open: () => store };
});

it('two memory stores share nothing', async () => {
  await createMemoryTokenStore().write(KEY, createTokens('1'));
  expect(await createMemoryTokenStore().read(KEY)).toBeUndefined();
});
