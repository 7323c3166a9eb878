import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { createStoredSession } from '@sallyport/testing/store-contracts/session-store-contract';
import { Clock } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalSessionStore } from './local-session-store.ts';

/** Two processes of one machine, one of which has looked at the log once. */
async function openTwo() {
  const clock = new Clock();
  const path = join(createTemporaryFolder(), 'sessions.sqlite');
  const open = () => createLocalSessionStore({ path, now: clock.now, monotonicNow: clock.now });
  const [reader, other] = [open(), open()];
  onTestFinished(() => {
    reader.close();
    other.close();
  });
  await other.create(createStoredSession(1), undefined);
  reader.revocations();
  return { clock, reader, other };
}

describe('the revocation log', () => {
  it('is read every 250 ms, and not at every request', async () => {
    const { clock, reader, other } = await openTwo();
    await other.revoke(1);
    clock.advance(249);
    expect(reader.revocations().sessions).toEqual([]);
    clock.advance(1);
    expect(reader.revocations().sessions).toEqual([1]);
  });

  it('is read at once when the clock was set back', async () => {
    const { clock, reader, other } = await openTwo();
    await other.revoke(1);
    clock.advance(-3_600_000);
    expect(reader.revocations().sessions).toEqual([1]);
  });
});
