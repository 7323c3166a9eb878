/**
 * Tokens that end with the process.
 *
 * @module
 */

import type { TokenStore } from '../token-store.ts';
import { tokenKeyId } from './token-key-id.ts';
import { parseTokenRecord, serializeTokenRecord } from './token-record.ts';

/** Creates a store that forgets everything when the process ends, and shares nothing with others. */
export function createMemoryTokenStore(): TokenStore {
  const recordById = new Map<string, string>();
  return {
    kind: 'memory',
    async read(key) {
      const record = recordById.get(tokenKeyId(key));
      return record === undefined ? undefined : parseTokenRecord(record);
    },
    async write(key, tokens) {
      recordById.set(tokenKeyId(key), serializeTokenRecord(tokens));
    },
    async remove(key) {
      recordById.delete(tokenKeyId(key));
    },
  };
}
