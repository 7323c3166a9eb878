import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { type Browser, createBrowser } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  PUBLIC_URL,
  type RunningIdp,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILURE_WINDOW_MS, FAILURES_MAX } from './sign-in-limiter.ts';

let running: RunningIdp;

beforeAll(async () => {
  running = await startIdp();
});

afterAll(() => running.close());

async function openSignIn(parameters: Record<string, string> = {}) {
  const browser = createBrowser();
  const first = await browser.get(authorizeUrl(running, parameters));
  return { browser, page: await browser.follow(first, running.issuer) };
}

const passwordOf = (login: string): string =>
  running.idp.users.find((user) => user.login === login)?.password ?? '';

describe('sign-in page', () => {
  it('says that it is a development identity provider, and for which application it asks', async () => {
    const { page } = await openSignIn();
    expect(page.status).toBe(200);
    expect(page.text).toContain('Development identity provider');
    expect(page.text).toContain('Sallyport console');
  });

  it('has a strict policy: no script, the one style sheet by its hash, nothing from elsewhere', async () => {
    const { page } = await openSignIn();
    const policy = page.headers.get('content-security-policy') ?? '';
    const style = /<style>([\s\S]*)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      'script-src',
      `style-src 'sha256-${hash}'`,
      'img-src data:',
      `form-action 'self' ${PUBLIC_URL} http://localhost:53593`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(page.text).not.toMatch(/<script|style=|\son[a-z]+=|src=|https?:\/\//);
    expect(page.headers.get('cache-control')).toContain('no-store');
  });

  it('labels every field', async () => {
    const { page } = await openSignIn();
    const fields = [...page.text.matchAll(/<input id="(\w+)"/g)].map((match) => match[1]);
    expect(fields).toEqual(['login', 'password']);
    for (const field of fields) expect(page.text).toContain(`<label for="${field}">`);
  });

  it('puts login_hint into the form as text', async () => {
    const { page } = await openSignIn({ login_hint: '"><script>alert(1)</script>' });
    expect(page.text).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(page.text).not.toContain('<script>');
  });

  it('signs each seeded user in', async () => {
    for (const login of ['ada', 'grace']) {
      const { callback } = await signIn(running, authorizeUrl(running), { login });
      expect(callback.searchParams.has('code')).toBe(true);
    }
  });

  it('answers a browser with a page that goes on by itself, and a program with a redirect', async () => {
    const { browser, page } = await openSignIn();
    const credentials = { login: 'ada', password: passwordOf('ada') };
    const program = await browser.submit(page.url, credentials);
    expect(program.status).toBe(303);
    const navigation = await browser.submit(page.url, credentials, {
      'sec-fetch-mode': 'navigate',
    });
    expect(navigation.status).toBe(200);
    expect(navigation.location).toBeUndefined();
    expect(navigation.headers.get('refresh')).toBe(`0;url=${program.location}`);
    expect(navigation.text).toContain(`href="${program.location}"`);
  });

  it.each([
    ['ada', 'wrong'],
    ['nobody', 'wrong'],
    ['', ''],
  ])(
    'shows the form again with an alert for %j and %j, and without the password',
    async (login, password) => {
      const { browser, page } = await openSignIn();
      const answer = await browser.submit(page.url, { login, password: `${password}-canary` });
      expect(answer.status).toBe(403);
      expect(answer.text).toMatch(/role="alert">The user name or the password is not right\.</);
      expect(answer.text).not.toContain('canary');
      const right = await browser.submit(page.url, { login: 'ada', password: passwordOf('ada') });
      expect(right.status).toBe(303);
    },
  );

  it('lets a person cancel: the application gets access_denied', async () => {
    const { browser, page } = await openSignIn();
    const submitted = await browser.submit(page.url, { cancel: 'yes', login: '', password: '' });
    const answer = await browser.follow(submitted, running.issuer);
    const callback = new URL(answer.location ?? '');
    expect(callback.searchParams.get('error')).toBe('access_denied');
    expect(callback.searchParams.has('code')).toBe(false);
  });

  it('works for the browser that began only: a form without its cookie is refused', async () => {
    const { page } = await openSignIn();
    const other = await openSignIn();
    const credentials = { login: 'ada', password: passwordOf('ada') };
    expect((await createBrowser().submit(page.url, credentials)).status).toBe(400);
    expect((await other.browser.submit(page.url, credentials)).status).toBe(400);
    expect((await other.browser.get(page.url)).text).toContain('no longer open');
  });

  it('answers at its own path only', async () => {
    const { browser, page } = await openSignIn();
    expect((await browser.get(`${page.url}/x`)).status).toBe(400);
    expect((await browser.get(page.url)).status).toBe(200);
  });

  it('works once: a finished sign-in is no longer open', async () => {
    const browser = createBrowser();
    const { page } = await signIn(running, authorizeUrl(running), { browser });
    expect((await browser.get(page.url)).status).toBe(400);
  });

  it('refuses a body that is no form or too large, and methods that are none of its own', async () => {
    const { browser, page } = await openSignIn();
    const long = await browser.submit(page.url, { login: 'ada', password: 'x'.repeat(10_000) });
    expect(long.status).toBe(413);
    const json = { 'content-type': 'application/json' };
    expect((await browser.submit(page.url, { login: 'ada' }, json)).status).toBe(400);
  });

  it('keeps its cookies away from the deployment on the same host', async () => {
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    const { answer } = await signIn(running, authorizeUrl(running, { prompt: 'login' }), {
      browser,
    });
    expect(browser.cookieNames()).toContain('sallyport_idp_session');
    const cookies = answer.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/path=\/idp[/;]?/);
      expect(cookie).toMatch(/httponly/);
      expect(cookie).toMatch(/samesite=lax/);
    }
  });
});

