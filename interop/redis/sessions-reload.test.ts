import { describe, expect, it, onTestFinished } from 'vitest';
import { expectRefusedSoon } from '../../conformance/wire/refused-soon.ts';
import { logOf, PATIENCE } from '../../conformance/wire/workers.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { startRedis } from './redis-server.ts';
import { startSharedSessions } from './shared-sessions.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server: a reload', () => {
  it('keeps the connections to Redis, the sessions in it, and hears at once of what ends elsewhere', async () => {
    const redis = await startRedis({ appendOnly: true });
    onTestFinished(() => redis.stop());
    const shared = await startSharedSessions({
      file: redisFile({ addresses: [`127.0.0.1:${redis.port}`] }),
    });
    onTestFinished(() => shared.stop());
    const [kept, ended] = [await shared.signIn(), await shared.signIn()];
    const loaded = () =>
      logOf(shared.running(0)).filter(({ event }) => event === 'configuration_loaded').length;
    for (let count = 2; count <= 4; count += 1) {
      process.kill(shared.running(0).pid, 'SIGHUP');
      await expect.poll(loaded, PATIENCE).toBe(count);
      for (const cookie of [kept, ended]) expect((await shared.me(0, cookie)).status).toBe(200);
    }
    await shared.signOut(1, ended);
    await expectRefusedSoon(async () => [(await shared.me(0, ended)).status]);
    expect((await shared.me(0, kept)).status).toBe(200);
    expect(shared.running(0).stderr()).not.toMatch(/store_unavailable|SP_STORE/);
  });
});
