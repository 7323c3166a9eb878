/**
 * Requests of which each reads its session from the store.
 *
 * @module
 */

import { exchange } from '../../conformance/wire/exchange.ts';
import type { Load } from '../load/wrk.ts';
import type { Sallyport } from '../servers/sallyport.ts';

/** More than the process remembers: nothing else is remembered after them, unless it is shown twice in a row. */
export const REMEMBERED = 12_000;
/** Of requests whose session was read from the store: a few more or less are under way as one counts. */
const READ_SHARE = 0.99;
const READS =
  /^sallyport_store_operation_duration_seconds_count\{operation="read_metadata"\} (\d+)$/m;

/** Loads it, and looks into the metrics. @throws When requests of the load did not read their session. */
export async function assertCold(sallyport: Sallyport, load: () => Promise<Load>): Promise<void> {
  const before = await countReads(sallyport);
  const { requests } = await load();
  const reads = (await countReads(sallyport)) - before;
  if (reads < READ_SHARE * requests)
    throw new Error(`of ${requests} requests only ${reads} read their session`);
}

/** How many sessions the process has read from its store so far, by its metrics. */
async function countReads({ metricsUrl }: Sallyport): Promise<number> {
  const { body } = await exchange(metricsUrl);
  const found = READS.exec(body)?.[1];
  if (found === undefined) throw new Error('the metrics do not show how many sessions were read');
  return Number(found);
}
