import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { askedAfter, type Watch } from '../../conformance/sessions/watch.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { expectRefusedSoon } from '../../conformance/wire/refused-soon.ts';
import { expectFailurePage } from '../../conformance/wire/sign-in.ts';
import { sendOnce } from './raw-client.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import type { RedisServer } from './redis-server.ts';
import { type SentinelGroup, startSentinelGroup } from './sentinel.ts';
import {
  forgetsSession,
  isSignedOut,
  otherStatuses,
  type SharedSessions,
  startSharedSessions,
  withOtherSecret,
} from './shared-sessions.ts';

/** After another master was elected; each process asks the sentinels once a second. */
const RECOVERED_WITHIN_MS = 5_000;
const SEEN_WITHIN_MS = 1_000;
const POLL = { interval: 20 };
/** Answers that a watch has to have, for its end to say something: some seconds' worth. */
const ENOUGH = 60;
const ALL = [0, 1];
const PASSWORD = 'password of a group';

describe.skipIf(REDIS.isLeftOut)('redis-server: sessions in a group that sentinels watch', () => {
  let passwords: ReturnType<typeof temporaryFolder>;
  let group: SentinelGroup;
  let shared: SharedSessions;
  let watches: Watch[] = [];
  const statuses = (cookie: string): Promise<readonly number[]> =>
    Promise.all(ALL.map(async (index) => (await shared.me(index, cookie)).status));
  const admittedEverywhere = (cookie: string, timeout: number) =>
    expect.poll(() => statuses(cookie), { ...POLL, timeout }).toEqual([200, 200]);
  const refusedEverywhere = (cookie: string) => expectRefusedSoon(() => statuses(cookie));
  /** Signs out, as soon as that is possible again. */
  const signedOut = (index: number, cookie: string) => {
    const signOut = async () => isSignedOut(await shared.signOut(index, cookie));
    return expect.poll(signOut, { ...POLL, timeout: RECOVERED_WITHIN_MS }).toBe(true);
  };
  /** Signs a person in, as soon as that is possible again. */
  const signedIn = () =>
    vi.waitFor(() => shared.signIn(), { ...POLL, timeout: RECOVERED_WITHIN_MS });
  const watchEverywhere = async (cookie: string): Promise<readonly Watch[]> => {
    const begun = await Promise.all(ALL.map((index) => shared.watch(index, cookie)));
    watches.push(...begun);
    return begun;
  };

  /** Resolves when each has had so many answers more. */
  const seenByAll = (kept: readonly Watch[]) => Promise.all(kept.map(({ more }) => more(ENOUGH)));

  beforeAll(async () => {
    passwords = temporaryFolder();
    const passwordLocation = join(passwords.path, 'redis');
    writeFileSync(passwordLocation, PASSWORD, { mode: 0o600 });
    group = await startSentinelGroup({ password: PASSWORD, appendOnly: true });
    shared = await startSharedSessions({
      file: redisFile({
        mode: 'sentinel',
        sentinelMaster: group.name,
        addresses: group.sentinels.map(({ host, port }) => `${host}:${port}`),
        passwordLocation,
      }),
    });
  });
  afterEach(async () => {
    await Promise.all(watches.map((each) => each.stop()));
    watches = [];
  });
  afterAll(async () => {
    await shared.stop();
    await group.stop();
    passwords.remove();
  });

  it('admits in every process who signed in at one, until they sign out at the other', async () => {
    const cookie = await shared.signIn();
    expect(await statuses(cookie)).toEqual([200, 200]);
    expect(await statuses(withOtherSecret(cookie))).toEqual([401, 401]);
    expect(isSignedOut(await shared.signOut(1, cookie))).toBe(true);
    expect((await shared.me(1, cookie)).status).toBe(401);
    await refusedEverywhere(cookie);
  });

  it('acknowledges no sign-out that no replica has: an error page, the cookie stays, and all sessions are admitted', async () => {
    const [cookie, other] = [await shared.signIn(), await shared.signIn()];
    const master = await group.currentMaster();
    const replicas = group.servers.filter((server) => server !== master);
    for (const replica of replicas) replica.pause();
    const answer = await shared.signOut(0, cookie);
    expectFailurePage(answer, 'store_unavailable', 503);
    expect(forgetsSession(answer)).toBe(false);
    expect(await statuses(other)).toEqual([200, 200]);
    for (const replica of replicas) replica.resume();
    await signedOut(0, other);
    await refusedEverywhere(other);
  });

  it('fails over without a restart: no session ends, an acknowledged sign-out stays, meanwhile nothing is decided', async () => {
    const [cookie, unused, ended] = [
      await shared.signIn(),
      await shared.signIn(),
      await shared.signIn(),
    ];
    for (const each of [cookie, ended]) expect(await statuses(each)).toEqual([200, 200]);
    const [live, gone] = [await watchEverywhere(cookie), await watchEverywhere(ended)];
    const forged = await watchEverywhere(withOtherSecret(cookie));
    expect(isSignedOut(await shared.signOut(0, ended))).toBe(true);
    const acknowledgedAt = performance.now();
    const electing = group.failover();
    await expect.poll(() => statuses(cookie), { ...POLL, timeout: 4_000 }).toEqual([503, 503]);
    expectFailurePage(await shared.signOut(1, unused), 'store_unavailable', 503);
    const attempt = await shared.trySignIn();
    expectFailurePage(attempt.received, 'store_unavailable', 503);
    expect(attempt.hasBegun).toBe(false);

    await electing;
    await admittedEverywhere(cookie, RECOVERED_WITHIN_MS);
    await admittedEverywhere(unused, RECOVERED_WITHIN_MS);
    await signedOut(1, unused);
    const signsIn = async () => (await shared.trySignIn()).hasBegun;
    await expect.poll(signsIn, { ...POLL, timeout: RECOVERED_WITHIN_MS }).toBe(true);

    // The old master comes back with what it knew last.
    await group.servers[0]?.restart();
    await seenByAll([...live, ...gone, ...forged]);
    for (const { answers } of live) expect(otherStatuses(answers, [200, 503])).toEqual([]);
    for (const { answers } of forged) expect(otherStatuses(answers, [401, 503])).toEqual([]);
    for (const [index, { answers }] of gone.entries()) {
      const since = acknowledgedAt + (index === 0 ? 0 : SEEN_WITHIN_MS);
      const later = askedAfter(answers, since);
      expect(later.length).toBeGreaterThan(ENOUGH);
      expect(otherStatuses(later, [401, 503])).toEqual([]);
    }
  });

  it('leaves a master that was replaced, also while the failover is not over and it goes on as if nothing had happened', async () => {
    // Some process may still see the failover before as not finished.
    const cookie = await signedIn();
    const old = await group.currentMaster();
    const replicas = group.servers.filter((server) => server !== old);
    // None can follow another master: the failover is not over before its time is.
    for (const replica of replicas) await replica.send('CONFIG', 'SET', 'masterauth', 'wrong');
    await askSentinels('SET', group.name, 'failover-timeout', '180000');
    expect(await usersOf(old)).toBeGreaterThan(0);
    // The sentinel that is asked to fail over gives the old address with the new count until it is over.
    await askSentinel(group.sentinels[0], 'FAILOVER', group.name);
    const isReplaced = async () => (await group.currentMaster()) !== old;
    await expect.poll(isReplaced, { timeout: 60_000, interval: 20 }).toBe(true);
    await expect.poll(() => usersOf(old), { ...POLL, timeout: RECOVERED_WITHIN_MS }).toBe(0);
    await admittedEverywhere(cookie, RECOVERED_WITHIN_MS);
    const young = await signedIn();
    expect(await statuses(young)).toEqual([200, 200]);
    const watched = [...(await watchEverywhere(cookie)), ...(await watchEverywhere(young))];
    await seenByAll(watched);
    expect(String(await old.send('ROLE'))).toMatch(/^master/);
    expect(await usersOf(old)).toBe(0);
    // The old one does not know the second session.
    for (const { answers } of watched) expect(otherStatuses(answers, [200])).toEqual([]);
  });

  /** How many connections a server has beside those of sentinels, replicas and this test. */
  async function usersOf(server: RedisServer): Promise<number> {
    const clients = String(await server.send('CLIENT', 'LIST'))
      .trim()
      .split('\n');
    const own = [' name=sentinel', ' user=owner', ' flags=S'];
    return clients.filter((line) => !own.some((word) => line.includes(word))).length;
  }

  async function askSentinel(
    sentinel: SentinelGroup['sentinels'][number] | undefined,
    ...command: readonly string[]
  ): Promise<void> {
    const url = `redis://${sentinel?.host}:${sentinel?.port}`;
    expect(await sendOnce({ url }, ['SENTINEL', ...command])).toBe('OK');
  }

  async function askSentinels(...command: readonly string[]): Promise<void> {
    for (const sentinel of group.sentinels) await askSentinel(sentinel, ...command);
  }
});
