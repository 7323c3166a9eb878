/**
 * Blocks of the configuration that name a client.
 *
 * @module
 */

import type { ClientBlock } from '@sallyport/client';

/** As `--block` names them. */
export const BLOCKS: readonly ClientBlock[] = [
  'admin',
  'union.auth',
  'executions.app.adminClient.connection',
];
