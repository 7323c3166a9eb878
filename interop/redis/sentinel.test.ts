import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REDIS } from './redis-process.ts';
import { type SentinelGroup, startSentinelGroup } from './sentinel.ts';

describe.skipIf(REDIS.isLeftOut)('redis-server: a group that sentinels watch', () => {
  let group: SentinelGroup;
  beforeAll(async () => {
    group = await startSentinelGroup({ password: 'secret of a group' });
  });
  afterAll(() => group.stop());

  it('has the master that was started as one, and copies what it is given', async () => {
    const master = await group.currentMaster();
    expect(master).toBe(group.servers[0]);
    expect(group.sentinels).toHaveLength(3);
    await master.send('SET', 'a', '1');
    await expect.poll(() => group.servers[2]?.send('GET', 'a'), { timeout: 10_000 }).toBe('1');
  });

  it('elects another master when its own is killed, which has the data and takes writes', async () => {
    const old = await group.currentMaster();
    await old.send('SET', 'kept', 'yes');
    await old.send('WAIT', '2', '10000');
    const elected = await group.failover();
    expect(elected).not.toBe(old);
    expect(await group.currentMaster()).toBe(elected);
    expect(await elected.send('GET', 'kept')).toBe('yes');
    expect(await elected.send('SET', 'b', '2')).toBe('OK');
  });

  it('takes the old master back as a replica', async () => {
    const elected = await group.currentMaster();
    const old = group.servers[0];
    expect(elected).not.toBe(old);
    await old?.restart();
    // Whichever that is by now.
    const isFollower = async () => {
      const { port } = await group.currentMaster();
      return String(await old?.send('ROLE')).startsWith(`slave,127.0.0.1,${port},`);
    };
    await expect.poll(isFollower, { timeout: 60_000, interval: 200 }).toBe(true);
  });
});
