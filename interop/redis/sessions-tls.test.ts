import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { OPENSSL } from './certificates.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { startRedis } from './redis-server.ts';
import { expectWorks, startSharedSessions } from './shared-sessions.ts';

const PASSWORD = 'p w:@/ä of a user';

describe.skipIf(REDIS.isLeftOut || OPENSSL.isLeftOut)('redis-server, openssl', () => {
  it('TLS with certificates on both ends, and a user with the documented rights alone: a session in two processes', async () => {
    const page = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8');
    const [, rules = ''] = /^user sallyport on \S+ (~\{sallyport\}:\* .*)$/m.exec(page) ?? [];
    const redis = await startRedis({
      appendOnly: true,
      tls: 'mutual',
      user: { name: 'sallyport', password: PASSWORD, rules },
    });
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const passwordLocation = join(folder.path, 'password');
    writeFileSync(passwordLocation, PASSWORD, { mode: 0o600 });
    const { caFile, client } = redis.access;
    const shared = await startSharedSessions({
      file: redisFile({
        addresses: [`localhost:${redis.port}`],
        username: 'sallyport',
        passwordLocation,
        tls: { enabled: true, caFile, ...client },
      }),
    });
    onTestFinished(() => shared.stop());
    await expectWorks(shared);
    // No command was refused: the Redis user had every right that it needed.
    expect(shared.running(0).stderr() + shared.running(1).stderr()).not.toContain('"error"');
    expect(await redis.send('ACL', 'LOG')).toEqual([]);
  });
});
