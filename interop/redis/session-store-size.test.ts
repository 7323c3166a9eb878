import { randomBytes } from 'node:crypto';
import { createStoredSession } from '@sallyport/testing/store-contracts/session-store-contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { open } from './opened-store.ts';
import { REDIS } from './redis-process.ts';
import { startRedis } from './redis-server.ts';

const SESSIONS = 50_000;
const AT_A_TIME = 50;

describe.skipIf(REDIS.isLeftOut)('redis-server: the size of sessions', () => {
  it('of 50,000 people is at most one and a half times that of their sealed parts', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const { store } = await open(server.port, { allowWithoutAppendOnlyFile: true });
    const before = await server.usedMemory();
    let sealedBytes = 0;
    for (let from = 1; from <= SESSIONS; from += AT_A_TIME) {
      const some = Array.from({ length: AT_A_TIME }, (_, index) => {
        const now = Date.now();
        const metadata = new Uint8Array(randomBytes(700 + (index % 64)));
        const tokens = new Uint8Array(randomBytes(1_300));
        sealedBytes += metadata.length + tokens.length;
        return createStoredSession(from + index, {
          metadata,
          tokens,
          lastUsedAt: now,
          absoluteEnd: now + 604_800_000,
          principalKey: new Uint8Array(randomBytes(16)),
          sidKey: new Uint8Array(randomBytes(16)),
        });
      });
      await Promise.all(some.map((session) => store.create(session, undefined)));
    }
    const ratio = ((await server.usedMemory()) - before) / sealedBytes;
    expect(sealedBytes / SESSIONS).toBeGreaterThan(2_000);
    expect(ratio).toBeLessThanOrEqual(1.5);
    // Nothing was lost on the way, which would be the cheapest of all.
    expect(await server.send('DBSIZE')).toBeGreaterThan(SESSIONS);
  });
});
