import { createHash } from 'node:crypto';
import { anyText } from '@sallyport/testing/arbitraries/any-text';
import { NOON } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccountView, buildAccountPage, type ListedSession } from './account-page.ts';
import {
  buildFailurePage,
  type FailureDetails,
  type FailureReason,
  failureStatus,
} from './failure-page.ts';
import type { Page } from './page.ts';
import { buildSignedOutPage, buildSignOutQuestionPage } from './sign-out-pages.ts';

const RUNS = process.env['CI'] === undefined ? 150 : 2_000;

/** Written as a record, so that a new reason does not compile until it stands here. */
const STATUS: Readonly<Record<FailureReason, number>> = {
  attempt_gone: 400,
  bad_request: 400,
  cookies_blocked: 400,
  cross_site: 403,
  idp_refused: 403,
  idp_unreachable: 503,
  misconfigured: 500,
  not_allowed: 403,
  rate_limited: 429,
  renewal_unavailable: 503,
  sign_in_revoked: 403,
  store_unavailable: 503,
  token_invalid: 502,
  unexpected: 500,
};
const REASONS = Object.keys(STATUS) as FailureReason[];
const FULL: Required<FailureDetails> = {
  requestId: 'request-0001',
  retryUrl: '/login?redirect_url=%2F',
  signOutUrl: '/logout',
  account: 'ada@corp.example',
  idpError: { code: 'access_denied', description: 'No.' },
  register: ['https://flows.example.com/callback'],
};
const LISTED: ListedSession = {
  id: 'AAAAAAAA',
  browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  address: '192.0.2.1',
  createdAt: NOON,
  lastUsedAt: NOON,
};
const ACCOUNT: AccountView = {
  name: 'Ada Lovelace',
  email: 'ada@corp.example',
  subject: 'ada-subject',
  issuer: 'idp.example',
  current: { ...LISTED, endsAt: NOON, absoluteEnd: NOON },
  others: [{ ...LISTED, id: 'BBBBBBBB' }],
  notice: 'ended',
  now: NOON,
  idpOrigin: undefined,
};
const PAGES: readonly (readonly [string, Page])[] = [
  ...REASONS.flatMap((reason) => [
    [reason, buildFailurePage(reason, { requestId: 'request-0001' })] as const,
    [`${reason} with all details`, buildFailurePage(reason, FULL)] as const,
  ]),
  ['the sign-out question', buildSignOutQuestionPage('/logout', 'https://idp.example')],
  ['signed out', buildSignedOutPage('/login', true)],
  ['signed out here alone', buildSignedOutPage('/login', false)],
  ['account', buildAccountPage(ACCOUNT)],
];

function policyOf(page: Page): string {
  return page.headers.find(([name]) => name === 'content-security-policy')?.[1] ?? '';
}

