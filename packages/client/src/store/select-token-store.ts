/**
 * Which store tokens are kept in.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { TokenStore } from '../token-store.ts';
import { createFileTokenStore } from './file-token-store.ts';
import type { Keyring } from './keyring.ts';
import { createKeyringTokenStore } from './keyring-token-store.ts';
import { createMemoryTokenStore } from './memory-token-store.ts';
import { createOsKeyring } from './os-keyring.ts';

/** What a person can choose; `auto` is the keyring where it works and the file elsewhere. */
export type TokenStoreChoice = 'auto' | 'keyring' | 'file' | 'memory';

/** Where tokens went, to be said to a person. */
export interface TokenStoreNotice {
  readonly kind: TokenStore['kind'];
  /** One sentence. */
  readonly message: string;
}

/** What {@link selectTokenStore} needs. */
export interface SelectTokenStoreOptions {
  /** Absolute; where the file store keeps its files. */
  readonly folder: string;
  /** Hears where tokens went when they are first written, and of nothing else. */
  readonly notice: (notice: TokenStoreNotice) => void;
  /** The system's keyring when absent. One for the whole process, which remembers whether it works. */
  readonly keyring?: Keyring;
}

/**
 * Opens the chosen store. The caller MUST NOT call it before a token is needed: the keyring is tried
 * here, and on some systems that asks a person.
 *
 * With `auto` and a keyring that works, tokens of an earlier file are still found, and are removed
 * from it when they are written or removed.
 *
 * @throws {SallyportError} `SP_TOKEN_STORE_UNUSABLE` when `keyring` was chosen and does not work.
 */
export async function selectTokenStore(
  choice: TokenStoreChoice,
  options: SelectTokenStoreOptions,
): Promise<TokenStore> {
  const { folder, notice } = options;
  if (choice === 'memory')
    return withNotice(
      createMemoryTokenStore(),
      notice,
      'The tokens are kept until this program ends.',
    );
  const file = createFileTokenStore(folder);
  const inFile = `The tokens are kept in ${folder}, in files that only you can read.`;
  if (choice === 'file') return withNotice(file, notice, inFile);

  const keyring = options.keyring ?? createOsKeyring();
  const probed = await keyring.probe();
  if (probed.ok) {
    const inKeyring = createKeyringTokenStore({ keyring, folder });
    const store = choice === 'auto' ? inPlaceOf(file, inKeyring) : inKeyring;
    return withNotice(store, notice, 'The tokens are kept in the keyring of this system.');
  }
  if (choice === 'auto')
    return withNotice(file, notice, `${inFile} (This system has no keyring that can be used.)`);
  throw new SallyportError('SP_TOKEN_STORE_UNUSABLE', {
    component: 'token-store:keyring',
    detail: `the keyring cannot be used (${probed.error}); unlock it, or choose the file store`,
  });
}

/** The keyring was not always there: by SSH, for one, it may not be. */
function inPlaceOf(earlier: TokenStore, store: TokenStore): TokenStore {
  return {
    kind: store.kind,
    read: async (key) => (await store.read(key)) ?? (await earlier.read(key)),
    async write(key, tokens) {
      await store.write(key, tokens);
      await earlier.remove(key);
    },
    async remove(key) {
      await store.remove(key);
      await earlier.remove(key);
    },
  };
}

function withNotice(
  store: TokenStore,
  notice: (notice: TokenStoreNotice) => void,
  message: string,
): TokenStore {
  let isSaid = false;
  return {
    kind: store.kind,
    read: (key) => store.read(key),
    remove: (key) => store.remove(key),
    async write(key, tokens) {
      await store.write(key, tokens);
      if (isSaid) return;
      isSaid = true;
      notice({ kind: store.kind, message });
    },
  };
}
