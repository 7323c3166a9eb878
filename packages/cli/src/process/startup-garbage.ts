/**
 * What loading and starting leaves behind, given back before it is idle.
 *
 * @module
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Schedule } from '@sallyport/server';

/** By then a service has read metadata and keys of its issuers, where these answer. */
const AFTER_MS = 2_000;

type Collect = (terms: {
  readonly type: 'major';
  readonly execution: 'sync';
  readonly flavor: 'last-resort';
}) => void;

/**
 * Collects once, soon after the start, what the process does not need any more. The runtime by itself waits for a load
 * that an idle service never sees: it keeps three to eight megabytes. One request at most waits for some 30 ms.
 *
 * @returns Takes it back, if it is not done yet.
 */
export function collectStartupGarbage(schedule: Schedule): () => void {
  return schedule(AFTER_MS, () => {
    // The collector is a function of contexts that are made while the flag is set: no other code gets it.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as Collect;
    setFlagsFromString('--no-expose-gc');
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  });
}
