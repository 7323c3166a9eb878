import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { ADA, ADA_SIGNS_IN, LIFETIMES } from '@sallyport/testing/server/people';
import { createRingKey, openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { DOWN, WatchedStore } from '@sallyport/testing/server/watched-store';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalSessionStore } from './local/local-session-store.ts';
import { PrincipalSessions } from './principal-sessions.ts';
import { type NewSession, Sessions } from './sessions.ts';

const { issuer, subject } = ADA_SIGNS_IN.principal;
const ADA_AT_IDP = { issuer, subject } as const;
const GRACE = { issuer, subject: 'grace-subject', kind: 'user' } as const;
const SECOND = 1_000;

function setup() {
  const clock = new Clock();
  const source = new RingInMemory();
  const { ring } = openRing(source, clock);
  const path = join(createTemporaryFolder(), 'sessions.sqlite');
  const store = new WatchedStore(createLocalSessionStore({ path, now: clock.now }));
  onTestFinished(() => store.close());
  const sessions = new Sessions({ store, ring, now: clock.now, lifetimes: LIFETIMES });
  const principalSessions = new PrincipalSessions({ store, ring, now: clock.now });
  /** A person signs in now; the sign-in was started a moment before unless it says otherwise. */
  const signIn = async (signedIn: Partial<NewSession> = {}) => {
    const begun = await sessions.begin({ ...ADA_SIGNS_IN, signInAt: clock.now(), ...signedIn }, []);
    return { id: begun.session.id, cookie: begun.cookieValue, session: begun.session };
  };
  const listIds = async (
    principal = ADA_AT_IDP as Pick<typeof GRACE, 'issuer'> & { subject: string },
  ) => (await principalSessions.list(principal)).map(({ id }) => id);
  return { clock, source, store, sessions, principalSessions, signIn, listIds };
}

describe('list', () => {
  it('gives the sessions of a principal that stand, the one used last first', async () => {
    const { clock, sessions, principalSessions, signIn, listIds } = setup();
    const [one, two, three] = [await signIn(), await signIn(), await signIn()];
    clock.advance(60_000);
    await sessions.noteUse(two.id, clock.now());
    await sessions.noteUse(one.id, clock.now() - 1);
    expect(await listIds()).toEqual([two.id, one.id, three.id]);
    expect((await principalSessions.list(ADA_AT_IDP))[2]).toEqual(three.session);
  });

  it('leaves out another subject, the same subject at another issuer, and what was ended', async () => {
    const { sessions, signIn, listIds } = setup();
    const [kept, ended] = [await signIn(), await signIn()];
    await signIn({ principal: GRACE });
    await signIn({ principal: { ...ADA_SIGNS_IN.principal, issuer: 'https://other.example' } });
    await sessions.end(ended.cookie);
    expect(await listIds()).toEqual([kept.id]);
    expect(await listIds({ issuer, subject: 'nobody' })).toEqual([]);
  });

  it('leaves out what was idle for too long, to the millisecond, although the store still has it', async () => {
    const { clock, sessions, store, signIn, listIds } = setup();
    const [idle, used] = [await signIn(), await signIn()];
    clock.advance(LIFETIMES.idleTimeoutMs - 1);
    await sessions.noteUse(used.id, clock.now());
    expect(await listIds()).toEqual([used.id, idle.id]);
    clock.advance(1);
    expect(await listIds()).toEqual([used.id]);
    expect(await store.read(idle.id)).toBeDefined();
  });

  it('leaves out what no key of the ring opens any more', async () => {
    const { clock, source, signIn, listIds } = setup();
    const before = await signIn();
    source.replace([createRingKey('b')]);
    clock.advance(SECOND);
    const after = await signIn();
    expect(await listIds()).toEqual([after.id]);
    source.replace([createRingKey('a'), createRingKey('b')]);
    clock.advance(SECOND);
    expect(await listIds()).toEqual([after.id, before.id]);
  });

  it('reads no more sessions than the given limit', async () => {
    const { principalSessions, signIn } = setup();
    for (let count = 0; count < 5; count += 1) await signIn();
    expect(await principalSessions.list(ADA_AT_IDP, 3)).toHaveLength(3);
    expect(await principalSessions.list(ADA_AT_IDP, 5)).toHaveLength(5);
  });
});

