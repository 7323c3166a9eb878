import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectDone,
  expectFailed,
  expectInvalid,
  forgeLogoutToken,
  nextPerson,
  sendLogoutToken,
  signInAs,
} from '../../conformance/wire/logout-token.ts';
import { type Service, startService } from '../../conformance/wire/platform.ts';
import { askMe } from '../../conformance/wire/sign-in.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

describe.skipIf(REDIS.isLeftOut)(
  'redis-server: a logout token that arrives while Redis is down',
  () => {
    let redis: RedisServer;
    let service: Service;
    beforeAll(async () => {
      redis = await startRedis({ appendOnly: true });
      service = await startService({}, [], {}, undefined, [
        ...redisFile({ addresses: [`127.0.0.1:${redis.port}`] }),
      ]);
    });
    afterAll(async () => {
      await service.stop();
      await redis.stop();
    });

    it('fails with 400 and Retry-After, and is carried out once Redis is back, without being sent again', async () => {
      const [one, other] = [nextPerson(), nextPerson()];
      const ended = await signInAs(service, one.sub, one.sid);
      const standing = await signInAs(service, other.sub, other.sid);
      const token = await forgeLogoutToken(service.idp, { claims: one });
      await redis.shutDown();
      expectFailed(await sendLogoutToken(service.url, token));
      await expect.poll(() => askMe(service, ended), { timeout: 10_000 }).toBe(503);
      await redis.restart();
      await expect.poll(() => askMe(service, standing), { timeout: 20_000 }).toBe(200);
      await expect.poll(() => askMe(service, ended), { timeout: 10_000 }).toBe(401);
      expect(await askMe(service, standing)).toBe(200);
      expectDone(await sendLogoutToken(service.url, token));
      expectInvalid(await sendLogoutToken(service.url, token));
    });
  },
);
