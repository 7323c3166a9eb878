import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { ADA, ADA_SIGNS_IN, LIFETIMES, TOKENS } from '@sallyport/testing/server/people';
import { createRingKey, openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalSessionStore } from './local/local-session-store.ts';
import { parseSessionHandle } from './session-cookie.ts';
import { ownerOfPrincipal } from './session-record.ts';
import type { SessionStore } from './session-store.ts';
import { type NewSession, Sessions } from './sessions.ts';
import { planValidation } from './validation.ts';

const WITHOUT_REFRESH: NewSession = {
  ...ADA_SIGNS_IN,
  tokens: { ...TOKENS, refreshToken: undefined },
};
const { idleTimeoutMs, absoluteMs, withoutRefreshTokenIdleMs } = LIFETIMES;

function setup(overrides: Partial<SessionStore> = {}) {
  const clock = new Clock();
  const source = new RingInMemory();
  const { ring } = openRing(source, clock);
  const path = join(createTemporaryFolder(), 'sessions.sqlite');
  const local = createLocalSessionStore({ path, now: clock.now });
  onTestFinished(() => local.close());
  const store: SessionStore = { ...local, ...overrides };
  const sessions = new Sessions({ store, ring, now: clock.now, lifetimes: LIFETIMES });
  return { clock, source, store, sessions };
}

/** The cookie of the same id with another secret. */
function withOtherSecret(cookieValue: string): string {
  return `${cookieValue.slice(0, 9)}${Buffer.alloc(32, 3).toString('base64url')}`;
}