describe('find', () => {
  it('gives a session that stands by its id, without its cookie', async () => {
    const { clock, principalSessions, sessions, signIn } = setup();
    const { id, session } = await signIn({ principal: GRACE });
    const ended = await signIn();
    await sessions.end(ended.cookie);
    expect(await principalSessions.find(id)).toEqual(session);
    expect(await principalSessions.find(ended.id)).toBeUndefined();
    expect(await principalSessions.find(1)).toBeUndefined();
    clock.advance(LIFETIMES.idleTimeoutMs);
    expect(await principalSessions.find(id)).toBeUndefined();
  });
});

describe('end', () => {
  it('ends one session of its owner, and says to its cookie by what it ended', async () => {
    const { principalSessions, sessions, signIn } = setup();
    const [gone, replaced, stays] = [await signIn(), await signIn(), await signIn()];
    expect(await principalSessions.end(ADA_AT_IDP, gone.id)).toBe(true);
    expect(await principalSessions.end(ADA_AT_IDP, replaced.id, 'session_replaced')).toBe(true);
    expect(await sessions.find(gone.cookie)).toBe('session_revoked');
    expect(await sessions.find(replaced.cookie)).toBe('session_replaced');
    expect(await sessions.find(stays.cookie)).toEqual(stays.session);
  });

  it('leaves the session of another person alone, and answers as for one that does not exist', async () => {
    const { principalSessions, sessions, signIn } = setup();
    const victim = await signIn();
    expect(await principalSessions.end(GRACE, victim.id)).toBe(false);
    expect(
      await principalSessions.end({ issuer: 'https://other.example', subject }, victim.id),
    ).toBe(false);
    expect(await principalSessions.end(ADA_AT_IDP, 1)).toBe(false);
    expect(await sessions.find(victim.cookie)).toEqual(victim.session);
  });

  it('says of a session that has ended already that there is none', async () => {
    const { principalSessions, signIn } = setup();
    const { id } = await signIn();
    expect(await principalSessions.end(ADA_AT_IDP, id)).toBe(true);
    expect(await principalSessions.end(ADA_AT_IDP, id)).toBe(false);
  });
});

