/**
 * Tokens in the operating system's keyring.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TokenStore } from '../token-store.ts';
import type { Keyring } from './keyring.ts';
import {
  hasPrivateFolder,
  openPrivateFolder,
  readPrivateFile,
  removePrivateFile,
  writePrivateFile,
} from './private-folder.ts';
import { openRecord, sealRecord } from './seal-record.ts';
import { tokenKeyId } from './token-key-id.ts';
import { parseTokenRecord, serializeTokenRecord } from './token-record.ts';

/** What {@link createKeyringTokenStore} needs. */
export interface KeyringTokenStoreOptions {
  readonly keyring: Keyring;
  /** Absolute; used only for tokens that an item cannot hold. */
  readonly folder: string;
}

/** The item that stands for a sealed file. */
const SEALED_ITEM = /^sealed 1 ([0-9a-f]{16}) ([A-Za-z0-9_-]{43})$/;

/**
 * Creates a store of one keyring item a key, with everything in it: each further item would be
 * another prompt on some systems.
 *
 * Tokens larger than an item can hold are sealed in a file, with a new random key in the item each
 * time. The file has a new name each time too: until the item is replaced the old pair still opens,
 * so that a write happens completely or not at all.
 *
 * @returns A store whose calls reject with `SP_TOKEN_STORE_UNUSABLE` when the keyring fails.
 */
export function createKeyringTokenStore(options: KeyringTokenStoreOptions): TokenStore {
  const { keyring, folder } = options;
  let last: Promise<unknown> = Promise.resolve();
  return {
    kind: 'keyring',
    async read(key) {
      const id = tokenKeyId(key);
      const item = await keyring.read(id);
      if (item === undefined) return undefined;
      const [, name, sealingKey] = SEALED_ITEM.exec(item) ?? [];
      if (name === undefined || sealingKey === undefined) return parseTokenRecord(item);
      if (!hasPrivateFolder(folder)) return undefined;
      const sealed = readPrivateFile(sealedPath(id, name));
      if (sealed === undefined) return undefined;
      const record = openRecord({ sealed, key: sealingKey }, id);
      return record === undefined ? undefined : parseTokenRecord(record);
    },
    write: (key, tokens) => inTurn(() => write(tokenKeyId(key), serializeTokenRecord(tokens))),
    remove: (key) =>
      inTurn(async () => {
        await keyring.remove(tokenKeyId(key));
        removeSealed(tokenKeyId(key), undefined);
      }),
  };

  /** Between its two steps a write must not lose its file to another one. */
  function inTurn(change: () => Promise<void>): Promise<void> {
    const changed = last.then(change);
    last = changed.catch(() => undefined);
    return changed;
  }

  async function write(id: string, record: string): Promise<void> {
    if (record.length <= keyring.itemMaxLength) {
      await keyring.write(id, record);
      removeSealed(id, undefined);
      return;
    }
    const { sealed, key } = sealRecord(record, id);
    const name = randomBytes(8).toString('hex');
    openPrivateFolder(folder);
    writePrivateFile(sealedPath(id, name), sealed);
    await keyring.write(id, `sealed 1 ${name} ${key}`);
    removeSealed(id, name);
  }

  function sealedPath(id: string, name: string): string {
    return join(folder, `${id}.${name}.sealed`);
  }

  /** Their key is gone: files that cannot be removed are useless to an attacker. */
  function removeSealed(id: string, kept: string | undefined): void {
    let entries: string[];
    try {
      entries = readdirSync(folder);
    } catch {
      return;
    }
    for (const entry of entries) {
      if (!entry.startsWith(`${id}.`) || !entry.endsWith('.sealed')) continue;
      if (entry !== `${id}.${kept}.sealed`) removePrivateFile(join(folder, entry));
    }
  }
}
