/**
 * Tokens in files of the user's own.
 *
 * @module
 */

import { join } from 'node:path';
import type { TokenKey, TokenStore } from '../token-store.ts';
import {
  hasPrivateFolder,
  openPrivateFolder,
  readPrivateFile,
  removePrivateFile,
  writePrivateFile,
} from './private-folder.ts';
import { tokenKeyId } from './token-key-id.ts';
import { parseTokenRecord, serializeTokenRecord } from './token-record.ts';

/**
 * Creates a store of one file a key, mode 0600 in a folder of mode 0700.
 *
 * The tokens are not encrypted: a key beside them would protect nothing. A person who can read the user's
 * files can use them, as with an SSH key without a passphrase.
 *
 * @param folder - Absolute; made when first written to.
 *
 * @returns A store whose calls reject with `SP_TOKEN_STORE_UNUSABLE` when the folder or the file is
 *   a symbolic link, another user's, or open to group or others; the message says what mends it.
 */
export function createFileTokenStore(folder: string): TokenStore {
  const pathOf = (key: TokenKey): string => join(folder, `${tokenKeyId(key)}.json`);
  return {
    kind: 'file',
    async read(key) {
      if (!hasPrivateFolder(folder)) return undefined;
      const record = readPrivateFile(pathOf(key));
      return record === undefined ? undefined : parseTokenRecord(record);
    },
    async write(key, tokens) {
      openPrivateFolder(folder);
      writePrivateFile(pathOf(key), serializeTokenRecord(tokens));
    },
    async remove(key) {
      if (hasPrivateFolder(folder)) removePrivateFile(pathOf(key));
    },
  };
}
