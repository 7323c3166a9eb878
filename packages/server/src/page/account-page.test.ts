import { anyText } from '@sallyport/testing/arbitraries/any-text';
import { NOON } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccountView, buildAccountPage, isAccountNotice } from './account-page.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const VIEW: AccountView = {
  name: 'Ada Lovelace',
  email: 'ada@corp.example',
  subject: 'ada-subject',
  issuer: 'https://idp.example',
  current: {
    id: 'AAAAAAAA',
    browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    address: '192.0.2.1',
    createdAt: NOON - 3 * HOUR,
    lastUsedAt: NOON - MINUTE,
    endsAt: NOON + 12 * HOUR,
    absoluteEnd: NOON + 165 * HOUR,
  },
  others: [
    {
      id: '-_0aB9zZ',
      browser: 'curl/8.14.1',
      address: '',
      createdAt: NOON - 50 * HOUR,
      lastUsedAt: NOON - 2 * HOUR,
    },
  ],
  notice: undefined,
  now: NOON,
  idpOrigin: 'https://idp.example',
};

const bodyOf = (view: Partial<AccountView> = {}) => buildAccountPage({ ...VIEW, ...view }).body;
/** What stands under each term. */
const termsOf = (body: string) =>
  Object.fromEntries(
    [...body.matchAll(/<dt>([^<]+)<\/dt><dd>(.*?)<\/dd>/g)].map(([, term, text]) => [
      term,
      text?.replaceAll(/<[^>]+>/g, ''),
    ]),
  );
const itemsOf = (body: string) =>
  [...body.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item]) =>
    item
      ?.replaceAll('<br>', ' ')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s+/g, ' '),
  );

describe('the account page', () => {
  it('says who it is and what is known of this session', () => {
    expect(termsOf(bodyOf())).toEqual({
      Name: 'Ada Lovelace',
      'E-mail': 'ada@corp.example',
      Subject: 'ada-subject',
      Issuer: 'https://idp.example',
      'Signed in': '2026-01-05 09:00 UTC (3 hours ago)',
      Browser: 'Firefox 140 on Linux',
      'Signed in from': '192.0.2.1',
      'Ends if unused': '2026-01-06 00:00 UTC (in 12 hours)',
      'Ends at the latest': '2026-01-12 09:00 UTC (in 7 days)',
    });
  });

  it('leaves out a name and an e-mail address that are not known', () => {
    const terms = Object.keys(termsOf(bodyOf({ name: '', email: '' })));
    expect(terms).not.toContain('Name');
    expect(terms).not.toContain('E-mail');
    expect(terms).toContain('Subject');
  });

  it('lists every session, the current one first and marked', () => {
    const [current, other, ...more] = itemsOf(bodyOf());
    expect(current).toBe(
      'Firefox 140 on Linux this browser Signed in 2026-01-05 09:00 UTC (3 hours ago) from 192.0.2.1 In use now Sign out',
    );
    expect(other).toBe(
      'curl/8.14.1 Signed in 2026-01-03 10:00 UTC (2 days ago) from an unknown address Last used 2 hours ago End',
    );
    expect(more).toEqual([]);
  });

  it('names each button by what it ends, for screen readers', () => {
    const body = bodyOf();
    const buttons = [...body.matchAll(/<button [^>]*name="end" value="([^"]*)"[^>]*>/g)];
    expect(buttons.map(([, value]) => value)).toEqual(['AAAAAAAA', '-_0aB9zZ', 'all']);
    for (const id of ['AAAAAAAA', '-_0aB9zZ']) {
      const names = new RegExp(`value="${id}"[^>]*aria-labelledby="([^"]*)"`).exec(body)?.[1];
      expect(names).toBe(`end-${id} browser-${id} details-${id}`);
      for (const name of names?.split(' ') ?? [])
        expect(body.match(new RegExp(`id="${name}"`, 'g'))).toHaveLength(1);
    }
  });

  it('shows no character that reorders or hides what stands beside it', () => {
    const hostile = '\u202eada\u2066\u0007\u009b1m\u200b';
    const body = bodyOf({
      name: `n${hostile}`,
      email: `e${hostile}`,
      subject: `s${hostile}`,
      issuer: `i${hostile}`,
      current: { ...VIEW.current, browser: `b${hostile}`, address: `a${hostile}` },
      others: VIEW.others.map((each) => ({ ...each, browser: hostile, address: hostile })),
    });
    expect(body).not.toMatch(/[^\n\P{Cc}]|\p{Cf}/u);
    expect(termsOf(body)).toMatchObject({ Name: 'n ada   1m', 'E-mail': 'e ada   1m' });
    expect(body).toContain('from a ada');
  });

  it('leaves out a name of which nothing can be shown', () => {
    expect(Object.keys(termsOf(bodyOf({ name: '\u202e\u0000' })))).not.toContain('Name');
    expect(Object.keys(termsOf(bodyOf({ name: '\u202ex' })))).toContain('Name');
  });

  it('posts to its own address, and may end at the IdP', () => {
    const page = buildAccountPage(VIEW);
    expect(page.body.match(/<form/g)).toHaveLength(1);
    expect(page.body).toContain('<form method="post" action="/auth/account">');
    expect(page.headers).toContainEqual([
      'content-security-policy',
      expect.stringContaining("form-action 'self' https: https://idp.example;"),
    ]);
  });

  it('reports what was done, and nothing when nothing was', () => {
    expect(bodyOf({ notice: 'ended' })).toContain(
      '<p class="note" role="status">That session has ended.',
    );
    expect(bodyOf({ notice: 'gone' })).toContain(
      '<p class="note" role="status">There is no such session',
    );
    expect(bodyOf()).not.toContain('role="status"');
  });

  it.each(['ended', 'gone'])('knows the notice %s', (code) => {
    expect(isAccountNotice(code)).toBe(true);
  });

  it.each(['', 'Ended', 'toString', '__proto__', '<b>'])('knows no notice %j', (code) => {
    expect(isAccountNotice(code)).toBe(false);
  });

  it('escapes every value that it shows', () => {
    const hostile = fc.oneof(
      fc.constantFrom('<script>alert(1)</script>', '"><img src=x onerror=x>', "'--></style>"),
      anyText(),
    );
    const shapeOf = (text: string) => text.replaceAll(/[^<>"']/g, '');
    fc.assert(
      fc.property(
        fc.array(hostile, { minLength: 6, maxLength: 6 }),
        ([name = '', email = '', subject = '', issuer = '', browser = '', address = '']) => {
          const build = (texts: readonly [string, string, string, string, string, string]) =>
            bodyOf({
              name: texts[0],
              email: texts[1],
              subject: texts[2],
              issuer: texts[3],
              current: { ...VIEW.current, browser: texts[4], address: texts[5] },
              others: [],
            });
          const plain = build(['a', 'b', 'c', 'd', 'e', 'f']);
          const built = build([`a${name}`, `b${email}`, subject, issuer, browser, address]);
          expect(shapeOf(built)).toBe(shapeOf(plain));
        },
      ),
    );
  });
});
