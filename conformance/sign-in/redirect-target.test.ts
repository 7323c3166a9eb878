import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DEEP_LINKS,
  DOCS_ORIGIN,
  listRedirectAttacks,
  spellRedirectTarget,
} from '@sallyport/testing/wire/redirect-targets';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Asker, createAsker } from '../wire/many.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';

const TOTAL = process.env['CI'] === 'true' ? 20_000 : 4_000;
const BATCH = 100;

/** Stands in redirect targets for the service, whose port is not known before it runs. */
const STAND_IN = 'http://localhost:4321';

/** Endpoints of ours: no browser is sent there. */
const ENDPOINTS: readonly string[] = [
  '/login',
  '/login/',
  '/callback',
  '/logout',
  '/logout/x',
  '/me',
  '/me/x',
  '/auth/session',
  '/%6cogin',
  '/l%6Fgin',
  '/x/../login',
  '/x/%2e%2e/logout',
  '/./me',
  '/.%2flogout',
  '/login%2fx',
  `${STAND_IN}/login`,
  `${STAND_IN}/%6dE/../me`,
];

/** Redirect targets that lead to the root, by the trick they rely on. */
const ATTACKS: readonly (readonly [string, readonly string[]])[] = [
  ...Object.entries(listRedirectAttacks(STAND_IN)),
  ['endpoints of ours', ENDPOINTS],
  ['another port', ['http://localhost/']],
];

/** What a hostile target is pieced together from. */
const PIECES = [
  '/ \\ . .. : @ ? # % ; %2f %5c %09 %0d%0a %252f \u3002 \uff0f'.split(' '),
  'http https javascript evil.example localhost docs.example:8443 127.0.0.1 login a'.split(' '),
  ['\t', '\n', '\r', ' ', '\u0000'],
].flat();

function login(target: string): string {
  return `/login?redirect_url=${encodeURIComponent(target)}`;
}

