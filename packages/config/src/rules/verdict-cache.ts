/**
 * What keeping verdicts costs, and the least that can be kept.
 *
 * @module
 */

import { formatDuration } from '@sallyport/protocol';
import { describeFound } from '../problems.ts';
import type { Rule } from './rule.ts';

const KEY = 'doors.me.verdictCache';
/** nginx counts whole seconds from the one it is in: what it keeps for one lasts for up to two. */
const LEAST_MS = 2_000;

/** The time is long enough for nginx, which counts whole seconds; any time gives a warning that names the price. */
export const VERDICT_CACHE_RULE: Rule = {
  keys: [KEY],
  check: ({ config }) => {
    const { verdictCacheMs } = config.doors.me;
    if (verdictCacheMs === 0) return [];
    const given = formatDuration(verdictCacheMs);
    const found = describeFound(given);
    return verdictCacheMs < LEAST_MS
      ? [{ key: KEY, found, expected: '0s, or 2s to 5s: nginx counts whole seconds' }]
      : [
          {
            key: KEY,
            found,
            expected: `0s, unless an ended session may go on reading for ${given}: nginx is allowed to keep its verdict`,
            isWarning: true,
          },
        ];
  },
};
