import type { Lie } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { signed } from '../wire/forge.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startService } from '../wire/platform.ts';
import { expectFailurePage } from '../wire/sign-in.ts';

type Claims = Readonly<Record<string, unknown>>;

/** What the IdP answers: claims of the id_token where there is one, and of UserInfo where that answers at all. */
interface Answers {
  readonly idToken: Claims | 'absent';
  readonly userInfo: Claims | 'unavailable';
}

const UNVERIFIED = { email: 'ceo@corp.example', email_verified: false };
const UNQUALIFIED = { email: 'ceo@corp.example' };
const VERIFIED = { email: 'ada@corp.example', email_verified: true };
const EVIL = { email: 'x@evil.example', email_verified: true };
const QUALIFIER = { email_verified: true };

/** No single answer says that an address of the domain is verified; all of them together seem to. */
const MIXED: readonly (readonly [string, Answers])[] = [
  [
    'an id_token with an address it does not verify, and a UserInfo that verifies another',
    { idToken: UNQUALIFIED, userInfo: EVIL },
  ],
  [
    'an id_token that verifies another address, and a UserInfo with one it does not verify',
    { idToken: EVIL, userInfo: UNQUALIFIED },
  ],
  [
    'an id_token with the address, and a UserInfo with the qualifier',
    { idToken: UNQUALIFIED, userInfo: QUALIFIER },
  ],
  [
    'an id_token with the qualifier, and a UserInfo with the address',
    { idToken: QUALIFIER, userInfo: UNQUALIFIED },
  ],
  [
    'an id_token that says the address is not verified, and a UserInfo that says it is',
    { idToken: UNVERIFIED, userInfo: { ...UNVERIFIED, email_verified: true } },
  ],
];

/** One answer says it all. */
const WHOLE: readonly (readonly [string, Answers])[] = [
  ['an id_token that verifies it', { idToken: VERIFIED, userInfo: {} }],
  ['a UserInfo that verifies it', { idToken: {}, userInfo: VERIFIED }],
  [
    'an id_token with the address, and a UserInfo that verifies it',
    { idToken: { email: VERIFIED.email }, userInfo: VERIFIED },
  ],
  [
    'an id_token that verifies it, and a UserInfo with another address',
    { idToken: VERIFIED, userInfo: EVIL },
  ],
];

/** Beyond `validUntil`: the next request waits for the renewal. */
const OVERDUE_MS = 16 * 60_000;

describe('access.emailDomains with', () => {
  let clock: MovedClock;
  let service: Service;
  beforeAll(async () => {
    clock = await startMovedClock();
    service = await startService({}, [], { clock }, undefined, [
      'access: { emailDomains: [corp.example] }',
      'rateLimit: { perMinute: 200 }',
    ]);
    service.idp.now = clock.now;
  });
  afterAll(async () => {
    await service.stop();
    await clock.close();
  });

  const toLie = ({ idToken, userInfo }: Answers): Lie => ({
    forge: signed(idToken === 'absent' ? {} : idToken),
    hasNoIdToken: idToken === 'absent',
    userInfoAnswer:
      userInfo === 'unavailable'
        ? { status: 503, body: '' }
        : { body: JSON.stringify({ sub: 'ada', ...userInfo }) },
    rotation: { accessTokenSeconds: 600 },
  });
  const me = (browser: Browser) =>
    browser.step(`${service.url}/me`, { headers: { accept: 'application/json' } });
  /** Signs in with one set of answers, and is renewed with another. */
  const renewWith = async (answers: Answers) => {
    const browser = new Browser();
    const lie: Lie = toLie({ idToken: VERIFIED, userInfo: {} });
    await service.signIn(browser, '/wanted', lie);
    const before = await me(browser);
    expect([before.status, before.headers['x-user-email']]).toEqual([200, VERIFIED.email]);
    Object.assign(lie, toLie(answers));
    await clock.advance(OVERDUE_MS);
    return me(browser);
  };

  it.each(MIXED)('%s: the sign-in is refused', async (_, answers) => {
    const received = await service.signIn(new Browser(), '/wanted', toLie(answers));
    expectFailurePage(received, 'not_allowed', 403);
  });

  it.each(WHOLE)('%s: the sign-in is accepted, and backends receive it', async (_, answers) => {
    const browser = new Browser();
    const received = await service.signIn(browser, '/wanted', toLie(answers));
    expect([received.status, received.location]).toEqual([302, `${service.url}/wanted`]);
    const { status, headers } = await me(browser);
    expect([status, headers['x-user-email']]).toEqual([200, VERIFIED.email]);
  });

  it.each([
    ...MIXED,
    [
      'a new address in the id_token, while UserInfo cannot be had: the former address was verified',
      { idToken: UNQUALIFIED, userInfo: 'unavailable' },
    ] as const,
    [
      'an id_token that takes the former verification back, while UserInfo cannot be had',
      { idToken: { email_verified: false }, userInfo: 'unavailable' },
    ] as const,
    [
      'no id_token, and a UserInfo with another address than the sign-in verified',
      { idToken: 'absent', userInfo: UNQUALIFIED },
    ] as const,
    [
      'no id_token, and a UserInfo that takes the verification of the sign-in back',
      { idToken: 'absent', userInfo: { email_verified: false } },
    ] as const,
  ])('%s: refused from the renewal on', async (_, answers) => {
    const renewed = await renewWith(answers);
    expect(renewed.status).toBe(403);
    expect(JSON.parse(renewed.body)).toMatchObject({ reason: 'not_allowed' });
  });

  it.each([
    ...WHOLE,
    [
      'an id_token without any address, while UserInfo cannot be had',
      { idToken: {}, userInfo: 'unavailable' },
    ] as const,
    [
      'the former address in the id_token, while UserInfo, which verifies it, cannot be had',
      { idToken: { email: VERIFIED.email }, userInfo: 'unavailable' },
    ] as const,
    [
      'no id_token, and a UserInfo with the address that the sign-in verified',
      { idToken: 'absent', userInfo: { email: VERIFIED.email } },
    ] as const,
    [
      'no id_token, while UserInfo cannot be had',
      { idToken: 'absent', userInfo: 'unavailable' },
    ] as const,
  ])('%s: admitted after the renewal', async (_, answers) => {
    const { status, headers } = await renewWith(answers);
    expect([status, headers['x-user-email']]).toEqual([200, VERIFIED.email]);
  });
});
