/**
 * A token source that counts, for tests of what attaches tokens.
 *
 * @module
 */

import { accept } from '@sallyport/protocol';
import { createTokenSource } from '../../../client/src/source/create-token-source.ts';
import type { TokenSource } from '../../../client/src/token-source.ts';
import { Clock } from '../time/clock.ts';
import { createTokens, KEY } from './tokens.ts';

/** A source of numbered tokens `access-1`, `access-2`, …, and how many it has obtained. */
export function createCountingSource(): { source: TokenSource; obtained: () => number } {
  const clock = new Clock();
  let count = 0;
  const source = createTokenSource({
    key: KEY,
    now: clock.now,
    grant: {
      kind: 'client_credentials',
      isInteractive: false,
      obtain: async () => {
        count += 1;
        return accept(createTokens(String(count), { refreshToken: undefined }));
      },
    },
  });
  return { source, obtained: () => count };
}
