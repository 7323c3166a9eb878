import { DEFAULT_RECIPE, renderNginxRecipe } from '@sallyport/recipes/nginx';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken } from '../../conformance/wire/bearer.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Platform, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';

/** One request, spelt with names that the test puts real values in for. */
interface Drawn {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** Everything a verdict may depend on, each in several spellings. */
const REQUEST: fc.Arbitrary<Drawn> = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'),
    cookie: fc.option(
      fc.oneof(
        fc.constantFrom('ADA', 'GRACE', 'OLD', 'ADA; core_session=x', 'ADA; ADA', 'ADA; GRACE'),
        fc.constantFrom(
          '__Host-ADA',
          'x=1;ADA ; y=2',
          'x=ADA',
          'xADA',
          '; ADA',
          'core_session=; ADA',
        ),
        fc.constantFrom(
          'CORE_SESSION=1; ADA',
          'ADAx',
          '"ADA"',
          'x="; ADA; y="',
          'core_session =1; ADA',
        ),
      ),
    ),
    'core-authorization': fc.option(
      fc.constantFrom('GOOD', 'BAD', 'Basic eDp5', 'ADA', '', ['GOOD', 'BAD'], ['GOOD', 'GOOD']),
      { freq: 1 },
    ),
    authorization: fc.option(fc.constantFrom('GOOD', 'BAD', 'Basic eDp5', 'GRACE'), { freq: 1 }),
    origin: fc.option(fc.constantFrom('OWN', 'https://evil.example', 'null')),
    'sec-fetch-site': fc.option(fc.constantFrom('none', 'same-origin', 'same-site', 'cross-site')),
    'sec-websocket-key': fc.option(fc.constant('AAAAAAAAAAAAAAAAAAAAAA=='), { freq: 1 }),
    'content-type': fc.option(fc.constantFrom('application/json', 'application/connect+json')),
    'x-original-method': fc.option(fc.constantFrom('GET', 'POST'), { freq: 1 }),
    'x-sallyport-verdict-key': fc.option(fc.constantFrom('ADA', 'GRACE'), { freq: 1 }),
  })
  .map(({ method, ...headers }) => ({
    method,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
    ),
  }));

describe.skipIf(NGINX.isLeftOut)('nginx: verdicts kept for a moment, and any two requests', () => {
  let platform: Platform;
  let values: ReadonlyMap<string, string>;
  const signIn = async (subject: string) => {
    const browser = new Browser();
    const { idp } = platform.service;
    idp.forge = (forgery) =>
      idp.honest({ ...forgery, claims: { ...forgery.claims, sub: subject } });
    idp.userInfo = { sub: subject };
    await platform.signIn(browser);
    return `core_session=${browser.cookie('localhost', 'core_session')}`;
  };
  beforeAll(async () => {
    const files = renderNginxRecipe({ ...DEFAULT_RECIPE, verdictFolder: 'verdicts' });
    platform = await startPlatform('doors: { me: { verdictCache: 5s } }\n', { files });
    const token = await accessToken(platform.service.idp, platform.url, { sub: 'service' });
    const [ada, grace, old] = [await signIn('ada'), await signIn('grace'), await signIn('ada')];
    await exchange(`${platform.url}/logout`, {
      headers: {
        cookie: old,
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
    });
    values = new Map([
      ['ADA', ada],
      ['GRACE', grace],
      ['OLD', old],
      ['GOOD', `Bearer ${token}`],
      ['BAD', `Bearer ${token}x`],
      ['OWN', platform.url],
    ]);
  });
  afterAll(() => platform.stop());

  const spell = (text: string) =>
    text.replaceAll(/ADA|GRACE|OLD|GOOD|BAD|OWN/g, (word) => values.get(word) ?? '');
  const spellAll = (headers: Drawn['headers']) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        typeof value === 'string' ? spell(value) : value.map(spell),
      ]),
    );

  /** What nginx does with a request: its status, and the identity that the backend received. */
  async function askNginx({ method, headers }: Drawn) {
    const { seen } = platform.backend('console');
    const before = seen.length;
    const { status } = await exchange(`${platform.url}/page`, {
      method,
      headers: spellAll(headers),
    });
    const [arrived] = seen.slice(before);
    return { status, subject: arrived?.headers['x-user-subject'] };
  }

  /** What the check says itself. */
  async function askDirectly({ method, headers }: Drawn) {
    const { status, headers: said } = await exchange(`${platform.service.url}/me`, {
      headers: {
        ...spellAll(headers),
        'x-original-method': method,
      },
    });
    return { status, subject: status === 200 ? said['x-user-subject'] : undefined };
  }

  it('nginx answers each as the check does by itself, whatever was asked just before', async () => {
    let admitted = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(REQUEST, { minLength: 2, maxLength: 5 }), async (requests) => {
        for (const request of requests) {
          const [byNginx, byCheck] = [await askNginx(request), await askDirectly(request)];
          expect({ request, ...byNginx }).toEqual({ request, ...byCheck });
          if (byCheck.status === 200) admitted += 1;
          else refused += 1;
        }
      }),
      { numRuns: 120 },
    );
    expect(Math.min(admitted, refused)).toBeGreaterThan(50);
    // Many were answered from what was kept: else this would say nothing.
    const asked = platform.backend('admin').seen.filter(({ path }) => path === '/me');
    expect(asked.length).toBeLessThan(admitted + refused - 20);
  });
});
