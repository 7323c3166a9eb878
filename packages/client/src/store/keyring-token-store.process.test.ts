import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTokens, KEY } from '@sallyport/testing/client/tokens';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { testTokenStore } from '@sallyport/testing/store-contracts/token-store-contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TokenStore } from '../token-store.ts';
import type { Keyring } from './keyring.ts';
import { createKeyringTokenStore } from './keyring-token-store.ts';
import { createOsKeyring } from './os-keyring.ts';
import { tokenKeyId } from './token-key-id.ts';

/** A store on a keyring module, one process beside for all that the test opens. */
function open(module: string, itemMaxLength = 65_536): () => TokenStore {
  const folder = join(createTemporaryFolder(), 'tokens');
  const keyring = createOsKeyring({ module, itemMaxLength });
  onTestFinished(() => keyring.close());
  return () => createKeyringTokenStore({ keyring, folder });
}

function fakeModule(): string {
  const module = new URL('../../../testing/src/client/fake-keyring.ts', import.meta.url);
  module.searchParams.set('state', join(createTemporaryFolder(), 'keyring.json'));
  return module.href;
}

testTokenStore('keyring, everything in the item', () => ({ open: open(fakeModule()) }));
testTokenStore('keyring of small items, the tokens sealed in a file', () => ({
  open: open(fakeModule(), 120),
}));

/** Items in memory, with a switch that makes it fail. */
function createItems(itemMaxLength: number) {
  const items = new Map<string, string>();
  const fails = { write: false };
  const keyring: Keyring = {
    itemMaxLength,
    read: async (account) => items.get(account),
    async write(account, value) {
      if (fails.write) throw new Error('locked');
      items.set(account, value);
    },
    async remove(account) {
      items.delete(account);
    },
    probe: async () => ({ ok: true, value: undefined }),
    close: () => undefined,
  };
  const folder = join(createTemporaryFolder(), 'tokens');
  return { items, fails, folder, store: createKeyringTokenStore({ keyring, folder }) };
}

describe('Keyring token store', () => {
  it('has one item for both tokens, and no file when the item holds them', async () => {
    const { items, folder, store } = createItems(65_536);
    await store.write(KEY, createTokens('1'));
    expect([...items.keys()]).toEqual([tokenKeyId(KEY)]);
    expect(() => readdirSync(folder)).toThrow('ENOENT');
  });

  it('neither the item nor the file holds a token in clear when the item is too small', async () => {
    const { items, folder, store } = createItems(120);
    await store.write(KEY, createTokens('canary'));
    const [entry = ''] = readdirSync(folder);
    const [item = ''] = items.values();
    expect(item.length).toBeLessThan(120);
    expect(item + readFileSync(join(folder, entry), 'utf8')).not.toContain('canary');
    expect(await store.read(KEY)).toEqual(createTokens('canary'));
  });

  it('keeps the old tokens when the keyring does not take the new key', async () => {
    const { fails, store } = createItems(120);
    await store.write(KEY, createTokens('1'));
    fails.write = true;
    await expect(store.write(KEY, createTokens('2'))).rejects.toThrow('locked');
    expect(await store.read(KEY)).toEqual(createTokens('1'));
  });

  it('seals under a new key each time and leaves no older file', async () => {
    const { items, folder, store } = createItems(120);
    await store.write(KEY, createTokens('1'));
    const [first] = items.values();
    await store.write(KEY, createTokens('1'));
    expect([...items.values()]).not.toEqual([first]);
    expect(readdirSync(folder)).toHaveLength(1);
    await store.remove(KEY);
    expect(readdirSync(folder)).toHaveLength(0);
  });

  it('a sealed file that is gone, changed or put under another key counts as none', async () => {
    const { items, folder, store } = createItems(120);
    await store.write(KEY, createTokens('1'));
    const [entry = ''] = readdirSync(folder);
    const sealed = readFileSync(join(folder, entry), 'utf8');
    const changed = `${sealed.slice(0, -4)}${sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    writeFileSync(join(folder, entry), changed);
    expect(await store.read(KEY)).toBeUndefined();
    writeFileSync(join(folder, entry), '');
    expect(await store.read(KEY)).toBeUndefined();

    const other = { ...KEY, audience: 'other' };
    writeFileSync(join(folder, entry.replace(tokenKeyId(KEY), tokenKeyId(other))), sealed, {
      mode: 0o600,
    });
    items.set(tokenKeyId(other), items.get(tokenKeyId(KEY)) ?? '');
    expect(await store.read(other)).toBeUndefined();
  });

  it('an item that holds something else counts as none', async () => {
    const { items, store } = createItems(65_536);
    items.set(tokenKeyId(KEY), 'hello');
    expect(await store.read(KEY)).toBeUndefined();
  });
});
