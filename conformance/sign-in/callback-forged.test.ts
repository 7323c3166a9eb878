import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from '../wire/browser.ts';
import { bindCallback } from '../wire/callback.ts';
import { exchange } from '../wire/exchange.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import {
  ATTEMPT_COOKIE,
  beginsSession,
  expectFailurePage,
  SESSION_COOKIE,
} from '../wire/sign-in.ts';

describe('An answer at /callback', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  const { open, callback, me, expectHonest } = bindCallback(() => service);

  describe('that is not for this browser', () => {
    it('is refused when another browser started the sign-in: no session, and its code is not used', async () => {
      const attacker = await open();
      const victim = await open();
      const asked = service.idp.counts.token;
      const received = await victim.browser.step(callback(attacker.query));
      expect(beginsSession(received)).toBe(false);
      expect(service.idp.counts.token).toBe(asked);
      expect(await me(victim.browser)).toBe(401);
      await expectHonest(attacker);
      await expectHonest(victim);
    });

    it('is refused when the browser has no cookie at all (login CSRF)', async () => {
      const attacker = await open();
      const asked = service.idp.counts.token;
      const received = await exchange(callback(attacker.query), { headers: NAVIGATION });
      expect(beginsSession(received)).toBe(false);
      expect(service.idp.counts.token).toBe(asked);
      // A person who only lost the cookie is sent to sign in as themselves.
      const location = new URL(received.location ?? '');
      expect(location.origin).toBe(service.idp.issuer);
      expect(location.searchParams.get('state')).not.toBe(attacker.query.get('state'));
      expect(received.location).not.toContain(attacker.query.get('code'));
      await expectHonest(attacker);
    });

    it('begins no session when the state is this browser’s and the id_token is of another attempt', async () => {
      const attacker = await open();
      const victim = await open();
      const swapped = new URLSearchParams(victim.query);
      swapped.set('code', attacker.query.get('code') ?? '');
      const received = await victim.browser.step(callback(swapped));
      expectFailurePage(received, 'token_invalid', 502);
      expect(await me(victim.browser)).toBe(401);
    });

    it('does not go with the attempt cookie of another slot', async () => {
      const { browser, query } = await open();
      const value = browser.cookie('localhost', ATTEMPT_COOKIE);
      const asked = service.idp.counts.token;
      for (const slot of [1, 2, 3]) {
        const received = await exchange(callback(query), {
          headers: { ...NAVIGATION, cookie: `core_login_${slot}=${value}` },
        });
        expect(beginsSession(received)).toBe(false);
      }
      expect(service.idp.counts.token).toBe(asked);
      await expectHonest({ browser, query, login: await browser.step(`${service.url}/me`) });
    });

    it('finds its attempt also behind a planted cookie of the same name', async () => {
      const { browser, query } = await open();
      const value = browser.cookie('localhost', ATTEMPT_COOKIE);
      const stranger = (await open()).browser.cookie('localhost', ATTEMPT_COOKIE);
      const received = await exchange(callback(query), {
        headers: {
          ...NAVIGATION,
          cookie: `${ATTEMPT_COOKIE}=garbage; ${ATTEMPT_COOKIE}=${stranger}; ${ATTEMPT_COOKIE}=${value}`,
        },
      });
      expect(received.location).toBe(`${service.url}/wanted?x=1`);
      expect(beginsSession(received)).toBe(true);
    });
  });

  describe('that was used before', () => {
    it('leads a browser that is signed in by it to its page, without asking the IdP again', async () => {
      const opened = await open();
      await expectHonest(opened);
      const asked = service.idp.counts.token;
      const session = opened.browser.cookie('localhost', SESSION_COOKIE);
      const again = await opened.browser.step(callback(opened.query));
      expect([again.status, again.location]).toEqual([302, `${service.url}/wanted?x=1`]);
      expect(again.setCookies).toEqual([]);
      expect(service.idp.counts.token).toBe(asked);
      expect(opened.browser.cookie('localhost', SESSION_COOKIE)).toBe(session);
      expect(await me(opened.browser)).toBe(200);
    });

    it('does not sign in again with a fresh code in the same state', async () => {
      const opened = await open();
      await expectHonest(opened);
      const asked = service.idp.counts.token;
      const fresh = service.idp.authorize(opened.login.location ?? '');
      expect(fresh.get('code')).not.toBe(opened.query.get('code'));
      const again = await opened.browser.step(callback(fresh));
      expect(again.location).toBe(`${service.url}/wanted?x=1`);
      expect(beginsSession(again)).toBe(false);
      expect(service.idp.counts.token).toBe(asked);
    });

    it.each([
      ['the same code', false],
      ['a fresh code', true],
    ])(
      'begins no session when everything is replayed, attempt cookie included, with %s',
      async (_, isFresh) => {
        const opened = await open();
        const attempt = opened.browser.cookie('localhost', ATTEMPT_COOKIE);
        await expectHonest(opened);
        const asked = service.idp.counts.token;
        const query = isFresh ? service.idp.authorize(opened.login.location ?? '') : opened.query;
        const again = await exchange(callback(query), {
          headers: { ...NAVIGATION, cookie: `${ATTEMPT_COOKIE}=${attempt}` },
        });
        expect(beginsSession(again)).toBe(false);
        expect(service.idp.counts.token).toBe(asked);
      },
    );

    it('begins one session when the same answer arrives ten times at once', async () => {
      const opened = await open();
      const cookie = `${ATTEMPT_COOKIE}=${opened.browser.cookie('localhost', ATTEMPT_COOKIE)}`;
      const asked = service.idp.counts.token;
      const received = await Promise.all(
        Array.from({ length: 10 }, () =>
          exchange(callback(opened.query), { headers: { ...NAVIGATION, cookie } }),
        ),
      );
      expect(received.filter((each) => beginsSession(each))).toHaveLength(1);
      expect(service.idp.counts.token).toBe(asked + 1);
    });

    it('is shown as the refusal of the IdP when only its code was used before', async () => {
      const first = await open();
      await expectHonest(first);
      const second = await open();
      const query = new URLSearchParams(second.query);
      query.set('code', first.query.get('code') ?? '');
      const received = await second.browser.step(callback(query));
      expectFailurePage(received, 'idp_refused', 403);
      expect(received.body).toContain('invalid_grant');
      expect(await me(second.browser)).toBe(401);
      expect(second.browser.cookieNames('localhost')).toEqual([]);
    });
  });

  describe('with a parameter twice', () => {
    it.each([
      ['code', 'another'],
      ['code', undefined],
      ['state', 'another'],
      ['state', undefined],
      ['iss', 'https://evil.example'],
      ['iss', undefined],
    ])(
      '%s, the second one %s (undefined: the same): refused, nothing is used up',
      async (name, second) => {
        const opened = await open();
        const asked = service.idp.counts.token;
        for (const isFirst of [true, false]) {
          const value = second ?? opened.query.get(name) ?? '';
          const extra = new URLSearchParams({ [name]: value }).toString();
          const query = isFirst
            ? `${extra}&${String(opened.query)}`
            : `${String(opened.query)}&${extra}`;
          const received = await opened.browser.step(callback(query));
          expectFailurePage(received, 'bad_request', 400);
          expect(received.setCookies).toEqual([]);
        }
        expect(service.idp.counts.token).toBe(asked);
        await expectHonest(opened);
      },
    );

    it.each(['error', 'error_description', '%73tate', 'st%61te'])(
      '%s: refused, nothing is used up',
      async (name) => {
        const opened = await open();
        const asked = service.idp.counts.token;
        const received = await opened.browser.step(
          callback(`${String(opened.query)}&${name}=x&${name}=x`),
        );
        expectFailurePage(received, 'bad_request', 400);
        expect(service.idp.counts.token).toBe(asked);
        await expectHonest(opened);
      },
    );

    it('that is unknown is ignored', async () => {
      const opened = await open();
      await expectHonest({
        ...opened,
        query: new URLSearchParams(
          `${String(opened.query)}&session_state=a&session_state=b&x=1&x=2`,
        ),
      });
    });
  });

  describe('of another issuer (RFC 9207)', () => {
    it.each([
      ['another one', 'https://evil.example'],
      ['with a slash more', 'slash'],
      ['in capitals', 'capitals'],
      ['empty', ''],
      ['missing, where the metadata promises it', undefined],
    ])('iss %s: no session, and the code is not used', async (_, iss) => {
      const opened = await open();
      const asked = service.idp.counts.token;
      const query = new URLSearchParams(opened.query);
      const { issuer } = service.idp;
      if (iss === undefined) query.delete('iss');
      else if (iss === 'slash') query.set('iss', `${issuer}/`);
      else query.set('iss', iss === 'capitals' ? issuer.toUpperCase() : iss);
      const received = await opened.browser.step(callback(query));
      expectFailurePage(received, 'token_invalid', 502);
      expect(service.idp.counts.token).toBe(asked);
      expect(await me(opened.browser)).toBe(401);
      await expectHonest(await open());
    });

    it('does not get its error shown', async () => {
      const { browser, query } = await open();
      const received = await browser.step(
        callback(
          new URLSearchParams({
            error: 'access_denied',
            error_description: 'call 555-0100',
            state: query.get('state') ?? '',
            iss: 'https://evil.example',
          }),
        ),
      );
      expect(received.body).not.toContain('555-0100');
      expectFailurePage(received, 'token_invalid', 502);
    });
  });

  describe('that is an error', () => {
    const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\'';
    const errorOf = (state: string, error = 'access_denied') =>
      new URLSearchParams({
        error,
        error_description: HOSTILE,
        state,
        iss: service.idp.issuer,
      });

    it('is shown, escaped, to the browser that made the attempt', async () => {
      const { browser, query } = await open();
      const asked = service.idp.counts.token;
      const received = await browser.step(callback(errorOf(query.get('state') ?? '')));
      expectFailurePage(received, 'idp_refused', 403);
      expect(received.body).toContain('<code>access_denied</code>');
      expect(received.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(received.body).not.toMatch(/<script|<img/i);
      expect(received.headers['content-security-policy']).not.toContain('unsafe-inline');
      expect(service.idp.counts.token).toBe(asked);
      expect(browser.cookieNames('localhost')).toEqual([]);
      // "Try again" leads to the page that was wanted.
      const retry = /href="(\/login\?redirect_url=[^"]+)"/.exec(received.body)?.[1] ?? '';
      const target = new URL(retry, service.url).searchParams.get('redirect_url');
      expect(new URL(target ?? '', service.url).href).toBe(`${service.url}/wanted?x=1`);
    });

    it.each(['<script>alert(1)</script>', 'a"b', 'x'.repeat(65), 'a\r\nb', 'café', ''])(
      'is shown without its code when that is none: %j',
      async (error) => {
        const { browser, query } = await open();
        const received = await browser.step(callback(errorOf(query.get('state') ?? '', error)));
        expect(received.status).toBeGreaterThanOrEqual(400);
        expect(beginsSession(received)).toBe(false);
        expect(received.body).not.toMatch(/<script|<img/i);
        if (error !== '') expect(received.body).not.toContain(error);
        expect(await me(browser)).toBe(401);
      },
    );

    it('is not shown when another browser made the attempt', async () => {
      const { query } = await open();
      const victim = await open();
      for (const browser of [victim.browser, new Browser()]) {
        const received = await browser.step(callback(errorOf(query.get('state') ?? '')));
        expect(received.body).not.toContain('alert');
        expect(received.body).not.toContain('access_denied');
        expect(beginsSession(received)).toBe(false);
      }
      await expectHonest(victim);
    });

    it.each(['', 'forged', 'AAAA.BBBB'])(
      'is not shown when it belongs to no attempt: state %j',
      async (state) => {
        const opened = await open();
        const received = await opened.browser.step(callback(errorOf(state)));
        expectFailurePage(received, 'attempt_gone', 400);
        expect(received.body).not.toContain('alert');
        expect(received.body).not.toContain('access_denied');
        await expectHonest(opened);
      },
    );

    it('leaves a browser signed in that was', async () => {
      const browser = new Browser();
      await service.signIn(browser);
      const login = await browser.step(`${service.url}/login?prompt=login&redirect_url=/x`);
      const state = new URL(login.location ?? '').searchParams.get('state') ?? '';
      const received = await browser.step(callback(errorOf(state)));
      expectFailurePage(received, 'idp_refused', 403);
      expect(await me(browser)).toBe(200);
    });
  });

  describe('with a state that is not ours', () => {
    it('changed in one character anywhere: no session, and the code is not used', async () => {
      const opened = await open();
      const state = opened.query.get('state') ?? '';
      const asked = service.idp.counts.token;
      const query = new URLSearchParams(opened.query);
      for (let at = 0; at < state.length; at += Math.ceil(state.length / 60)) {
        const other = state[at] === 'A' ? 'B' : 'A';
        query.set('state', state.slice(0, at) + other + state.slice(at + 1));
        expectFailurePage(await opened.browser.step(callback(query)), 'attempt_gone', 400);
      }
      expect(service.idp.counts.token).toBe(asked);
      await expectHonest(opened);
    });

    it.each([
      ['cut short', (state: string) => state.slice(0, -1)],
      ['longer', (state: string) => `${state}A`],
      ['padded', (state: string) => `${state}=`],
      ['with a space before it', (state: string) => ` ${state}`],
      ['twice over', (state: string) => state + state],
      ['the attempt cookie instead', () => 'cookie'],
      ['empty', () => ''],
      ['text', () => 'state'],
      ['of zeros', (state: string) => 'A'.repeat(state.length)],
    ])('%s: no session, and the code is not used', async (_, change) => {
      const opened = await open();
      const asked = service.idp.counts.token;
      const query = new URLSearchParams(opened.query);
      const changed = change(opened.query.get('state') ?? '');
      const cookie = opened.browser.cookie('localhost', ATTEMPT_COOKIE) ?? '';
      query.set('state', changed === 'cookie' ? cookie : changed);
      expectFailurePage(await opened.browser.step(callback(query)), 'attempt_gone', 400);
      expect(service.idp.counts.token).toBe(asked);
      await expectHonest(opened);
    });

    it('missing, as in a sign-in that the IdP starts: no session, and the code is not used', async () => {
      const opened = await open();
      const asked = service.idp.counts.token;
      const query = new URLSearchParams(opened.query);
      query.delete('state');
      expectFailurePage(await opened.browser.step(callback(query)), 'attempt_gone', 400);
      expect(service.idp.counts.token).toBe(asked);
      await expectHonest(opened);
    });

    it('sealed by another deployment: no session, and the code is not used', async () => {
      const other = await startHostedService();
      const foreign = new Browser();
      const login = await foreign.step(`${other.url}/login?redirect_url=/`);
      const state = new URL(login.location ?? '').searchParams.get('state') ?? '';
      const attempt = foreign.cookie('localhost', ATTEMPT_COOKIE);
      await other.stop();
      const asked = service.idp.counts.token;
      const query = new URLSearchParams({ code: 'x', state, iss: service.idp.issuer });
      const received = await exchange(callback(query), {
        headers: { ...NAVIGATION, cookie: `${ATTEMPT_COOKIE}=${attempt}` },
      });
      expectFailurePage(received, 'attempt_gone', 400);
      expect(service.idp.counts.token).toBe(asked);
    });

    it('leads a browser that is signed in to the root, and changes nothing', async () => {
      const browser = new Browser();
      await service.signIn(browser);
      const session = browser.cookie('localhost', SESSION_COOKIE);
      const received = await browser.step(callback('code=x&state=forged'));
      expect([received.status, received.location]).toEqual([302, `${service.url}/`]);
      expect(received.setCookies).toEqual([]);
      expect(browser.cookie('localhost', SESSION_COOKIE)).toBe(session);
    });
  });
});
