import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askedAfter, type Watch } from '../../conformance/sessions/watch.ts';
import { expectRefusedSoon } from '../../conformance/wire/refused-soon.ts';
import { expectFailurePage } from '../../conformance/wire/sign-in.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import {
  forgetsSession,
  isSignedOut,
  otherStatuses,
  type SharedSessions,
  startSharedSessions,
  UNKNOWN_COOKIE,
  withOtherSecret,
} from './shared-sessions.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** What happens to Redis, and how that ends. */
interface Fault {
  readonly name: string;
  /** What can still be done: nothing; reading sessions; or ending them as well. */
  readonly leaves: 'nothing' | 'reading' | 'reading and ending';
  /** How long after it began a process may still admit who it remembers; a second when absent. */
  readonly noticedWithinMs?: number;
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

/** A remembered verdict counts without news of the log for 0.7 s; the rest is the machine's. */
const REMEMBERED_WITHIN_MS = 1_000;
/** A server that goes on to answer is looked at once a second. */
const LOOKED_AT_WITHIN_MS = 2_000;
/** A request waits for its answer for a second, twice in a row at worst. */
const ANSWERED_WITHIN_MS = 4_000;
const RECOVERED_WITHIN_MS = 5_000;
/** Answers that a watch has to have, for its end to say something. */
const ENOUGH = 10;
const SLOW_MS = 3_000;
const POLL = { interval: 20 };

describe.skipIf(REDIS.isLeftOut)('redis-server', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let shared: SharedSessions;
  beforeAll(async () => {
    // Before 7.2 Redis cannot be asked to wait for its disk: what it acknowledges has to be there by then.
    redis = await startRedis({ appendOnly: true, lines: ['appendfsync always'] });
    proxy = await startTcpProxy(redis.port);
    shared = await startSharedSessions({
      file: redisFile({ addresses: [`127.0.0.1:${proxy.port}`] }),
    });
  });
  afterAll(async () => {
    await shared.stop();
    await proxy.close();
    await redis.stop();
  });

  const set = (name: string, value: string) => redis.send('CONFIG', 'SET', name, value);
  const FAULTS: readonly Fault[] = [
    {
      name: 'restarted (SIGTERM)',
      leaves: 'nothing',
      begin: () => redis.shutDown(),
      end: () => redis.restart(),
    },
    {
      name: 'restarted (SIGKILL)',
      leaves: 'nothing',
      begin: () => redis.kill(),
      end: () => redis.restart(),
    },
    {
      name: 'standing still (SIGSTOP)',
      leaves: 'nothing',
      begin: () => redis.pause(),
      end: () => redis.resume(),
    },
    {
      name: 'gone from the network (refused)',
      leaves: 'nothing',
      begin() {
        proxy.refuse();
        proxy.cut();
      },
      end: () => proxy.admit(),
    },
    {
      name: 'gone from the network (silent)',
      leaves: 'nothing',
      begin() {
        proxy.refuse();
        proxy.hold();
      },
      async end() {
        await proxy.admit();
        proxy.release();
      },
    },
    {
      name: `slow by ${SLOW_MS / 1_000} s`,
      leaves: 'nothing',
      begin: () => proxy.delay(SLOW_MS),
      end: () => proxy.delay(0),
    },
    {
      name: 'read-only (READONLY)',
      leaves: 'nothing',
      noticedWithinMs: LOOKED_AT_WITHIN_MS,
      begin: () => redis.refuseWrites('READONLY'),
      end: () => redis.acceptWrites(),
    },
    {
      name: 'read-only (NOREPLICAS)',
      leaves: 'reading',
      begin: () => redis.refuseWrites('NOREPLICAS'),
      end: () => redis.acceptWrites(),
    },
    {
      name: 'full (maxmemory, noeviction)',
      leaves: 'reading and ending',
      begin: async () => void (await set('maxmemory', '1mb')),
      end: async () => void (await set('maxmemory', '0')),
    },
  ];

  describe.each(FAULTS)('Redis is $name', ({ leaves, noticedWithinMs, begin, end }) => {
    let remembered: string;
    let unremembered: string;
    let unused: string;
    let doomed: string;
    let ended: string;
    let watches: Readonly<Record<'remembered' | 'ended' | 'forged', readonly Watch[]>> = {
      remembered: [],
      ended: [],
      forged: [],
    };
    let acknowledgedAt = 0;
    let begunAt = 0;
    let endedAt = 0;
    const all = [0, 1];
    const statuses = (cookie: string): Promise<readonly number[]> =>
      Promise.all(all.map(async (index) => (await shared.me(index, cookie)).status));
    const isRefusedEverywhere = (cookie: string) => expectRefusedSoon(() => statuses(cookie));

    beforeAll(async () => {
      remembered = await shared.signIn();
      unremembered = await shared.signIn();
      unused = await shared.signIn();
      doomed = await shared.signIn();
      ended = await shared.signIn();
      for (const cookie of [remembered, ended]) expect(await statuses(cookie)).toEqual([200, 200]);
      const forged = [withOtherSecret(remembered), withOtherSecret(ended), UNKNOWN_COOKIE];
      const watchEverywhere = (cookie: string) =>
        Promise.all(all.map((index) => shared.watch(index, cookie)));
      watches = {
        remembered: await watchEverywhere(remembered),
        ended: await watchEverywhere(ended),
        forged: await Promise.all(forged.map((cookie, at) => shared.watch(at % 2, cookie))),
      };
      expect(isSignedOut(await shared.signOut(0, ended))).toBe(true);
      acknowledgedAt = performance.now();
      await begin();
      begunAt = performance.now();
    });
    afterAll(async () => {
      for (const each of Object.values(watches).flat()) await each.stop();
    });

    if (leaves === 'nothing') {
      it('answers 503 with Retry-After, whether the verdict was remembered or not', async () => {
        await expect
          .poll(() => statuses(remembered), { ...POLL, timeout: ANSWERED_WITHIN_MS })
          .toEqual([503, 503]);
        const answer = await shared.me(1, unremembered);
        expect(answer.status).toBe(503);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      });
    } else {
      it('admits a person with a session, whether the verdict was remembered or not', async () => {
        expect(await statuses(remembered)).toEqual([200, 200]);
        expect((await shared.me(1, unremembered)).status).toBe(200);
      });
    }

    if (leaves === 'reading and ending') {
      it('signs out', async () => {
        expect(isSignedOut(await shared.signOut(1, doomed))).toBe(true);
        expect((await shared.me(1, doomed)).status).toBe(401);
        await isRefusedEverywhere(doomed);
      });
    } else {
      it('acknowledges no sign-out: a page, and the cookie stays', async () => {
        const answer = await shared.signOut(1, doomed);
        expectFailurePage(answer, 'store_unavailable', 503);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
        expect(forgetsSession(answer)).toBe(false);
      });
    }

    it('begins no session: a page, and no cookie', async () => {
      const { received, hasBegun } = await shared.trySignIn();
      expectFailurePage(received, 'store_unavailable', 503);
      expect(hasBegun).toBe(false);
    });

    it(`is over within ${RECOVERED_WITHIN_MS / 1_000} s and without a restart: every session there is counts, and everything can be done`, async () => {
      endedAt = performance.now();
      await end();
      const patience = { ...POLL, timeout: RECOVERED_WITHIN_MS };
      await expect.poll(() => statuses(remembered), patience).toEqual([200, 200]);
      await expect.poll(() => statuses(unused), patience).toEqual([200, 200]);
      expect(await statuses(unremembered)).toEqual([200, 200]);
      await expect.poll(async () => (await shared.trySignIn()).hasBegun, patience).toBe(true);
      const signsOut = async () => isSignedOut(await shared.signOut(1, doomed));
      await expect.poll(signsOut, patience).toBe(true);
      await isRefusedEverywhere(doomed);
    });

    it('admitted at no moment a forged cookie, nor the session signed out right before', async () => {
      for (const { answers, more } of watches.forged) {
        await more(1);
        expect(answers.length).toBeGreaterThan(1);
        expect(otherStatuses(answers, [401, 503])).toEqual([]);
      }
      for (const [index, { answers }] of watches.ended.entries()) {
        const since = acknowledgedAt + (index === 0 ? 0 : REMEMBERED_WITHIN_MS);
        const later = () => askedAfter(answers, since);
        await expect.poll(() => later().length).toBeGreaterThan(ENOUGH);
        expect(otherStatuses(later(), [401, 503])).toEqual([]);
        expect(answers.at(-1)?.status).toBe(401);
      }
    });

    it('ended no session, and admitted none for longer than a moment without asking', () => {
      const until = begunAt + (noticedWithinMs ?? REMEMBERED_WITHIN_MS);
      for (const { answers } of watches.remembered) {
        expect(otherStatuses(answers, [200, 503])).toEqual([]);
        expect(answers.at(-1)?.status).toBe(200);
        const undecided = answers.filter(({ status }) => status === 503);
        const hasRetryAfter = undecided.map(({ headers }) => Number(headers['retry-after']) >= 1);
        expect(hasRetryAfter).not.toContain(false);
        const during = askedAfter(answers, until).filter(({ at }) => at < endedAt);
        expect(otherStatuses(during, [leaves === 'nothing' ? 503 : 200])).toEqual([]);
        if (leaves === 'nothing') expect(undecided.length).toBeGreaterThan(0);
      }
    });
  });

  describe('Redis has lost everything (FLUSHALL)', () => {
    it('is noticed within 2 s, also by processes that remember verdicts: no session is admitted any more, and new sign-ins succeed', async () => {
      const cookie = await shared.signIn();
      const watches = [await shared.watch(0, cookie), await shared.watch(1, cookie)];
      await Promise.all(watches.map(({ more }) => more(ENOUGH)));
      await redis.send('FLUSHALL');
      const lostAt = performance.now();
      await expect
        .poll(() => watches.map(({ answers }) => answers.at(-1)?.status))
        .toEqual([401, 401]);
      await Promise.all(watches.map(({ more }) => more(ENOUGH)));
      await Promise.all(watches.map(({ stop }) => stop()));
      for (const { answers } of watches) {
        expect(otherStatuses(answers, [200, 401])).toEqual([]);
        expect(otherStatuses(askedAfter(answers, lostAt + LOOKED_AT_WITHIN_MS), [401])).toEqual([]);
      }
      expect((await shared.trySignIn()).hasBegun).toBe(true);
    });
  });
});