describe('begin', () => {
  it('begins a session that its cookie finds, with what the sign-in brought', async () => {
    const { sessions } = setup();
    const { session, cookieValue, maxAgeSeconds } = await sessions.begin(ADA_SIGNS_IN, []);
    expect(await sessions.find(cookieValue)).toEqual(session);
    expect(session).toEqual({
      id: parseSessionHandle(cookieValue)?.id,
      generation: 1,
      principal: ADA_SIGNS_IN.principal,
      user: ADA,
      claims: ADA_SIGNS_IN.claims,
      sid: 'sid-1',
      createdAt: NOON,
      lastUsedAt: NOON,
      absoluteEnd: NOON + absoluteMs,
      idleTimeoutMs,
      ...planValidation(LIFETIMES, NOON, session.id, true, 3_600_000),
      signInAt: ADA_SIGNS_IN.signInAt,
      address: '192.0.2.1',
      browser: 'Example/1.0',
    });
    expect(maxAgeSeconds).toBe(43_200);
  });

  it('asks the IdP again before the access token ends, and never without a refresh token', async () => {
    const { sessions } = setup();
    const short = await sessions.begin({ ...ADA_SIGNS_IN, accessTokenLifeMs: 300_000 }, []);
    expect(short.session.revalidateAt).toBeLessThan(NOON + 300_000);
    expect(short.session.validUntil).toBe(NOON + 300_000 + LIFETIMES.renewalGraceMs);
    const without = await sessions.begin(WITHOUT_REFRESH, []);
    expect(without.session).toMatchObject({ revalidateAt: undefined, validUntil: undefined });
  });

  it('keeps no more of a browser’s name than a person needs to recognise it', async () => {
    const { sessions } = setup();
    const { session } = await sessions.begin({ ...ADA_SIGNS_IN, browser: 'x'.repeat(8_000) }, []);
    expect(session.browser).toHaveLength(200);
  });

  it('session fixation: gives a new id and a new secret, whatever cookie the browser came with', async () => {
    const { sessions } = setup();
    const planted = await sessions.begin(ADA_SIGNS_IN, []);
    const begun = await sessions.begin(ADA_SIGNS_IN, [planted.cookieValue]);
    expect(begun.cookieValue.slice(0, 8)).not.toBe(planted.cookieValue.slice(0, 8));
    expect(begun.cookieValue.slice(9)).not.toBe(planted.cookieValue.slice(9));
    const made = `AAAAAAAB.${Buffer.alloc(32, 1).toString('base64url')}`;
    expect((await sessions.begin(ADA_SIGNS_IN, [made])).cookieValue).not.toBe(made);
    expect(await sessions.find(made)).toBe('session_unknown');
  });

  it('ends the session it replaces', async () => {
    const { sessions } = setup();
    const earlier = await sessions.begin(ADA_SIGNS_IN, []);
    const bystander = await sessions.begin(ADA_SIGNS_IN, []);
    const begun = await sessions.begin(ADA_SIGNS_IN, [earlier.cookieValue]);
    expect(await sessions.find(earlier.cookieValue)).toBe('session_replaced');
    expect(await sessions.find(begun.cookieValue)).toEqual(begun.session);
    expect(await sessions.find(bystander.cookieValue)).toEqual(bystander.session);
  });

  it('ends a session at a new sign-in only for the holder of its secret', async () => {
    const { sessions } = setup();
    const victim = await sessions.begin(ADA_SIGNS_IN, []);
    await sessions.begin(ADA_SIGNS_IN, [withOtherSecret(victim.cookieValue)]);
    await sessions.begin(ADA_SIGNS_IN, [victim.cookieValue.slice(0, 9)]);
    await sessions.begin(ADA_SIGNS_IN, ['nonsense']);
    expect(await sessions.find(victim.cookieValue)).toEqual(victim.session);
  });

  it('draws another id when one is taken', async () => {
    const taken: number[] = [];
    const { sessions, store } = setup();
    const meeting: SessionStore = {
      ...store,
      create: async (stored, replaces) => {
        if (taken.length === 4) return store.create(stored, replaces);
        taken.push(stored.id);
        return false;
      },
    };
    const { ring } = openRing(new RingInMemory(), new Clock());
    const drawing = new Sessions({ store: meeting, ring, now: () => NOON, lifetimes: LIFETIMES });
    const begun = await drawing.begin(ADA_SIGNS_IN, []);
    expect(new Set([...taken, begun.session.id]).size).toBe(5);
    expect(await sessions.find(begun.cookieValue)).toEqual(begun.session);
  });

  it('fails rather than draw for ever', async () => {
    const { sessions } = setup({ create: async () => false });
    await expect(sessions.begin(ADA_SIGNS_IN, [])).rejects.toThrow('colliding');
  });

  it('begins nothing when the store cannot take it', async () => {
    const { sessions } = setup({ create: async () => Promise.reject(new Error('down')) });
    await expect(sessions.begin(ADA_SIGNS_IN, [])).rejects.toThrow('down');
  });

  it('begins nothing when it cannot decide which session it replaces', async () => {
    let isCreated = false;
    const { sessions } = setup({
      readMetadata: async () => (isCreated ? undefined : Promise.reject(new Error('down'))),
      create: async () => {
        isCreated = true;
        return true;
      },
    });
    const value = `AAAAAAAB.${Buffer.alloc(32, 1).toString('base64url')}`;
    await expect(sessions.begin(ADA_SIGNS_IN, [value])).rejects.toThrow('down');
    expect(isCreated).toBe(false);
    await sessions.begin(ADA_SIGNS_IN, []);
    expect(isCreated).toBe(true);
  });

  it('says which sessions ended in its favour, and whether it stands itself', async () => {
    const { sessions, store, clock } = setup();
    const first = await sessions.begin(ADA_SIGNS_IN, []);
    expect(first).toMatchObject({ replaced: undefined, isRevoked: false });
    const second = await sessions.begin(ADA_SIGNS_IN, [first.cookieValue]);
    expect(second).toMatchObject({ replaced: { id: first.session.id }, isRevoked: false });
    const reach = { sessionsUpTo: 0, signInsUpTo: clock.now() };
    await store.revokeAll(ownerOfPrincipal(ADA_SIGNS_IN.principal), reach, 'session_revoked');
    expect(await sessions.begin(ADA_SIGNS_IN, [])).toMatchObject({ isRevoked: true });
    const later = { ...ADA_SIGNS_IN, signInAt: clock.now() + 1 };
    expect(await sessions.begin(later, [])).toMatchObject({ isRevoked: false });
  });

  it('keeps two hundred sessions of one person, and ends the one used least recently beyond', async () => {
    const { sessions, clock } = setup();
    const begun: Awaited<ReturnType<typeof sessions.begin>>[] = [];
    for (let count = 0; count < 200; count += 1) {
      clock.advance(1);
      begun.push(await sessions.begin(ADA_SIGNS_IN, []));
    }
    expect(begun.flatMap(({ surplus }) => surplus)).toEqual([]);
    const [oldest, next] = begun;
    clock.advance(60_000);
    await sessions.noteUse(oldest?.session.id ?? 0, clock.now());
    const beyond = await sessions.begin(ADA_SIGNS_IN, []);
    expect(beyond.surplus).toEqual([next?.session.id]);
    expect(await sessions.find(next?.cookieValue ?? '')).toBe('session_revoked');
    expect(await sessions.find(oldest?.cookieValue ?? '')).toMatchObject({
      id: oldest?.session.id,
    });
    const grace = { ...ADA_SIGNS_IN.principal, subject: 'grace' };
    expect(await sessions.begin({ ...ADA_SIGNS_IN, principal: grace }, [])).toMatchObject({
      surplus: [],
    });
  });
});