describe('Where a browser is sent after signing in and out', () => {
  const folder = temporaryFolder();
  let service: Service;
  let asker: Asker;
  let cookie: string;

  beforeAll(async () => {
    const config = join(folder.path, 'config.yaml');
    writeFileSync(config, `rateLimit: { perMinute: 100000 }\nredirectOrigins: [${DOCS_ORIGIN}]\n`);
    service = await startHostedService({}, ['--config', config]);
    asker = createAsker(service.url, 16);
    const browser = new Browser();
    // Another person than those below, who have more browsers than a person may have sessions.
    await service.signIn(browser, '/', {
      forge: (forgery) =>
        service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: 'visitor' } }),
      userInfo: { sub: 'visitor' },
    });
    cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
  });
  afterAll(async () => {
    asker.close();
    await service.stop();
    folder.remove();
  });

  const spell = (payload: string) =>
    payload.replaceAll(new URL(STAND_IN).host, new URL(service.url).host);
  /** Where a signed-in browser ends up. */
  const withSession = async (targets: readonly string[]) =>
    (await asker.heads(targets.map(login), { cookie })).map(({ location }) => location ?? '');
  /** Where a browser ends up through the IdP and back. */
  const throughIdp = async (target: string) => {
    const browser = new Browser();
    return (await service.signIn(browser, target)).location ?? '';
  };

  describe.each(ATTACKS)('the root, for %s', (_, payloads) => {
    it.each(payloads.map((payload) => [JSON.stringify(payload).slice(0, 60), payload]))(
      '%s, plain and percent-encoded: at /login with a session, through the IdP, and at /logout',
      async (_shown, payload) => {
        const targets = [...spellRedirectTarget(spell(payload))];
        const root = `${service.url}/`;
        expect(await withSession(targets)).toEqual(targets.map(() => root));
        expect(await Promise.all(targets.map(throughIdp))).toEqual(targets.map(() => root));
        for (const target of targets) {
          const query = `redirect_url=${encodeURIComponent(target)}`;
          // Signed out already: a page, whose link leads to the root.
          const page = await exchange(`${service.url}/logout?${query}`);
          expect([page.status, page.location]).toEqual([200, undefined]);
          const link = /href="(\/login[^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
          const asked = new URL(link, service.url).searchParams.get('redirect_url');
          expect(asked).toBe(root);
        }
      },
    );
  });

  it.each([
    '/login?redirect_url=/',
    '/login#x',
    '/callback?code=x&state=y',
    '/logout?redirect_url=/x',
    '/me?x=1',
  ])('the root, for an endpoint of ours with a query or fragment: %s', async (target) => {
    expect(await withSession([target, service.url + target])).toEqual([
      `${service.url}/`,
      `${service.url}/`,
    ]);
    expect(await throughIdp(target)).toBe(`${service.url}/`);
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example/', '/%2f%2fevil.example'])(
    'the root, for %s through a whole sign-out at the IdP',
    async (target) => {
      const browser = new Browser();
      await service.signIn(browser);
      const sent = await browser.step(
        `${service.url}/logout?redirect_url=${encodeURIComponent(target)}`,
        { form: {}, headers: { origin: service.url } },
      );
      const end = new URL(sent.location ?? '');
      expect(end.origin).toBe(service.idp.issuer);
      expect(end.searchParams.get('state')).toBeNull();
      expect(end.href).not.toContain('evil');
      const back = await browser.step(end.searchParams.get('post_logout_redirect_uri') ?? '');
      expect(back.status).toBe(200);
      expect(back.body).not.toContain('evil');
    },
  );

  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/%2f%2fevil.example',
    '/me',
  ])('the root, for X-Original-URI %s at /me, followed to its end', async (uri) => {
    const denied = await exchange(`${service.url}/me`, { headers: { 'x-original-uri': uri } });
    expect(denied.status).toBe(401);
    const { origin, pathname, searchParams } = new URL(denied.location ?? '');
    expect([origin, pathname]).toEqual([service.url, '/login']);
    expect(await withSession([searchParams.get('redirect_url') ?? ''])).toEqual([
      `${service.url}/`,
    ]);
  });

  it('the page itself, whatever Host, forwarded headers and absolute request targets say', async () => {
    const headers = {
      cookie,
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '444',
      'x-forwarded-prefix': '/evil',
      'x-forwarded-uri': '//evil.example',
      'x-original-url': 'https://evil.example/',
      'x-auth-request-redirect': 'https://evil.example/',
      forwarded: 'host=evil.example;proto=https',
    };
    const [direct] = await asker.heads([login('/wanted')], headers);
    expect(direct?.location).toBe(`${service.url}/wanted`);
    const started = await exchange(service.url + login('/wanted'), {
      headers: { ...headers, cookie: '' },
    });
    expect(started.location).not.toContain('evil');
    expect(new URL(started.location ?? '').searchParams.get('redirect_uri')).toBe(
      `${service.url}/callback`,
    );
  });

  describe('the page that was wanted, byte for byte', () => {
    it.each([
      ...DEEP_LINKS,
      '/a?b=%ff%fe&c=%00&d=%0d%0a',
      '/100%/x?y=50%',
      '/a?x[]=1&y={z}|^`',
      '/?',
      '/a?=&&=',
      '/loginx',
      '/login-help',
      '/mellow',
      '/LOGIN',
      `/${'a'.repeat(3_000)}`,
    ])('%s', async (target) => {
      const wanted = service.url + target;
      expect(await withSession([target, wanted])).toEqual([wanted, wanted]);
      expect(await throughIdp(target)).toBe(wanted);
      expect(await throughIdp(wanted)).toBe(wanted);
    });

    it('on an allowed further origin, absolute only, and no other port or scheme of it', async () => {
      expect(await withSession([`${DOCS_ORIGIN}/guide?x=1#y`])).toEqual([
        `${DOCS_ORIGIN}/guide?x=1#y`,
      ]);
      expect(await throughIdp(`${DOCS_ORIGIN}/guide?x=1#y`)).toBe(`${DOCS_ORIGIN}/guide?x=1#y`);
      const left = await exchange(
        `${service.url}/logout?redirect_url=${encodeURIComponent(`${DOCS_ORIGIN}/bye`)}`,
      );
      expect([left.status, left.location]).toEqual([302, `${DOCS_ORIGIN}/bye`]);
    });

    it('for generated paths, queries and fragments', async () => {
      const text = fc.string({ unit: 'grapheme', maxLength: 12 });
      const link = fc
        .tuple(fc.array(text, { maxLength: 5 }), text, text)
        .map(([segments, query, fragment]) => {
          const path = segments.map((each) => encodeURIComponent(each.toWellFormed())).join('/');
          const url = new URL(`/app/${path}`, 'http://x');
          url.search = query;
          url.hash = fragment;
          return url.pathname + url.search + url.hash;
        })
        // What decodes to another path, or to a control character, is not a page.
        .filter(
          (target) => !/%(?:2f|5c|2e|25|7f|[01][0-9a-f])/i.test(target.split(/[?#]/, 1)[0] ?? ''),
        );
      await fc.assert(
        fc.asyncProperty(
          fc.array(link, { minLength: BATCH, maxLength: BATCH }),
          async (targets) => {
            expect(await withSession(targets)).toEqual(
              targets.map((target) => service.url + target),
            );
          },
        ),
        { numRuns: 5, endOnFailure: true },
      );
    });
  });

  it(`never another origin, for ${TOTAL} arbitrary texts and bytes at /login with a session`, async () => {
    const { host } = new URL(service.url);
    const piece = fc.constantFrom(...PIECES, host);
    const target = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc.array(piece, { maxLength: 12 }).map((pieces) => encodeURIComponent(pieces.join(''))),
      fc.array(piece, { maxLength: 12 }).map((pieces) => encodeURIComponent(`/${pieces.join('')}`)),
      fc
        .array(piece, { maxLength: 12 })
        .map((pieces) => encodeURIComponent(`http://${pieces.join('')}`)),
      fc
        .uint8Array({ maxLength: 40 })
        .map((bytes) =>
          [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
        ),
      fc.webUrl().map(encodeURIComponent),
    );
    const allowed = new Set([service.url, DOCS_ORIGIN]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(target, { minLength: BATCH, maxLength: BATCH }),
        async (targets) => {
          const heads = await asker.heads(
            targets.map((each) => `/login?redirect_url=${each}`),
            { cookie },
          );
          for (const [index, { status, location = '' }] of heads.entries()) {
            const url = URL.parse(location, service.url);
            const shown = `${targets[index]} -> ${status} ${location}`;
            expect(status, shown).toBe(302);
            expect(allowed.has(url?.origin ?? ''), shown).toBe(true);
            // What is sent is the address itself: nothing is left for a browser to interpret.
            expect(url?.href, shown).toBe(location);
            expect(
              /^\/(?:[/\\]|(?:login|logout|callback|me)(?:\/|$))/.test(url?.pathname ?? ''),
              shown,
            ).toBe(false);
          }
        },
      ),
      { numRuns: TOTAL / BATCH, endOnFailure: true },
    );
  }, 240_000);
});
