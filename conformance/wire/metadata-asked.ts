/**
 * Letting time pass until a process asks its IdP for the metadata again.
 *
 * @module
 */

import type { FakeIdp } from '@sallyport/testing/idp/fake-idp';
import type { MovedClock } from './moved-clock.ts';

const SECOND_MS = 1_000;

/**
 * Moves the clock by seconds until the metadata is asked for; returns how many that were.
 *
 * @param clock - Followed by the process, timers too.
 */
export async function untilMetadataIsAsked(clock: MovedClock, idp: FakeIdp): Promise<number> {
  let isAsked = false;
  const note = () => {
    isAsked = true;
  };
  void idp.nextRequest('/.well-known/openid-configuration').then(note);
  const begun = clock.now();
  while (!isAsked) await clock.advance(SECOND_MS);
  return (clock.now() - begun) / SECOND_MS;
}

/**
 * Has the IdP show other metadata, and lets time pass until the process has read it: it asks once more then.
 *
 * @param clock - Followed by the process, timers too.
 */
export async function showMetadata(
  clock: MovedClock,
  idp: FakeIdp,
  metadata: Readonly<Record<string, unknown>>,
): Promise<void> {
  idp.metadata = metadata;
  await untilMetadataIsAsked(clock, idp);
  await untilMetadataIsAsked(clock, idp);
}
