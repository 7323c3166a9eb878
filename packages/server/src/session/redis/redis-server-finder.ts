/**
 * Port: which server is ours, in whatever way it has to be found.
 *
 * @module
 */

import type { RedisAddress } from './redis-connection.ts';

/** Finds the server that all commands go to. */
export interface ServerFinder {
  /** Whether it may become another one without a sign from the server in use. */
  readonly watches: boolean;
  /** @throws {SallyportError} `SP_STORE_UNAVAILABLE` when the server in use is not known. */
  find(): Promise<RedisAddress>;
  close(): void;
}
