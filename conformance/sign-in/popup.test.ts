import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lie } from '../wire/attacker-idp.ts';
import { Browser } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { type Service, startService } from '../wire/platform.ts';
import { askMe, expectFailurePage, SESSION_COOKIE } from '../wire/sign-in.ts';

const SIGNED_IN = '/auth/signed-in';
/** Nobody's account. */
const STRANGER = 'AAAAAAAAAAAAAAAA';

/** What the page tells the other windows. */
const saysOf = ({ body }: Received) => {
  const [, account, closes] =
    /<p id="signed-in" data-account="([^"]*)" data-closes="([^"]*)">/.exec(body) ?? [];
  return { account, closes };
};
const linkOf = ({ body, url }: Received) =>
  new URL(/href="(\/login[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? 'about:blank', url);

describe('Signing in in a pop-up', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
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

  it('ends on a page of ours that says who signed in as a digest, closes itself, and leads nowhere', async () => {
    const browser = new Browser();
    const back = await signIn(browser, 'mode=popup');
    expect([back.status, back.location]).toEqual([302, service.url + SIGNED_IN]);
    const page = await browser.step(back.location ?? '');
    expect(page.status).toBe(200);
    expect(saysOf(page)).toEqual({ account: digestOf('ada'), closes: 'yes' });
    expect(page.body).toContain('You are signed in. You can close this window.');
    expect(page.body).not.toMatch(/<a |<form|opener/);
    for (const known of ['ada@x.test', service.idp.issuer, '-token-of-'])
      expect(page.body).not.toContain(known);
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

  it('goes straight there when somebody is signed in and no prompt is asked for', async () => {
    const browser = new Browser();
    await signIn(browser, '');
    const sent = await login(browser, `mode=popup&account=${digestOf('ada')}`);
    expect(sent.location).toBe(`${service.url}${SIGNED_IN}?account=${digestOf('ada')}`);
    expect(isAtIdp(await login(browser, 'mode=popup&prompt=login'))).toBe(true);
    expect(isAtIdp(await login(browser, 'mode=popup&idp=google'))).toBe(true);
  });

  it('ends on the target, and on no page that closes itself, without the mode', async () => {
    const browser = new Browser();
    const back = await signIn(browser, `redirect_url=/x&account=${STRANGER}`);
    expect(back.location).toBe(`${service.url}/x`);
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
    'mode=popup&account=',
    'mode=popup&account=short',
    `mode=popup&account=${STRANGER}A`,
    `mode=popup&account=${STRANGER.slice(1)}%2B`,
    `mode=popup&account=${STRANGER}&account=${STRANGER}`,
    'mode=popup&redirect_url=/a&redirect_url=/b',
    'mode=popup&prompt=none',
    'account=short',
  ])('%s: a 400 page, and nothing is started', async (query) => {
    const browser = new Browser();
    const refused = await login(browser, query);
    expectFailurePage(refused, 'bad_request', 400);
    expect(browser.cookieNames('localhost')).toEqual([]);
  });

  describe('when the page says who worked there', () => {
    it('closes itself for the same person', async () => {
      const browser = new Browser();
      const back = await signIn(browser, `mode=popup&account=${digestOf('ada')}`);
      const page = await browser.step(back.location ?? '');
      expect(saysOf(page)).toEqual({ account: digestOf('ada'), closes: 'yes' });
    });

    it('stays and warns when somebody else signed in, names them, and says the new account', async () => {
      const browser = new Browser();
      const back = await signIn(browser, `mode=popup&account=${digestOf('ada')}`, lieOf('grace'));
      const page = await browser.step(back.location ?? '');
      expect(saysOf(page)).toEqual({ account: digestOf('grace'), closes: 'no' });
      expect(page.body).toContain('You signed in as <strong>grace@x.test</strong>');
      expect(page.body).toContain('somebody else');
      expect(page.body).not.toContain('ada@x.test');
    });

    it('offers to choose another account in the same mode, and closes itself after that', async () => {
      const browser = new Browser();
      const asked = `mode=popup&account=${digestOf('ada')}`;
      const back = await signIn(browser, asked, lieOf('grace'));
      const link = linkOf(await browser.step(back.location ?? ''));
      const sent = await browser.step(link.href);
      expect(isAtIdp(sent)).toBe(true);
      expect(new URL(sent.location ?? '').searchParams.get('prompt')).toBe('select_account');
      const answer = service.idp.authorize(sent.location ?? '', lieOf('ada'));
      const again = await browser.step(`${service.url}/callback?${answer}`);
      const page = await browser.step(again.location ?? '');
      expect(saysOf(page)).toEqual({ account: digestOf('ada'), closes: 'yes' });
    });

    it('lets a name be text alone', async () => {
      const browser = new Browser();
      const lie = lieOf('eve', '<script>alert(1)</script>@x.test');
      const back = await signIn(browser, `mode=popup&account=${STRANGER}`, lie);
      const page = await browser.step(back.location ?? '');
      expect(page.body.match(/<script/g)).toHaveLength(1);
      expect(page.body).toContain('&lt;script&gt;alert(1)');
    });
  });

  describe('when it fails', () => {
    const finishFrom = async (browser: Browser, page: Received) => {
      const sent = await browser.step(linkOf(page).href);
      const answer = service.idp.authorize(sent.location ?? '', lieOf('ada'));
      return (await browser.step(`${service.url}/callback?${answer}`)).location;
    };
    const asked = `mode=popup&account=${STRANGER}`;
    const wanted = () => `${service.url}${SIGNED_IN}?account=${STRANGER}`;

    it('"try again" keeps the mode and the account after the person cancelled at the IdP', async () => {
      const browser = new Browser();
      const sent = await login(browser, asked);
      const state = new URL(sent.location ?? '').searchParams.get('state') ?? '';
      const query = new URLSearchParams({ error: 'access_denied', state, iss: service.idp.issuer });
      const page = await browser.step(`${service.url}/callback?${query}`);
      expectFailurePage(page, 'idp_refused', 403);
      expect(await finishFrom(browser, page)).toBe(wanted());
    });

    it('"try again" keeps them after an answer that was not accepted', async () => {
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
    it('leads whoever has no session to sign in, and back', async () => {
      const browser = new Browser();
      const sent = await browser.step(`${service.url}${SIGNED_IN}?account=${STRANGER}`);
      expect(sent.status).toBe(302);
      expect(sent.location).toBe(
        `${service.url}/login?redirect_url=${encodeURIComponent(`${SIGNED_IN}?account=${STRANGER}`)}`,
      );
      const asked = await browser.step(sent.location ?? '');
      expect((await service.finish(browser, asked.location ?? '')).location).toBe(
        `${service.url}${SIGNED_IN}?account=${STRANGER}`,
      );
    });

    it('answers a program 401, and tells no account', async () => {
      const refused = await exchange(service.url + SIGNED_IN);
      expect(refused.status).toBe(401);
      expect(refused.headers['content-type']).toBe('application/problem+json');
    });

    it.each(['account=', 'account=short', `account=${STRANGER}&account=${STRANGER}`])(
      '%s: 400',
      async (query) => {
        const browser = new Browser();
        await signIn(browser, '');
        const refused = await browser.step(`${service.url}${SIGNED_IN}?${query}`);
        expectFailurePage(refused, 'bad_request', 400);
      },
    );

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