describe('find', () => {
  it.each([
    ['idle', ADA_SIGNS_IN, idleTimeoutMs],
    ['idle without a refresh token', WITHOUT_REFRESH, withoutRefreshTokenIdleMs],
  ])('ends a session that is %s for too long, to the millisecond', async (_, signIn, ms) => {
    const { sessions, clock } = setup();
    const { cookieValue } = await sessions.begin(signIn, []);
    clock.advance(ms - 1);
    expect(await sessions.find(cookieValue)).toMatchObject({ user: ADA });
    clock.advance(1);
    expect(await sessions.find(cookieValue)).toBe('session_expired');
  });

  it('slides the idle time with each use', async () => {
    const { sessions, clock } = setup();
    const { session, cookieValue } = await sessions.begin(WITHOUT_REFRESH, []);
    clock.advance(withoutRefreshTokenIdleMs - 1);
    await sessions.noteUse(session.id, clock.now());
    clock.advance(withoutRefreshTokenIdleMs - 1);
    expect(await sessions.find(cookieValue)).toMatchObject({ user: ADA });
    clock.advance(1);
    expect(await sessions.find(cookieValue)).toBe('session_expired');
  });

  it('ends a session at its absolute end, however busy it is', async () => {
    const { sessions, clock } = setup();
    const { session, cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    for (let hours = 6; hours < 168; hours += 6) {
      clock.set(NOON + hours * 3_600_000);
      await sessions.noteUse(session.id, clock.now());
    }
    clock.set(NOON + absoluteMs - 1);
    expect(await sessions.find(cookieValue)).toMatchObject({ user: ADA });
    clock.advance(1);
    expect(await sessions.find(cookieValue)).toBe('session_expired');
  });

  it.each([
    'signed_out',
    'session_replaced',
    'session_revoked',
    'renewal_refused',
    'renewal_lost',
  ] as const)(
    'says that a session ended by %s, and "unknown" only of what never was',
    async (reason) => {
      const { sessions, store } = setup();
      const { session, cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
      await store.revoke(session.id, reason);
      expect(await sessions.find(cookieValue)).toBe(reason);
      expect(await sessions.find(withOtherSecret(cookieValue))).toBe('session_unknown');
      const never = `AAAAAAAB.${Buffer.alloc(32, 1).toString('base64url')}`;
      expect(await sessions.find(never)).toBe('session_unknown');
    },
  );

  it('asks the same of the store for a wrong secret, whether the id’s session has ended or never was', async () => {
    const asked: string[] = [];
    const { sessions, store } = setup({
      endReason: async () => {
        asked.push('endReason');
        return 'signed_out';
      },
    });
    const { session, cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    await store.revoke(session.id);
    const never = `AAAAAAAB.${Buffer.alloc(32, 1).toString('base64url')}`;
    for (const value of [withOtherSecret(cookieValue), never])
      expect(await sessions.find(value)).toBe('session_unknown');
    expect(asked).toEqual([]);
    expect(await sessions.find(cookieValue)).toBe('signed_out');
    expect(asked).toEqual(['endReason']);
  });

  it('finds several at once, in their order, and gives no reason beside one that stands', async () => {
    const { sessions, store } = setup();
    const [ended, one, other] = await Promise.all([
      sessions.begin(ADA_SIGNS_IN, []),
      sessions.begin(ADA_SIGNS_IN, []),
      sessions.begin(ADA_SIGNS_IN, []),
    ]);
    await store.revoke(ended.session.id);
    const values = [ended.cookieValue, 'x', one.cookieValue, other.cookieValue];
    expect(await sessions.findAll(values)).toEqual([
      'session_unknown',
      'session_unknown',
      one.session,
      other.session,
    ]);
    expect(await sessions.findAll(['x', ended.cookieValue])).toEqual([
      'session_unknown',
      'signed_out',
    ]);
    expect(await sessions.findAll([])).toEqual([]);
  });

  it('rejects, and knows not "unknown", while the reason of an end cannot be read', async () => {
    const { sessions } = setup({ endReason: async () => Promise.reject(new Error('down')) });
    const { cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    await sessions.end(cookieValue);
    await expect(sessions.find(cookieValue)).rejects.toThrow('down');
  });

  it('knows no session by its id without its secret', async () => {
    const { sessions } = setup();
    const { cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    expect(await sessions.find(withOtherSecret(cookieValue))).toBe('session_unknown');
    for (const value of ['', 'x', cookieValue.slice(0, -1), `${cookieValue}=`, `"${cookieValue}"`])
      expect(await sessions.find(value)).toBe('session_unknown');
  });

  it('asks the store nothing for what cannot be a session', async () => {
    const { sessions } = setup({ readMetadata: async () => Promise.reject(new Error('asked')) });
    expect(await sessions.find('nonsense')).toBe('session_unknown');
  });

  it('rejects, and knows not "unknown", while the store is down', async () => {
    const { sessions } = setup({ readMetadata: async () => Promise.reject(new Error('down')) });
    const value = `AAAAAAAB.${Buffer.alloc(32, 1).toString('base64url')}`;
    await expect(sessions.find(value)).rejects.toThrow('down');
  });

  it('rejects, and knows not "unknown", while the key ring was never read', async () => {
    const { sessions, store } = setup();
    const { cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    const source = new RingInMemory();
    source.failure = new Error('unreadable');
    const { ring } = openRing(source, new Clock());
    const restarted = new Sessions({ store, ring, now: () => NOON, lifetimes: LIFETIMES });
    const unusable: unknown = expect.objectContaining({ code: 'SP_KEY_RING_UNUSABLE' });
    await expect(restarted.find(cookieValue)).rejects.toEqual(unusable);
    await expect(restarted.end(cookieValue)).rejects.toEqual(unusable);
    expect(await sessions.find(cookieValue)).toMatchObject({ user: ADA });
  });

  it('knows no session whose key has left the ring', async () => {
    const { sessions, source, clock } = setup();
    const { cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    source.replace([createRingKey('b')]);
    clock.advance(1_000);
    expect(await sessions.find(cookieValue)).toBe('session_unknown');
  });
});

describe('end', () => {
  it('ends the session for good and hands out its tokens, once', async () => {
    const { sessions } = setup();
    const { session, cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    expect(await sessions.end(cookieValue)).toEqual({ session, tokens: TOKENS });
    expect(await sessions.find(cookieValue)).toBe('signed_out');
    expect(await sessions.end(cookieValue)).toBeUndefined();
  });

  it('ends a session only for the holder of its secret', async () => {
    const { sessions } = setup();
    const { session, cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    expect(await sessions.end(withOtherSecret(cookieValue))).toBeUndefined();
    expect(await sessions.end('nonsense')).toBeUndefined();
    expect(await sessions.find(cookieValue)).toEqual(session);
  });

  it('ends a session also after its end, so that its tokens can be given back', async () => {
    const { sessions, clock } = setup();
    const { cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    clock.advance(idleTimeoutMs);
    expect((await sessions.end(cookieValue))?.tokens).toEqual(TOKENS);
  });

  it('says nothing before it is durable', async () => {
    const { sessions } = setup({ revoke: async () => Promise.reject(new Error('down')) });
    const { cookieValue } = await sessions.begin(ADA_SIGNS_IN, []);
    await expect(sessions.end(cookieValue)).rejects.toThrow('down');
  });
});

describe('maxAgeSeconds', () => {
  it('never ends a cookie before its session, and is never negative', () => {
    const { sessions, clock } = setup();
    const session = { lastUsedAt: NOON, idleTimeoutMs: 60_000, absoluteEnd: NOON + 90_000 };
    expect(sessions.maxAgeSeconds(session)).toBe(60);
    clock.advance(1);
    expect(sessions.maxAgeSeconds(session)).toBe(60);
    clock.advance(59_999);
    expect(sessions.maxAgeSeconds(session)).toBe(0);
    clock.advance(1_000_000);
    expect(sessions.maxAgeSeconds(session)).toBe(0);
  });
});