/** What of a text could be markup. */
function shapeOf(text: string): string {
  return text.replaceAll(/[^<>"']/g, '');
}

describe.each(PAGES)('the page %s', (_name, page) => {
  it('is a whole document in English with one title, said in the heading as well', () => {
    expect(page.body).toMatch(/^<!doctype html>\n<html lang="en">/);
    const titles = [...page.body.matchAll(/<title>([^<]+)<\/title>/g)].map(([, title]) => title);
    const headings = [...page.body.matchAll(/<h1>([^<]+)<\/h1>/g)].map(([, heading]) => heading);
    expect(titles).toHaveLength(1);
    expect(headings).toEqual(titles);
    expect(page.body).toMatch(/<main(?: class="wide")?>/);
    expect(page.body).toContain('<meta charset="utf-8">');
    expect(page.body).toContain('name="viewport"');
  });

  it('allows by its policy the very style it has, and nothing else', () => {
    const style = /<style>([\s\S]*?)<\/style>/.exec(page.body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    const directives = policyOf(page).split('; ');
    expect(style.length).toBeGreaterThan(100);
    expect(directives).toContain("default-src 'none'");
    expect(directives).toContain(`style-src 'sha256-${hash}'`);
    expect(directives).toContain("base-uri 'none'");
    expect(directives).toContain("frame-ancestors 'none'");
    expect(policyOf(page)).not.toMatch(/unsafe|script-src|\*/);
  });

  it('holds no script, loads nothing, and has one style in one place', () => {
    // An empty icon, so that no browser asks for one.
    const body = page.body.replace('<link rel="icon" href="data:,">', '');
    expect(body).not.toMatch(
      /<script|<link|<img|<iframe|<object|<svg|<base|javascript:|\son\w+=|@import|url\(|\ssrc=|\sstyle=/i,
    );
    expect(page.body.replaceAll(/<code>[^<]*<\/code>/g, '')).not.toMatch(/https?:\/\//);
    expect(page.body.match(/<style>/g)).toHaveLength(1);
  });

  it('is one person’s: kept by no cache, shown to no other site, read as what it is', () => {
    expect(page.headers).toContainEqual(['cache-control', 'no-store']);
    expect(page.headers).toContainEqual(['x-accel-expires', '0']);
    // Under no-referrer a form would be posted with `Origin: null`, and refused as another site's.
    const referrers = page.body.includes('<form') ? 'same-origin' : 'no-referrer';
    expect(page.headers).toContainEqual(['referrer-policy', referrers]);
    expect(page.headers).toContainEqual(['x-content-type-options', 'nosniff']);
    expect(page.headers).toContainEqual(['content-type', 'text/html; charset=utf-8']);
    const names = page.headers.map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a failure page', () => {
  it.each(Object.entries(STATUS))('%s is sent with %d', (reason, status) => {
    expect(failureStatus(reason as FailureReason)).toBe(status);
  });

  it.each(REASONS)('%s says what happened, its reason and the request id', (reason) => {
    const { body } = buildFailurePage(reason, { requestId: 'request-0001' });
    expect(body).toContain(`Reason <code>${reason}</code>, request <code>request-0001</code>`);
    expect(body.match(/<p>/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it('has another title for each reason', () => {
    const titles = REASONS.map(
      (reason) => /<title>(.*)<\/title>/.exec(buildFailurePage(reason, FULL).body)?.[1],
    );
    expect(new Set(titles).size).toBe(REASONS.length);
  });

  it('shows account, error and links where they are given, and none where not', () => {
    const full = buildFailurePage('idp_refused', FULL).body;
    expect(full).toContain('Account: <strong>ada@corp.example</strong>');
    expect(full).toContain('It said: <code>access_denied</code> – No.');
    expect(full).toContain('href="/login?redirect_url=%2F"');
    expect(full).toContain('href="/logout"');
    const bare = buildFailurePage('idp_refused', { requestId: 'request-0001' }).body;
    expect(full).toContain('<code>https://flows.example.com/callback</code>');
    expect(bare).not.toMatch(/Account|It said|<a |register there/);
  });

  it('shows no character of an account or of an IdP that reorders or hides what stands beside it', () => {
    const hostile = '\u202edrow\u2066\u0007\u009b1m\u200b';
    const { body } = buildFailurePage('idp_refused', {
      ...FULL,
      account: `ada${hostile}`,
      idpError: { code: `x${hostile}`, description: `No${hostile}` },
    });
    expect(body).not.toMatch(/[^\n\P{Cc}]|\p{Cf}/u);
    expect(body).toContain('Account: <strong>ada drow   1m </strong>');
    expect(body).toContain('– No drow   1m</p>');
  });

  it('shows no more of what an IdP says than a person reads', () => {
    const { body } = buildFailurePage('idp_refused', {
      ...FULL,
      idpError: { code: 'x', description: 'y'.repeat(50_000) },
    });
    expect(body).toContain('y'.repeat(300));
    expect(body).not.toContain('y'.repeat(301));
  });

  it('escapes every value that it shows', () => {
    const hostile = fc.oneof(
      fc.constantFrom(
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        "' onclick='x",
        '</title><b>',
        '</style>',
        '<!--',
        '&lt;b&gt;',
        ']]>',
      ),
      anyText(),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...REASONS),
        hostile,
        hostile,
        hostile,
        hostile,
        hostile,
        hostile,
        (reason, ...texts) => {
          const build = ([
            requestId,
            retryUrl,
            signOutUrl,
            account,
            code,
            description,
          ]: readonly string[]) =>
            buildFailurePage(reason, {
              requestId: requestId ?? '',
              retryUrl: retryUrl ?? '',
              signOutUrl: signOutUrl ?? '',
              account: account ?? '',
              idpError: { code: code ?? '', description: `x${description ?? ''}` },
            });
          const [page, plain] = [build(texts), build(['a', 'b', 'c', 'd', 'e', 'f'])];
          expect(shapeOf(page.body)).toBe(shapeOf(plain.body));
          expect(page.headers).toEqual(plain.headers);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('the sign-out pages', () => {
  it('ask by a form that posts to us, and may end at the IdP where there is one', () => {
    const page = buildSignOutQuestionPage('/logout?redirect_url=%2Fx', 'https://idp.example');
    expect(page.body).toContain(
      '<form method="post" action="/logout?redirect_url=%2Fx"><button class="act" type="submit">',
    );
    const targets = policyOf(page)
      .match(/form-action ([^;]+)/)?.[1]
      ?.split(' ');
    expect(targets).toEqual(["'self'", 'https:', 'https://idp.example']);
    expect(policyOf(buildSignOutQuestionPage('/logout', undefined))).toContain(
      "form-action 'self' https:;",
    );
  });

  it('and the account page alone have a form: no other page may post anything anywhere', () => {
    for (const [name, page] of PAGES) {
      const hasForm = ['the sign-out question', 'account'].includes(name);
      expect(page.body.includes('<form'), name).toBe(hasForm);
      expect(policyOf(page).includes("form-action 'none'"), name).toBe(!hasForm);
    }
  });

  it('never sign in by themselves: the way back is a link', () => {
    const { body } = buildSignedOutPage('/login?redirect_url=%2F', true);
    expect(body).toContain('<a class="act" href="/login?redirect_url=%2F">');
    expect(body).not.toMatch(/http-equiv|refresh/i);
  });

  it('say so when the IdP could not be notified', () => {
    expect(buildSignedOutPage('/login', false).body).toContain('you may still be signed in there');
    expect(buildSignedOutPage('/login', true).body).not.toContain('still be signed in');
  });

  it('let no target become markup', () => {
    const target = '/logout?x="><script>alert(1)</script>';
    for (const { body } of [
      buildSignOutQuestionPage(target, undefined),
      buildSignedOutPage(target, true),
    ]) {
      expect(body).not.toContain('<script');
      expect(body).toContain('&quot;&gt;&lt;script&gt;');
    }
  });
});
