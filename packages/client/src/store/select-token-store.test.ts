import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { accept, refuse } from '@sallyport/protocol';
import { createTokens, KEY } from '@sallyport/testing/client/tokens';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { createFileTokenStore } from './file-token-store.ts';
import type { Keyring } from './keyring.ts';
import { selectTokenStore, type TokenStoreNotice } from './select-token-store.ts';

/** A keyring in memory that works or does not, and counts what it is asked. */
function createKeyring(works: boolean): Keyring & { readonly calls: string[] } {
  const items = new Map<string, string>();
  const calls: string[] = [];
  return {
    calls,
    itemMaxLength: 65_536,
    async read(account) {
      calls.push('read');
      return items.get(account);
    },
    async write(account, value) {
      calls.push('write');
      items.set(account, value);
    },
    async remove(account) {
      calls.push('remove');
      items.delete(account);
    },
    async probe() {
      calls.push('probe');
      return works ? accept(undefined) : refuse('no bus');
    },
    close: () => undefined,
  };
}

function setUp(works = true) {
  const folder = join(createTemporaryFolder(), 'tokens');
  const notices: TokenStoreNotice[] = [];
  const keyring = createKeyring(works);
  return {
    folder,
    notices,
    keyring,
    options: { folder, keyring, notice: (notice: TokenStoreNotice) => void notices.push(notice) },
  };
}

describe('selectTokenStore', () => {
  it.each([
    ['auto', true, 'keyring'],
    ['auto', false, 'file'],
    ['keyring', true, 'keyring'],
    ['file', true, 'file'],
    ['memory', true, 'memory'],
  ] as const)('%s, with a keyring that works: %s, is the %s store', async (choice, works, kind) => {
    const { options } = setUp(works);
    expect((await selectTokenStore(choice, options)).kind).toBe(kind);
  });

  it('a keyring that was chosen by name and does not work is an error, and no file instead', async () => {
    const { options, folder } = setUp(false);
    await expect(selectTokenStore('keyring', options)).rejects.toMatchObject({
      code: 'SP_TOKEN_STORE_UNUSABLE',
    });
    expect(existsSync(folder)).toBe(false);
  });

  it.each(['file', 'memory'] as const)('the choice %s never asks the keyring', async (choice) => {
    const { options, keyring } = setUp();
    const store = await selectTokenStore(choice, options);
    await store.write(KEY, createTokens('1'));
    await store.read(KEY);
    await store.remove(KEY);
    expect(keyring.calls).toEqual([]);
  });

  it('says once where tokens went, when they are written and not before', async () => {
    const { options, notices, folder } = setUp(false);
    const store = await selectTokenStore('auto', options);
    await store.read(KEY);
    expect(notices).toEqual([]);
    await store.write(KEY, createTokens('1'));
    await store.write(KEY, createTokens('2'));
    expect(notices).toEqual([
      {
        kind: 'file',
        message: `The tokens are kept in ${folder}, in files that only you can read. (This system has no keyring that can be used.)`,
      },
    ]);
  });

  it('auto finds the tokens of an earlier file, and moves on to the keyring with the next ones', async () => {
    const { options, folder } = setUp();
    await createFileTokenStore(folder).write(KEY, createTokens('1'));
    const store = await selectTokenStore('auto', options);
    expect(await store.read(KEY)).toEqual(createTokens('1'));
    await store.write(KEY, createTokens('2'));
    expect(readdirSync(folder)).toEqual([]);
    expect(await store.read(KEY)).toEqual(createTokens('2'));
  });

  it('auto removes both, so that no sign-in stays in the other', async () => {
    const { options, folder } = setUp();
    const store = await selectTokenStore('auto', options);
    await store.write(KEY, createTokens('1'));
    await createFileTokenStore(folder).write(KEY, createTokens('2'));
    await store.remove(KEY);
    expect(await store.read(KEY)).toBeUndefined();
  });
});
