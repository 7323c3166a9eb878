import type { FakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, nextAddress } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { type Service, startHostedService } from '../wire/platform.ts';

const SESSION = 'core_session';
const ATTEMPT = /^core_login_[0-3]$/;
const TABS = 20;

describe('Tabs of one browser', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  /** Opens a tab: as far as the IdP's page. */
  const open = async (browser: Browser, path: string) => {
    const login = await browser.step(
      `${service.url}/login?redirect_url=${encodeURIComponent(path)}`,
    );
    expect(login.status).toBe(302);
    return login.location ?? '';
  };
  const me = async (browser: Browser) => (await browser.step(`${service.url}/me`)).status;
  const meWith = async (value: string | undefined) =>
    (await exchange(`${service.url}/me`, { headers: { cookie: `${SESSION}=${value}` } })).status;
  const paths = Array.from({ length: TABS }, (_, index) => `/console/tab/${index}?n=${index}`);

  it.each([
    ['the order they were opened in', ['/one?x=1', '/two?x=2']],
    ['the other order', ['/two?x=2', '/one?x=1']],
  ])('both end on their page and are signed in when two finish in %s', async (_, order) => {
    const browser = new Browser();
    const opened = new Map([
      ['/one?x=1', await open(browser, '/one?x=1')],
      ['/two?x=2', await open(browser, '/two?x=2')],
    ]);
    for (const path of order) {
      const ended = await service.finish(browser, opened.get(path) ?? '');
      expect(ended.status).toBe(302);
      expect(ended.location).toBe(service.url + path);
      expect(await me(browser)).toBe(200);
    }
    expect(browser.cookieNames('localhost').filter((name) => ATTEMPT.test(name))).toEqual([]);
  });

  it('both end on their page and are signed in when two were opened at once and finish at once', async () => {
    const browser = new Browser();
    const locations = await Promise.all(['/one', '/two'].map((path) => open(browser, path)));
    const ended = await Promise.all(locations.map((location) => service.finish(browser, location)));
    expect(ended.map(({ location }) => location)).toEqual([
      `${service.url}/one`,
      `${service.url}/two`,
    ]);
    expect(await me(browser)).toBe(200);
  });

  it('are not signed in by one that is only opened', async () => {
    const browser = new Browser();
    await open(browser, '/one');
    await open(browser, '/two');
    expect(await me(browser)).toBe(401);
  });

  it('leave at most four attempt cookies when twenty are opened, one after the other or at once', async () => {
    const patient = new Browser();
    for (const path of paths) await open(patient, path);
    const hasty = new Browser();
    await Promise.all(paths.map((path) => open(hasty, path)));
    const names = patient.cookieNames('localhost');
    expect(names.filter((name) => ATTEMPT.test(name)).toSorted()).toEqual([
      'core_login_0',
      'core_login_1',
      'core_login_2',
      'core_login_3',
    ]);
    const hastyNames = hasty.cookieNames('localhost');
    expect(hastyNames.length).toBeGreaterThan(0);
    expect(hastyNames.length).toBeLessThanOrEqual(4);
    expect([...names, ...hastyNames].every((name) => ATTEMPT.test(name))).toBe(true);
  });

  it.each([
    ['one after the other', 'in the order they were opened in', false, false],
    ['one after the other', 'the last one first', false, true],
    ['at once', 'in the order they were opened in', true, false],
    ['at once', 'the last one first', true, true],
  ])(
    'all end on their page when twenty are opened %s and finished %s',
    async (_opened, _finished, isAtOnce, isReversed) => {
      const browser = new Browser();
      const locations = isAtOnce
        ? await Promise.all(paths.map((path) => open(browser, path)))
        : await paths.reduce<Promise<string[]>>(
            async (before, path) => [...(await before), await open(browser, path)],
            Promise.resolve([]),
          );
      const tabs = paths.map((path, index) => ({ path, location: locations[index] ?? '' }));
      for (const { path, location } of isReversed ? tabs.toReversed() : tabs) {
        const ended = await service.finish(browser, location);
        expect(ended.status).toBe(302);
        expect(ended.location).toBe(service.url + path);
      }
      expect(await me(browser)).toBe(200);
    },
  );

  it.each([
    ['one after the other', false],
    ['at once', true],
  ])(
    'all end on their page when twenty are opened %s and all callbacks arrive together',
    async (_, isAtOnce) => {
      const browser = new Browser();
      const locations = isAtOnce
        ? await Promise.all(paths.map((path) => open(browser, path)))
        : await paths.reduce<Promise<string[]>>(
            async (before, path) => [...(await before), await open(browser, path)],
            Promise.resolve([]),
          );
      const ended = await Promise.all(
        locations.map((location) => service.finish(browser, location)),
      );
      expect(ended.map(({ status, location }) => [status, location])).toEqual(
        paths.map((path) => [302, service.url + path]),
      );
      expect(await me(browser)).toBe(200);
      expect(
        browser.cookieNames('localhost').filter((name) => ATTEMPT.test(name)).length,
      ).toBeLessThanOrEqual(4);
    },
  );

  it.each([2, 3, TABS])(
    'all end on their page when %i are opened at once, as a restored window does, and the IdP is slow to give tokens',
    async (count) => {
      const browser = new Browser();
      const wanted = paths.slice(0, count);
      const locations = await Promise.all(wanted.map((path) => open(browser, path)));
      const { promise: gate, resolve: release } = Promise.withResolvers<void>();
      let waiting = 0;
      const { promise: oneWaits, resolve: oneIsWaiting } = Promise.withResolvers<void>();
      const forge: FakeIdp['forge'] = async (forgery) => {
        waiting += 1;
        oneIsWaiting();
        await gate;
        return service.idp.honest(forgery);
      };
      /** One way to the IdP and back, while the IdP gives no token; those who wait for one stay. */
      const round = (from: readonly string[]) => {
        const answered: Received[] = [];
        const all = from.map(async (location) => {
          const query = service.idp.authorize(location, { forge }).toString();
          const received = await browser.step(`${service.url}/callback?${query}`);
          answered.push(received);
          return received;
        });
        return { all, answered };
      };
      const first = round(locations);
      await oneWaits;
      while (first.answered.length + waiting < count) await browser.step(`${service.url}/healthz`);
      const restarted = first.answered
        .map((received) => nextAddress(received) ?? '')
        .filter((next) => next.startsWith(service.idp.issuer));
      waiting = 0;
      const second = round(restarted);
      while (second.answered.length + waiting < restarted.length)
        await browser.step(`${service.url}/healthz`);
      release();
      const isRestarted = (received: Received) =>
        restarted.includes(nextAddress(received) ?? 'no address');
      const answers = [
        ...(await Promise.all(first.all)).filter((received) => !isRestarted(received)),
        ...(await Promise.all(second.all)),
      ];
      const ended: (string | undefined)[] = [];
      for (const received of answers) {
        const next = new URL(nextAddress(received) ?? '/no-address', service.url).href;
        const isUnderWay = !wanted.some((path) => next === service.url + path);
        ended.push(isUnderWay ? (await service.finish(browser, next)).location : next);
      }
      expect(new Set(ended)).toEqual(new Set(wanted.map((path) => service.url + path)));
      expect(ended).toHaveLength(count);
      expect(await me(browser)).toBe(200);
    },
  );

  it('revoke the session that a new sign-in replaces: its cookie is worth nothing from then on', async () => {
    const browser = new Browser();
    await service.finish(browser, await open(browser, '/one'));
    const old = browser.cookie('localhost', SESSION);
    expect(await meWith(old)).toBe(200);
    const again = await browser.step(`${service.url}/login?prompt=login`);
    await service.finish(browser, again.location ?? '');
    const current = browser.cookie('localhost', SESSION);
    expect(current).not.toBe(old);
    expect(await meWith(old)).toBe(401);
    expect(await meWith(current)).toBe(200);
  });

  it('that were opened together end up with one session: whatever the first loads meanwhile is not refused', async () => {
    const browser = new Browser();
    const first = await open(browser, '/one');
    const second = await open(browser, '/two');
    await service.finish(browser, first);
    const session = browser.cookie('localhost', SESSION);
    const revoked = service.idp.counts.revoke;
    const ended = await service.finish(browser, second);
    expect(new URL(ended.location ?? '', service.url).pathname).toBe('/two');
    expect(browser.cookie('localhost', SESSION)).toBe(session);
    expect(await meWith(session)).toBe(200);
    // The grant at the IdP is one: revoking the tokens that are not needed would end the session that stands.
    expect(service.idp.counts.revoke).toBe(revoked);
  });

  it('that were opened together and signed in as two people end up as the second', async () => {
    const browser = new Browser();
    const first = await open(browser, '/one');
    const second = await open(browser, '/two');
    await service.finish(browser, first);
    const ada = browser.cookie('localhost', SESSION);
    const { state } = Object.fromEntries(new URL(second).searchParams);
    const answer = service.idp.authorize(second, {
      forge: (forgery) =>
        service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: 'grace-subject' } }),
      userInfo: { sub: 'grace-subject' },
    });
    expect(answer.get('state')).toBe(state);
    await browser.step(`${service.url}/callback?${answer.toString()}`);
    expect(browser.cookie('localhost', SESSION)).not.toBe(ada);
    expect(await meWith(ada)).toBe(401);
    expect(await meWith(browser.cookie('localhost', SESSION))).toBe(200);
  });

  it('cannot revoke a session whose secret they do not hold', async () => {
    const victim = new Browser();
    await service.signIn(victim);
    const [id = '', secret = ''] = (victim.cookie('localhost', SESSION) ?? '').split('.');
    const attacker = new Browser();
    await service.signIn(attacker);
    const [, foreignSecret = ''] = (attacker.cookie('localhost', SESSION) ?? '').split('.');
    const lastDigit = secret.at(-1) === 'A' ? 'B' : 'A';
    const planted = [
      id,
      `${id}.`,
      `${id}.${foreignSecret}`,
      `${id}.${secret.slice(0, -1)}${lastDigit}`,
      `${id}.${'A'.repeat(43)}`,
    ];
    for (const value of planted) {
      const browser = new Browser();
      const location = await open(browser, '/mine');
      browser.setCookie('localhost', SESSION, value);
      expect((await service.finish(browser, location)).location).toBe(`${service.url}/mine`);
      expect(await meWith(browser.cookie('localhost', SESSION))).toBe(200);
      expect(await me(victim)).toBe(200);
    }
  });

  it('revoke the session they replace also when a planted cookie of the same name stands in front of it', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const old = browser.cookie('localhost', SESSION);
    const other = new Browser();
    const query = service.idp.authorize(await open(other, '/one')).toString();
    const attempt = other.cookie('localhost', 'core_login_0');
    const planted = `AAAAAAAA.${'A'.repeat(43)}`;
    const ended = await exchange(`${service.url}/callback?${query}`, {
      headers: { cookie: `${SESSION}=${planted}; ${SESSION}=${old}; core_login_0=${attempt}` },
    });
    expect(ended.location).toBe(`${service.url}/one`);
    expect(await meWith(old)).toBe(401);
  });
});