describe('guessing passwords', () => {
  it('is stopped with 429 and Retry-After, even for the right password, until the window is over', async () => {
    const clock = { now: Date.UTC(2026, 0, 1) };
    const limited = await startIdp({ now: () => clock.now });
    try {
      const browser = createBrowser();
      const page = await browser.follow(await browser.get(authorizeUrl(limited)), limited.issuer);
      const wrong = { login: 'ada', password: 'wrong' };
      const right = { login: 'ada', password: limited.idp.users[0]?.password ?? '' };
      for (let count = 0; count < FAILURES_MAX; count += 1)
        expect((await browser.submit(page.url, wrong)).status).toBe(403);

      const answer = await browser.submit(page.url, right);
      expect(answer.status).toBe(429);
      expect(answer.headers.get('retry-after')).toBe(String(FAILURE_WINDOW_MS / 1_000));
      expect(answer.text).toContain('role="alert"');
      expect(limited.events.at(-1)).toBe('idp.sign_in.limited {"login":"ada"}');

      clock.now += FAILURE_WINDOW_MS;
      expect((await browser.submit(page.url, right)).status).toBe(303);
    } finally {
      await limited.close();
    }
  });
});

describe('guessing passwords from one address', () => {
  // The rest of 127.0.0.0/8 is bound to the loopback by itself on Linux only.
  it.runIf(process.platform === 'linux')(
    'locks out no person who signs in from another address',
    async () => {
      const limited = await startIdp();
      try {
        const guesser = createBrowser('127.0.0.2');
        const open = async (browser: Browser) =>
          browser.follow(await browser.get(authorizeUrl(limited)), limited.issuer);
        const page = await open(guesser);
        const wrong = { login: 'ada', password: 'wrong' };
        for (let count = 0; count < FAILURES_MAX; count += 1)
          expect((await guesser.submit(page.url, wrong)).status).toBe(403);
        expect((await guesser.submit(page.url, wrong)).status).toBe(429);

        const { callback } = await signIn(limited, authorizeUrl(limited));
        expect(callback.searchParams.has('code')).toBe(true);
      } finally {
        await limited.close();
      }
    },
  );
});

describe('signInAs', () => {
  it('signs the named user in without a page', async () => {
    const automatic = await startIdp({ signInAs: 'grace' });
    try {
      const browser = createBrowser();
      const first = await browser.get(authorizeUrl(automatic));
      const answer = await browser.follow(first, automatic.issuer);
      expect(answer.location).toMatch(new RegExp(`^${PUBLIC_URL}/callback\\?code=`));
      expect(automatic.events).toContain('idp.sign_in.automatic {"login":"grace"}');
    } finally {
      await automatic.close();
    }
  });

  it('refuses to start for a person who is not seeded', async () => {
    await expect(startIdp({ signInAs: 'root' })).rejects.toThrow('ada and grace');
  });
});

/** Status of the discovery document, asked for with a request target and headers of one's own. */
function ask(
  headers: Record<string, string>,
  path = '/.well-known/openid-configuration',
): Promise<number> {
  const { hostname, port } = new URL(running.issuer);
  return new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('host', () => {
  it('answers for its own name only, so that a re-pointed name reads nothing', async () => {
    const { host, port } = new URL(running.issuer);
    expect(await ask({ host })).toBe(200);
    expect(await ask({ host: `evil.test:${port}` })).toBe(421);
    expect(await ask({ host }, 'http://evil.test/.well-known/openid-configuration')).toBe(421);
  });
});
