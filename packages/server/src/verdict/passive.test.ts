import { createCheckUnderTest } from '@sallyport/testing/server/check';
import { LIFETIMES, TOKENS } from '@sallyport/testing/server/people';
import { describe, expect, it } from 'vitest';

const PASSIVE = { isPassive: true };
/** A session that the IdP cannot be asked about, so that its idle time alone decides. */
const UNASKED = { tokens: { ...TOKENS, refreshToken: undefined } };
const MINUTE = 60_000;

describe('a check that no person asked for', () => {
  it('is no use of the session: a tab that only asks keeps none alive', async () => {
    const { ask, signIn, clock, store } = createCheckUnderTest();
    const { cookie } = await signIn(UNASKED);
    const endsAt = clock.now() + LIFETIMES.withoutRefreshTokenIdleMs;
    while (clock.now() < endsAt) {
      expect(await ask(cookie, PASSIVE)).toMatchObject({
        outcome: 'admitted',
        setCookie: undefined,
        session: { endsAt },
      });
      clock.advance(5 * MINUTE);
    }
    expect(await ask(cookie, PASSIVE)).toEqual({ outcome: 'refused', reason: 'session_expired' });
    expect(store.touches).toEqual([]);
  });

  it.each([
    ['remembered', true],
    ['read from the store', false],
  ])('a person asking in between is, when the verdict is %s', async (_, isRemembered) => {
    const { ask, signIn, clock, store, generation } = createCheckUnderTest();
    const { id, cookie } = await signIn(UNASKED);
    if (isRemembered) await ask(cookie, PASSIVE);
    clock.advance(10 * MINUTE);
    expect(await ask(cookie, PASSIVE)).toMatchObject({ setCookie: undefined });
    if (!isRemembered) generation.bump();
    expect(await ask(cookie)).toMatchObject({
      setCookie: expect.stringContaining(`=${cookie};`),
      session: { endsAt: clock.now() + LIFETIMES.withoutRefreshTokenIdleMs },
    });
    expect(store.touches).toEqual([[id, clock.now()]]);
    expect(await ask(cookie, PASSIVE)).toMatchObject({
      session: { endsAt: clock.now() + LIFETIMES.withoutRefreshTokenIdleMs },
    });
  });

  it('refuses the same requests as otherwise', async () => {
    const { ask, signIn, sessions } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie, PASSIVE);
    await sessions.end(cookie);
    expect(await ask(cookie, PASSIVE)).toMatchObject({ outcome: 'refused' });
    expect(await ask(undefined, PASSIVE)).toMatchObject({ outcome: 'refused' });
  });
});
