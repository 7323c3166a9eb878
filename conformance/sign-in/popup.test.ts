import { createHash } from 'node:crypto';
import type { Lie } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { askMe, expectFailurePage, SESSION_COOKIE } from '../wire/sign-in.ts';

const SIGNED_IN = '/auth/signed-in';
/** An account that no person here has. */
const STRANGER = 'AAAAAAAAAAAAAAAA';

/** The account that the page reports to the other windows. */
const accountOf = ({ body }: Received) =>
  /<p id="signed-in" data-account="([^"]*)">/.exec(body)?.[1];
/** What the page shows when another page of ours says that it works for another person. */
const warningOf = ({ body }: Received) =>
  /<div id="other-account" role="alert" hidden>(.*?)<\/div>/s.exec(body)?.[1] ?? '';
const linkOf = ({ body, url }: Received) =>
  new URL(/href="(\/login[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? 'about:blank', url);

describe('Signing in in a pop-up', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  const lieOf = (who: string, email = `${who}@x.test`): Lie => ({
    forge: (forgery) => service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: who } }),
    userInfo: { sub: who, name: who, email, email_verified: true },
  });
  const login = (browser: Browser, query: string) => browser.step(`${service.url}/login?${query}`);
  /** From `/login` to where the sign-in ends. */
  const signIn = async (browser: Browser, query: string, lie: Lie = lieOf('ada')) => {
    const sent = await login(browser, query);
    const answer = service.idp.authorize(sent.location ?? '', lie);
    return browser.step(`${service.url}/callback?${answer}`);
  };
  const digestOf = (subject: string) =>
    createHash('sha256')
      .update(JSON.stringify(['account', service.idp.issuer, subject]))
      .digest()
      .subarray(0, 12)
      .toString('base64url');
  const isAtIdp = ({ location }: Received) => location?.startsWith(`${service.idp.issuer}/`);

  it('ends on a page of ours that says who signed in as a digest, and stays unless one of ours answers', async () => {
    const browser = new Browser();
    const back = await signIn(browser, 'mode=popup');
    expect([back.status, back.location]).toEqual([302, service.url + SIGNED_IN]);
    const page = await browser.step(back.location ?? '');
    expect(page.status).toBe(200);
    expect(accountOf(page)).toBe(digestOf('ada'));
    expect(page.body).toContain('You are signed in. You can close this window.');
    // Closing depends on a message alone; what may hold one is a channel of our own origin.
    expect(page.body).toContain("if (data?.type === 'sallyport:go-on') close();");
    expect(page.body.match(/close\(/g)).toHaveLength(1);
    expect(page.body.replace(warningOf(page), '')).not.toMatch(/<a |ada@x\.test/);
    expect(page.body).not.toMatch(/<form|opener|setTimeout/);
    for (const secret of [service.idp.issuer, '-token-of-'])
      expect(page.body).not.toContain(secret);
    expect(await askMe(service, browser)).toBe(200);
  });

  it('has one inline script, allowed by its hash, and everything else forbidden', async () => {
    const browser = new Browser();
    const page = await browser.step((await signIn(browser, 'mode=popup')).location ?? '');
    const scripts = [...page.body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text]) => text);
    expect(scripts).toHaveLength(1);
    expect(page.body.match(/<script/g)).toHaveLength(1);
    const hash = createHash('sha256')
      .update(scripts[0] ?? '')
      .digest('base64');
    const policy = String(page.headers['content-security-policy']).split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src 'sha256-${hash}'`);
    expect(policy).toContain("form-action 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.join(' ')).not.toContain('unsafe');
    expect(page.headers['cache-control']).toBe('no-store');
  });

  it('goes straight there when a person is signed in and no prompt is asked for', async () => {
    const browser = new Browser();
    await signIn(browser, '');
    expect((await login(browser, 'mode=popup')).location).toBe(service.url + SIGNED_IN);
    expect(isAtIdp(await login(browser, 'mode=popup&prompt=login'))).toBe(true);
    expect(isAtIdp(await login(browser, 'mode=popup&idp=google'))).toBe(true);
  });

  it('ends on the target, and on no page that can close itself, without the mode', async () => {
    const back = await signIn(new Browser(), 'redirect_url=/x');
    expect(back.location).toBe(`${service.url}/x`);
  });

  describe('does not reveal to the site that opens the window who is signed in:', () => {
    it.each([
      ['the account itself', () => digestOf('ada')],
      ['another account', () => STRANGER],
      ['no account', () => ''],
    ])('an address that names %s leads to the same page', async (_, guess) => {
      const browser = new Browser();
      await signIn(browser, '');
      const plain = await browser.step(service.url + SIGNED_IN);
      const sent = await login(browser, `mode=popup&account=${guess()}`);
      expect(sent.location).toBe(service.url + SIGNED_IN);
      const page = await browser.step(`${service.url}${SIGNED_IN}?account=${guess()}`);
      expect([page.status, page.body]).toEqual([200, plain.body]);
      expect(page.headers['content-security-policy']).toBe(
        plain.headers['content-security-policy'],
      );
    });

    it('the page differs between two people in nothing but digest and name', async () => {
      const shapeOf = async (who: string) => {
        const browser = new Browser();
        const back = await signIn(browser, 'mode=popup', lieOf(who));
        const page = await browser.step(back.location ?? '');
        expect(accountOf(page)).toBe(digestOf(who));
        return page.body.replaceAll(digestOf(who), 'ACCOUNT').replaceAll(`${who}@x.test`, 'NAME');
      };
      expect(await shapeOf('grace')).toBe(await shapeOf('ada'));
    });
  });

  it.each(['/x', 'https://evil.example/', '//evil.example', ''])(
    'does not go to redirect_url=%j',
    async (target) => {
      const back = await signIn(
        new Browser(),
        `mode=popup&redirect_url=${encodeURIComponent(target)}`,
      );
      expect(back.location).toBe(service.url + SIGNED_IN);
    },
  );

  it.each([
    'mode=',
    'mode=Popup',
    'mode=iframe',
    'mode=popup&mode=popup',
    'mode=popup&redirect_url=/a&redirect_url=/b',
    'mode=popup&prompt=none',
  ])('%s: a 400 page, and nothing is started', async (query) => {
    const browser = new Browser();
    const refused = await login(browser, query);
    expectFailurePage(refused, 'bad_request', 400);
    expect(browser.cookieNames('localhost')).toEqual([]);
  });

  describe('when a page of ours answers that it works for another person', () => {
    it('has the warning at hand: who signed in, and how to choose another account', async () => {
      const browser = new Browser();
      const back = await signIn(browser, 'mode=popup', lieOf('grace'));
      const warning = warningOf(await browser.step(back.location ?? ''));
      expect(warning).toContain('You signed in as <strong>grace@x.test</strong>');
      expect(warning).toContain('another account');
    });

    it('offers to choose another account in the same mode', async () => {
      const browser = new Browser();
      const back = await signIn(browser, 'mode=popup', lieOf('grace'));
      const link = linkOf(await browser.step(back.location ?? ''));
      const sent = await browser.step(link.href);
      expect(isAtIdp(sent)).toBe(true);
      expect(new URL(sent.location ?? '').searchParams.get('prompt')).toBe('select_account');
      const answer = service.idp.authorize(sent.location ?? '', lieOf('ada'));
      const again = await browser.step(`${service.url}/callback?${answer}`);
      const page = await browser.step(again.location ?? '');
      expect(accountOf(page)).toBe(digestOf('ada'));
    });

    it('lets a name be text alone, that reorders nothing', async () => {
      const browser = new Browser();
      const lie = lieOf('eve', '<script>alert(1)</script>\u202e@x.test');
      const back = await signIn(browser, 'mode=popup', lie);
      const page = await browser.step(back.location ?? '');
      expect(page.body.match(/<script/g)).toHaveLength(1);
      expect(page.body).toContain('&lt;script&gt;alert(1)');
      expect(page.body).not.toContain('\u202e');
    });
  });

  describe('when it fails', () => {
    const finishFrom = async (browser: Browser, page: Received) => {
      const sent = await browser.step(linkOf(page).href);
      const answer = service.idp.authorize(sent.location ?? '', lieOf('ada'));
      return (await browser.step(`${service.url}/callback?${answer}`)).location;
    };
    const asked = 'mode=popup';
    const wanted = () => service.url + SIGNED_IN;

    it('"try again" keeps the mode after the person cancelled at the IdP', async () => {
      const browser = new Browser();
      const sent = await login(browser, asked);
      const state = new URL(sent.location ?? '').searchParams.get('state') ?? '';
      const query = new URLSearchParams({ error: 'access_denied', state, iss: service.idp.issuer });
      const page = await browser.step(`${service.url}/callback?${query}`);
      expectFailurePage(page, 'idp_refused', 403);
      expect(await finishFrom(browser, page)).toBe(wanted());
    });

    it('"try again" keeps it after an answer that was not accepted', async () => {
      const browser = new Browser();
      const page = await signIn(browser, asked, { forge: async () => 'no.id.token' });
      expectFailurePage(page, 'token_invalid', 502);
      expect(await finishFrom(browser, page)).toBe(wanted());
    });

    it('an attempt that was lost is started again in the same mode', async () => {
      const browser = new Browser();
      const sent = await login(browser, asked);
      browser.clearCookies();
      const answer = service.idp.authorize(sent.location ?? '', lieOf('ada'));
      const again = await browser.step(`${service.url}/callback?${answer}`);
      expect(isAtIdp(again)).toBe(true);
      const second = service.idp.authorize(again.location ?? '', lieOf('ada'));
      expect((await browser.step(`${service.url}/callback?${second}`)).location).toBe(wanted());
    });

    it('an answer that was used already ends on the page when there is a session by now', async () => {
      const browser = new Browser();
      const sent = await login(browser, asked);
      const answer = service.idp.authorize(sent.location ?? '', lieOf('ada'));
      await browser.step(`${service.url}/callback?${answer}`);
      const replayed = await browser.step(`${service.url}/callback?${answer}`);
      expect(replayed.location).toBe(wanted());
    });
  });

  describe('its page', () => {
    it('leads a person without a session to sign in, and back', async () => {
      const browser = new Browser();
      const sent = await browser.step(service.url + SIGNED_IN);
      expect(sent.status).toBe(302);
      expect(sent.location).toBe(
        `${service.url}/login?redirect_url=${encodeURIComponent(SIGNED_IN)}`,
      );
      const asked = await browser.step(sent.location ?? '');
      expect((await service.finish(browser, asked.location ?? '')).location).toBe(
        service.url + SIGNED_IN,
      );
    });

    it('answers a program 401, and names no account', async () => {
      const refused = await exchange(service.url + SIGNED_IN);
      expect(refused.status).toBe(401);
      expect(refused.headers['content-type']).toBe('application/problem+json');
    });

    it.each(['POST', 'PUT', 'DELETE'])('%s: 405', async (method) => {
      const browser = new Browser();
      await signIn(browser, '');
      const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
      const refused = await exchange(service.url + SIGNED_IN, { method, headers: { cookie } });
      expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD']);
    });

    it('answers HEAD with a head alone', async () => {
      const browser = new Browser();
      await signIn(browser, '');
      const head = await browser.step(service.url + SIGNED_IN, { method: 'HEAD' });
      expect([head.status, head.body]).toEqual([200, '']);
    });
  });
});
