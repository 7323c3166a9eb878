/**
 * What the address of the service is configured by.
 *
 * @module
 */

import type { ListenKeys } from '@sallyport/server/listener';

/** For messages; flags and environment variables stand for these keys. */
export const LISTEN_KEYS: Required<ListenKeys> = { host: 'listen.host', port: 'listen.port' };
