import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from './wire/browser.ts';
import { type Asker, createAsker } from './wire/many.ts';
import { type Service, startHostedService } from './wire/platform.ts';

const TOTAL = process.env['CI'] === 'true' ? 100_000 : 10_000;
const BATCH = 100;
const SESSION = 'core_session';
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** One bit of one base64url character, so that the result is still well-formed. */
function flipBit(value: string, position: number, bit: number): string {
  const at = position % value.length;
  const digit = BASE64URL.indexOf(value[at] ?? '');
  // A dot has no bits: it becomes a letter.
  const changed = digit === -1 ? 'A' : (BASE64URL[digit ^ (1 << (bit % 6))] ?? '');
  return value.slice(0, at) + changed + value.slice(at + 1);
}

describe('Cookies that the service did not issue', () => {
  let service: Service;
  let asker: Asker;
  const sessions: string[] = [];
  const attempts: { cookie: string; state: string }[] = [];

  beforeAll(async () => {
    service = await startHostedService();
    asker = createAsker(service.url, 16);
    for (let count = 0; count < 4; count += 1) {
      const browser = new Browser();
      await service.signIn(browser);
      sessions.push(browser.cookie('localhost', SESSION) ?? '');
      const opened = new Browser();
      const login = await opened.step(`${service.url}/login`);
      attempts.push({
        cookie: opened.cookie('localhost', 'core_login_0') ?? '',
        state: new URL(login.location ?? '').searchParams.get('state') ?? '',
      });
    }
  });
  afterAll(async () => {
    asker.close();
    await service.stop();
  });

  it('admits the cookies it gave', async () => {
    const statuses = await asker.ask(
      '/me',
      sessions.map((value) => ({ cookie: `${SESSION}=${value}` })),
    );
    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  it(`never admits, and never fails on, ${TOTAL} others: half of them given ones with one bit, name or part changed, or two spliced`, async () => {
    const given = fc.nat({ max: 3 }).map((index) => sessions[index] ?? '');
    const changed = fc.oneof(
      fc
        .tuple(given, fc.nat(), fc.nat())
        .map(([value, at, bit]) => `${SESSION}=${flipBit(value, at, bit)}`),
      fc.tuple(given, fc.nat({ max: 51 })).map(([value, at]) => `${SESSION}=${value.slice(0, at)}`),
      fc
        .tuple(given, fc.stringMatching(/^[A-Za-z0-9_.-]{1,8}$/))
        .map(([value, more]) => `${SESSION}=${value}${more}`),
      fc
        .tuple(given, fc.stringMatching(/^[A-Za-z0-9_]{1,6}$/))
        .map(([value, more]) => `${SESSION}${more}=${value}`),
      given.map((value) => `${SESSION.toUpperCase()}=${value}`),
      given.map((value) => `${SESSION}="${value}"`),
      given.map((value) => `${SESSION}=${value.split('.').toReversed().join('.')}`),
      fc
        .tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 51 }))
        .map(
          ([a, step, cut]) =>
            `${SESSION}=${sessions[a]?.slice(0, cut)}${sessions[(a + step) % 4]?.slice(cut)}`,
        ),
      fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 3 })).map(([a, step]) => {
        const [id] = (sessions[a] ?? '').split('.');
        const [, secret] = (sessions[(a + step) % 4] ?? '').split('.');
        return `${SESSION}=${id}.${secret}`;
      }),
      fc.nat({ max: 3 }).map((index) => `${SESSION}=${attempts[index]?.cookie}`),
    );
    const invented = fc.oneof(
      fc
        .stringMatching(/^[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{43}$/)
        .map((value) => `${SESSION}=${value}`),
      fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,200}$/),
      fc.stringMatching(/^[\x21-\x7e]{0,400}$/).map((value) => `${SESSION}=${value}`),
      fc
        .array(fc.stringMatching(/^[\x21-\x3a\x3c-\x7e]{0,20}$/), { maxLength: 60 })
        .map((values) => values.map((value) => `${SESSION}=${value}`).join('; ')),
    );
    const header = fc
      .oneof(changed, invented)
      .filter((cookie) => !sessions.some((value) => cookie === `${SESSION}=${value}`));
    await fc.assert(
      fc.asyncProperty(
        fc.array(header, { minLength: BATCH, maxLength: BATCH }),
        async (cookies) => {
          const statuses = await asker.ask(
            '/me',
            cookies.map((cookie) => ({ cookie })),
          );
          const wrong = cookies.filter(
            (_, index) => statuses[index] !== 401 && statuses[index] !== 400,
          );
          expect(wrong).toEqual([]);
        },
      ),
      { numRuns: TOTAL / BATCH, endOnFailure: true },
    );
    // And the honest ones are still what they were.
    expect(await asker.ask('/me', [{ cookie: `${SESSION}=${sessions[0]}` }])).toEqual([200]);
  }, 180_000);

  it('never begins a session for a changed attempt cookie or state, and asks the IdP for nothing', async () => {
    const asked = service.idp.counts.token;
    const mutation = fc
      .tuple(
        fc.nat({ max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(),
        fc.nat(),
        fc.constantFrom('cookie', 'state', 'other', 'key id', 'slot'),
      )
      .map(([index, step, at, bit, kind]) => {
        const { cookie = '', state = '' } = attempts[index] ?? {};
        const other = attempts[(index + step) % 4];
        switch (kind) {
          case 'cookie':
            return { cookie: `core_login_0=${flipBit(cookie, at, bit)}`, state };
          case 'state':
            return { cookie: `core_login_0=${cookie}`, state: flipBit(state, at, bit) };
          // Characters 2 to 9 hold the key id behind the version byte.
          case 'key id':
            return {
              cookie: `core_login_0=${flipBit(cookie, 2 + (at % 7), bit)}`,
              state: flipBit(state, 2 + (at % 7), bit),
            };
          case 'slot':
            return { cookie: `core_login_${1 + (at % 3)}=${cookie}`, state };
          case 'other':
            break;
        }
        return { cookie: `core_login_0=${other?.cookie}`, state };
      });
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 20, maxLength: 20 }), async (mutations) => {
        for (const { cookie, state } of mutations) {
          const [status] = await asker.ask(`/callback?code=x&state=${encodeURIComponent(state)}`, [
            { cookie },
          ]);
          // A lost attempt is started again once, or the page says why.
          expect([302, 400]).toContain(status);
        }
      }),
      { numRuns: 50 },
    );
    expect(service.idp.counts.token).toBe(asked);
  });
});
