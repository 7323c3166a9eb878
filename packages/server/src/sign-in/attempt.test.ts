import { createHash } from 'node:crypto';
import { createRingKey, openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import { createCookieSettings } from '../session/session-cookie.ts';
import { ATTEMPT_LIFE_MS, type AttemptState, Attempts, type StartedAttempt } from './attempt.ts';

const TARGET = 'https://flow.example/console';

/** A browser's cookies: takes Set-Cookie, gives the Cookie header. */
class Browser {
  readonly #cookies = new Map<string, string>();

  take(setCookie: string): void {
    const [pair = '', ...attributes] = setCookie.split('; ');
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals);
    if (attributes.includes('Max-Age=0')) this.#cookies.delete(name);
    else this.#cookies.set(name, pair.slice(equals + 1));
  }

  get header(): string | undefined {
    if (this.#cookies.size === 0) return undefined;
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get names(): string[] {
    return [...this.#cookies.keys()].toSorted();
  }
}

function setup(sameSite: 'Lax' | 'None' | undefined = 'Lax') {
  const clock = new Clock();
  const source = new RingInMemory();
  const { ring } = openRing(source, clock);
  const cookies = createCookieSettings(new URL('https://flow.example'), sameSite, '');
  const attempts = new Attempts({ ring, cookies, now: clock.now });
  const start = (browser: Browser, target = TARGET, restarts = 0): StartedAttempt => {
    const started = attempts.start(browser.header, target, restarts);
    browser.take(started.setCookie);
    return started;
  };
  /** What the callback does with a state: opens it and finds its attempt. */
  const find = (browser: Browser, state: string) => {
    const opened = attempts.openState(state);
    return opened === undefined ? undefined : attempts.find(browser.header, opened);
  };
  const stateOf = ({ state }: StartedAttempt): AttemptState => {
    const opened = attempts.openState(state);
    if (opened === undefined) throw new Error('the state does not open');
    return opened;
  };
  return { clock, source, attempts, cookies, start, find, stateOf };
}

describe('starting', () => {
  it('gives PKCE S256 of a verifier, a nonce and a state that lead to this attempt', () => {
    const { start, find, stateOf } = setup();
    const browser = new Browser();
    const started = start(browser);
    const attempt = find(browser, started.state);
    expect(attempt).toMatchObject({ slot: 0, nonce: started.nonce, startedAt: NOON });
    expect(attempt?.codeVerifier).toMatch(/^[\w-]{43}$/);
    expect(
      createHash('sha256')
        .update(attempt?.codeVerifier ?? '')
        .digest('base64url'),
    ).toBe(started.codeChallenge);
    expect(stateOf(started)).toMatchObject({
      slot: 0,
      restarts: 0,
      target: TARGET,
      startedAt: NOON,
    });
  });

  it('makes secret, nonce and verifier new each time', () => {
    const { start, find } = setup();
    const made = Array.from({ length: 50 }, () => {
      const browser = new Browser();
      const { state } = start(browser);
      const attempt = find(browser, state);
      return [attempt?.secret, attempt?.nonce, attempt?.codeVerifier];
    });
    expect(new Set(made.flat()).size).toBe(150);
  });

  it('shows nothing of it: neither state nor cookie can be read', () => {
    const { start, find } = setup();
    const browser = new Browser();
    const { state, setCookie, nonce } = start(browser);
    const attempt = find(browser, state);
    for (const text of [state, setCookie, Buffer.from(state, 'base64url').toString('latin1')])
      for (const part of [nonce, attempt?.secret, attempt?.codeVerifier, 'flow.example'])
        expect(text.includes(part ?? 'missing')).toBe(false);
  });

  it.each(['Lax', 'None', undefined] as const)(
    'sets a cookie for ten minutes that comes back from the IdP’s site, whatever the session cookie’s policy is (%s)',
    (sameSite) => {
      const { start } = setup(sameSite);
      const { setCookie } = start(new Browser());
      expect(setCookie).toMatch(
        /^__Host-core_login_0=[\w-]+; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/,
      );
      expect(setCookie.length).toBeLessThan(512);
    },
  );
});

describe('four slots', () => {
  it('are taken one after the other, and a fifth tab takes the oldest one’s', () => {
    const { start, clock, stateOf, find } = setup();
    const browser = new Browser();
    const started = Array.from({ length: 6 }, () => {
      clock.advance(1_000);
      return start(browser);
    });
    expect(started.map((one) => stateOf(one).slot)).toEqual([0, 1, 2, 3, 0, 1]);
    expect(browser.names).toHaveLength(4);
    expect(started.map(({ state }) => find(browser, state) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
  });

  it('are as young as their youngest attempt, in whatever order a planted one stands', () => {
    for (const place of ['first', 'last'] as const) {
      const { start, clock, stateOf, find, cookies, attempts } = setup();
      const stranger = new Browser();
      start(stranger);
      const planted = `${cookies.attemptNames[0]}=${stranger.header?.split('=')[1]}`;
      const browser = new Browser();
      const started = [3_000, 1_000, 1_000, 1_000].map((ms) => {
        clock.advance(ms);
        return start(browser);
      });
      const header = [planted, browser.header].toSorted(() => (place === 'first' ? 0 : -1));
      clock.advance(1_000);
      const next = attempts.start(header.join('; '), TARGET, 0);
      expect(stateOf(next).slot).toBe(0);
      expect(find(browser, started[1]?.state ?? '')).toBeDefined();
      // Where the real one is the youngest of all, another slot is taken.
      browser.take(attempts.clear(0));
      const youngest = start(browser);
      clock.advance(1_000);
      const both = [planted, browser.header].toSorted(() => (place === 'first' ? 0 : -1));
      expect(stateOf(youngest).slot).toBe(0);
      expect(stateOf(attempts.start(both.join('; '), TARGET, 0)).slot).toBe(1);
    }
  });

  it('are free again once their attempt is over, expired or spoilt', () => {
    const { start, clock, attempts, cookies, stateOf } = setup();
    const browser = new Browser();
    for (let tab = 0; tab < 4; tab += 1) start(browser);
    browser.take(attempts.clear(2));
    expect(stateOf(start(browser)).slot).toBe(2);
    browser.take(`${cookies.attemptNames[1]}=spoilt; Path=/`);
    expect(stateOf(start(browser)).slot).toBe(1);
    clock.advance(ATTEMPT_LIFE_MS);
    expect(stateOf(start(browser)).slot).toBe(0);
  });

  it('let tabs finish in any order', () => {
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
    ]) {
      const { start, find, attempts } = setup();
      const browser = new Browser();
      const started = [0, 1, 2, 3].map(() => start(browser));
      for (const tab of order) {
        const { state, nonce } = started[tab] as StartedAttempt;
        const attempt = find(browser, state);
        expect(attempt).toMatchObject({ slot: tab, nonce });
        browser.take(attempts.clear(tab));
        expect(find(browser, state)).toBeUndefined();
      }
      expect(browser.header).toBeUndefined();
    }
  });

  it('hold each its own attempt: a cookie moved to another slot does not open', () => {
    const { start, find, cookies, attempts, stateOf } = setup();
    const browser = new Browser();
    const started = start(browser);
    const [zero = '', one = ''] = cookies.attemptNames;
    const moved = browser.header?.replace(zero, one);
    expect(attempts.find(moved, { ...stateOf(started), slot: 1 })).toBeUndefined();
    expect(attempts.find(moved, stateOf(started))).toBeUndefined();
    expect(find(browser, started.state)).toBeDefined();
  });
});

describe('an answer that comes back', () => {
  it('RFC 9700 4.7: finds nothing in another browser, without cookies or with an attempt of its own', () => {
    const { start, find } = setup();
    const [attacker, victim] = [new Browser(), new Browser()];
    const { state } = start(attacker);
    expect(find(victim, state)).toBeUndefined();
    start(victim);
    expect(find(victim, state)).toBeUndefined();
    expect(find(attacker, state)).toBeDefined();
  });

  it('is found behind a planted cookie of the same name', () => {
    const { start, attempts, cookies, stateOf } = setup();
    const [browser, other] = [new Browser(), new Browser()];
    const started = start(browser);
    start(other);
    const header = `${cookies.attemptNames[0]}=x; ${other.header}; ${browser.header}`;
    expect(attempts.find(header, stateOf(started))).toMatchObject({ nonce: started.nonce });
  });

  it('counts for ten minutes, to the millisecond', () => {
    const { start, find, attempts, clock } = setup();
    const browser = new Browser();
    const { state } = start(browser);
    clock.advance(ATTEMPT_LIFE_MS - 1);
    const opened = attempts.openState(state);
    expect(find(browser, state)).toBeDefined();
    clock.advance(1);
    expect(attempts.openState(state)).toBeUndefined();
    expect(
      opened === undefined ? 'missing' : attempts.find(browser.header, opened),
    ).toBeUndefined();
  });

  it('counts when the clock of the machine that began it is ahead by seconds, not by hours', () => {
    const { start, find, clock } = setup();
    const browser = new Browser();
    const { state } = start(browser);
    clock.advance(-5_000);
    expect(find(browser, state)).toBeDefined();
    clock.advance(-3_600_000);
    expect(find(browser, state)).toBeUndefined();
  });

  it('does not open with any one bit of its state changed, nor in another spelling', () => {
    const { start, attempts } = setup();
    const { state } = start(new Browser());
    const bytes = Buffer.from(state, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(attempts.openState(changed.toString('base64url')), `bit ${bit}`).toBeUndefined();
    }
    for (const other of [
      `${state}=`,
      ` ${state}`,
      `${state}\n`,
      bytes.toString('hex'),
      state.slice(1),
      '',
    ])
      expect(attempts.openState(other)).toBeUndefined();
    expect(attempts.openState(state)).toBeDefined();
  });

  it('is not found with any one bit of its cookie changed', () => {
    const { start, attempts, cookies, stateOf } = setup();
    const browser = new Browser();
    const started = start(browser);
    const value = browser.header?.split('=')[1] ?? '';
    const bytes = Buffer.from(value, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 7) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const header = `${cookies.attemptNames[0]}=${changed.toString('base64url')}`;
      expect(attempts.find(header, stateOf(started)), `bit ${bit}`).toBeUndefined();
    }
    expect(attempts.find(browser.header, stateOf(started))).toBeDefined();
  });

  it('cannot be made from the cookie, nor the cookie from it', () => {
    const { start, attempts, cookies, stateOf } = setup();
    const browser = new Browser();
    const started = start(browser);
    expect(attempts.openState(browser.header?.split('=')[1] ?? '')).toBeUndefined();
    expect(
      attempts.find(`${cookies.attemptNames[0]}=${started.state}`, stateOf(started)),
    ).toBeUndefined();
  });

  it('opens after a rotation, and no longer once the old key is taken out', () => {
    const { start, find, source, clock } = setup();
    const browser = new Browser();
    const { state } = start(browser);
    source.replace([createRingKey('a'), createRingKey('b', { sealsFrom: NOON })]);
    clock.advance(1_000);
    expect(find(browser, state)).toBeDefined();
    source.replace([createRingKey('b')]);
    clock.advance(1_000);
    expect(find(browser, state)).toBeUndefined();
  });
});

describe('a lost attempt', () => {
  it('may be started again once and not a second time: no loop', () => {
    const { start, attempts, stateOf } = setup();
    const browser = new Browser();
    const first = stateOf(start(browser));
    expect(attempts.mayRestart(first)).toBe(true);
    const second = stateOf(start(browser, TARGET, first.restarts + 1));
    expect(second.restarts).toBe(1);
    expect(attempts.mayRestart(second)).toBe(false);
  });

  it('is distinguished from a browser that keeps no cookies', () => {
    const { start, attempts, cookies } = setup();
    const browser = new Browser();
    expect(attempts.hasAny(undefined)).toBe(false);
    expect(attempts.hasAny('a=1; core_login_0=x')).toBe(false);
    start(browser);
    expect(attempts.hasAny(browser.header)).toBe(true);
    expect(attempts.hasAny(`${cookies.attemptNames[3]}=spoilt`)).toBe(true);
  });
});