describe('endAll', () => {
  it('ends every session of a principal, reports which, and leaves all others', async () => {
    const { principalSessions, sessions, signIn, listIds } = setup();
    const [one, two] = [await signIn(), await signIn({ sid: undefined })];
    const grace = await signIn({ principal: GRACE });
    const elsewhere = await signIn({
      principal: { ...ADA_SIGNS_IN.principal, issuer: 'https://other.example' },
    });
    const ended = await principalSessions.endAll(ADA_AT_IDP);
    expect(new Set(ended)).toEqual(new Set([one.id, two.id]));
    expect(await sessions.find(one.cookie)).toBe('session_revoked');
    expect(await sessions.find(two.cookie)).toBe('session_revoked');
    expect(await listIds(GRACE)).toEqual([grace.id]);
    expect(await sessions.find(elsewhere.cookie)).toEqual(elsewhere.session);
    expect(await principalSessions.endAll(ADA_AT_IDP)).toEqual([]);
  });

  it('ends a session also whose sign-in, by a clock ahead of ours, has not begun yet', async () => {
    const { clock, principalSessions, sessions, signIn } = setup();
    const { cookie } = await signIn({ signInAt: clock.now() + 3_600_000 });
    await principalSessions.endAll(ADA_AT_IDP);
    expect(await sessions.find(cookie)).toBe('session_revoked');
  });

  it('ends a sign-in under way as it is finished; one that is started later stands', async () => {
    const { clock, principalSessions, sessions, signIn } = setup();
    const startedAt = clock.now();
    clock.advance(SECOND);
    await principalSessions.endAll(ADA_AT_IDP);
    clock.advance(SECOND);
    const underWay = await signIn({ signInAt: startedAt });
    expect(await sessions.find(underWay.cookie)).toBe('session_revoked');
    const later = await signIn();
    expect(await sessions.find(later.cookie)).toEqual(later.session);
  });

  it('promises nothing while the store is down', async () => {
    const { principalSessions, sessions, store, signIn } = setup();
    const { id, cookie, session } = await signIn();
    store.isDown = true;
    const attempts = [
      async () => principalSessions.endAll(ADA_AT_IDP),
      async () => principalSessions.end(ADA_AT_IDP, id),
      async () => principalSessions.list(ADA_AT_IDP),
      async () => principalSessions.endAtIdp({ ...ADA_AT_IDP, sid: undefined, endedAt: NOON }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toBe(DOWN);
    store.isDown = false;
    expect(await sessions.find(cookie)).toEqual(session);
  });
});

describe('endAtIdp', () => {
  async function setupFour() {
    const bench = setup();
    const { signIn } = bench;
    const one = await signIn({ sid: 'sid-1' });
    const other = await signIn({ sid: 'sid-2' });
    const without = await signIn({ sid: undefined });
    const grace = await signIn({ principal: GRACE, sid: 'sid-3' });
    bench.clock.advance(SECOND);
    const ended = async (subjectOfToken: string | undefined, sid: string | undefined) => {
      const ids = await bench.principalSessions.endAtIdp({
        issuer,
        subject: subjectOfToken,
        sid,
        endedAt: bench.clock.now(),
      });
      const names = new Map([
        [one.id, 'one'],
        [other.id, 'other'],
        [without.id, 'without'],
        [grace.id, 'grace'],
      ]);
      return ids.map((id) => names.get(id)).toSorted((a = '', b = '') => a.localeCompare(b));
    };
    return { ...bench, one, other, without, grace, ended };
  }

  it('with a sid alone ends that session of the IdP', async () => {
    const { sessions, one, other, ended } = await setupFour();
    expect(await ended(undefined, 'sid-1')).toEqual(['one']);
    expect(await sessions.find(one.cookie)).toBe('session_revoked');
    expect(await sessions.find(other.cookie)).toEqual(other.session);
  });

  it('with a subject alone ends every session of that subject', async () => {
    const { sessions, grace, ended } = await setupFour();
    expect(await ended(subject, undefined)).toEqual(['one', 'other', 'without']);
    expect(await sessions.find(grace.cookie)).toEqual(grace.session);
  });

  it('with both ends the session the sid names, and those of the subject whose sign-in brought no sid', async () => {
    const { sessions, one, grace, ended } = await setupFour();
    expect(await ended(subject, 'sid-2')).toEqual(['other', 'without']);
    expect(await sessions.find(one.cookie)).toEqual(one.session);
    expect(await sessions.find(grace.cookie)).toEqual(grace.session);
  });

  it('with neither, with unknown ones, or from another issuer ends nothing', async () => {
    const { principalSessions, clock, listIds, ended } = await setupFour();
    expect(await ended(undefined, undefined)).toEqual([]);
    expect(await ended('nobody', undefined)).toEqual([]);
    expect(await ended(undefined, 'sid-9')).toEqual([]);
    // A subject is no sid, and the other way round.
    expect(await ended('sid-1', undefined)).toEqual([]);
    expect(await ended(undefined, subject)).toEqual([]);
    const foreign = { issuer: 'https://other.example', endedAt: clock.now() };
    expect(await principalSessions.endAtIdp({ ...foreign, subject, sid: undefined })).toEqual([]);
    expect(
      await principalSessions.endAtIdp({ ...foreign, subject: undefined, sid: 'sid-1' }),
    ).toEqual([]);
    expect(await listIds()).toHaveLength(3);
  });

  it.each([
    ['by a clock that is right', 0],
    ['by a clock 30 s behind ours', 30 * SECOND],
    ['in the whole second that its message names, by a clock 30 s behind', 30 * SECOND + 999],
  ])('ends a session signed in to a moment before the IdP ended it %s', async (_, behindMs) => {
    const { clock, sessions, principalSessions, signIn } = setup();
    const { cookie } = await signIn();
    const endedAt = clock.now() - behindMs;
    await principalSessions.endAtIdp({ ...ADA_AT_IDP, sid: undefined, endedAt });
    expect(await sessions.find(cookie)).toBe('session_revoked');
  });

  it('leaves a session that was signed in to later than any clock explains', async () => {
    const { clock, sessions, principalSessions, signIn } = setup();
    const endedAt = clock.now();
    clock.advance(31 * SECOND + 1);
    const { cookie, session } = await signIn();
    const ended = { ...ADA_AT_IDP, sid: undefined, endedAt };
    expect(await principalSessions.endAtIdp(ended)).toEqual([]);
    expect(await sessions.find(cookie)).toEqual(session);
  });

  it('ends at the second call what it could not end at the first', async () => {
    const { clock, sessions, store, principalSessions, signIn } = setup();
    const { cookie } = await signIn();
    const ended = { ...ADA_AT_IDP, sid: undefined, endedAt: clock.now() };
    store.isDown = true;
    await expect((async () => principalSessions.endAtIdp(ended))()).rejects.toBe(DOWN);
    store.isDown = false;
    await principalSessions.endAtIdp(ended);
    expect(await sessions.find(cookie)).toBe('session_revoked');
  });

  it('ends a sign-in under way that was started before, also by its sid; one started after it stands', async () => {
    const { clock, sessions, principalSessions, signIn } = setup();
    const startedAt = clock.now();
    clock.advance(SECOND);
    const endedAt = clock.now();
    clock.advance(SECOND);
    await principalSessions.endAtIdp({ issuer, subject: undefined, sid: 'sid-1', endedAt });
    const underWay = await signIn({ signInAt: startedAt });
    expect(await sessions.find(underWay.cookie)).toBe('session_revoked');
    const otherSid = await signIn({ signInAt: startedAt, sid: 'sid-2' });
    expect(await sessions.find(otherSid.cookie)).toEqual(otherSid.session);
    // The IdP sends whole seconds.
    const sameSecond = await signIn({ signInAt: endedAt + SECOND - 1 });
    expect(await sessions.find(sameSecond.cookie)).toBe('session_revoked');
    const after = await signIn({ signInAt: endedAt + SECOND });
    expect(await sessions.find(after.cookie)).toEqual(after.session);
  });

  it('reaches no further than now when the IdP’s clock is ahead', async () => {
    const { clock, sessions, principalSessions, signIn } = setup();
    const before = await signIn();
    const endedAt = clock.now() + 3_600_000;
    await principalSessions.endAtIdp({ ...ADA_AT_IDP, sid: undefined, endedAt });
    clock.advance(1);
    const after = await signIn();
    expect(await sessions.find(before.cookie)).toBe('session_revoked');
    expect(await sessions.find(after.cookie)).toEqual(after.session);
  });
});

describe('page', () => {
  it('gives the sessions of all people that stand, a part at a time, each once', async () => {
    const { clock, sessions, principalSessions, signIn } = setup();
    const ids: number[] = [];
    for (let count = 0; count < 7; count += 1)
      ids.push((await signIn(count % 2 === 0 ? {} : { principal: GRACE })).id);
    const ended = await signIn();
    await sessions.end(ended.cookie);
    clock.advance(SECOND);
    const found: number[] = [];
    let parts = 0;
    let cursor: string | undefined;
    do {
      const page = await principalSessions.page(cursor, 3);
      expect(page.sealed).toEqual([]);
      expect(page.sessions.length).toBeLessThanOrEqual(3);
      found.push(...page.sessions.map(({ id }) => id));
      cursor = page.next;
      parts += 1;
    } while (cursor !== undefined);
    expect(parts).toBe(3);
    expect(found).toHaveLength(7);
    expect(new Set(found)).toEqual(new Set(ids));
  });

  it('shows the one used last first, and none past its end', async () => {
    const { clock, sessions, principalSessions, signIn } = setup();
    const [one, two] = [await signIn(), await signIn()];
    clock.advance(LIFETIMES.idleTimeoutMs - 1);
    await sessions.noteUse(one.id, clock.now() - 1);
    const page = await principalSessions.page(undefined, 10);
    expect(page.sessions.map(({ id, user }) => [id, user.name])).toEqual([
      [one.id, ADA.name],
      [two.id, ADA.name],
    ]);
    clock.advance(1);
    const later = await principalSessions.page(undefined, 10);
    expect(later.sessions.map(({ id }) => id)).toEqual([one.id]);
    expect(later.sealed).toEqual([]);
  });

  it('names by id alone what stands but no key of the ring opens, until its end', async () => {
    const { clock, source, principalSessions, signIn } = setup();
    const before = await signIn();
    source.replace([createRingKey('b')]);
    clock.advance(SECOND);
    const after = await signIn();
    const page = await principalSessions.page(undefined, 10);
    expect(page.sessions.map(({ id }) => id)).toEqual([after.id]);
    expect(page.sealed).toEqual([before.id]);
    clock.advance(LIFETIMES.idleTimeoutMs - SECOND);
    expect((await principalSessions.page(undefined, 10)).sealed).toEqual([]);
  });
});
