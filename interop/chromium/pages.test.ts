import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../packages/cli/src/console/console-page.ts';
import { buildPlatformPage } from '../../packages/cli/src/console/platform-page.ts';
import {
  renderDeviceConnectedPage,
  renderUserCodeConfirmPage,
  renderUserCodePage,
} from '../../packages/idp/src/embedded/pages/device.ts';
import { renderErrorPage } from '../../packages/idp/src/embedded/pages/error.ts';
import { renderSignInPage } from '../../packages/idp/src/embedded/pages/sign-in.ts';
import {
  renderSignedOutPage,
  renderSignOutPage,
} from '../../packages/idp/src/embedded/pages/sign-out.ts';
import { STYLE_SOURCE } from '../../packages/idp/src/embedded/pages/style.ts';
import { buildAccountPage } from '../../packages/server/src/page/account-page.ts';
import {
  buildFailurePage,
  type FailureDetails,
  type FailureReason,
} from '../../packages/server/src/page/failure-page.ts';
import {
  buildSignedOutPage,
  buildSignOutQuestionPage,
} from '../../packages/server/src/page/sign-out-pages.ts';
import { buildSignedInAgainPage } from '../../packages/server/src/page/signed-in-again-page.ts';
import { CHROMIUM } from './chromium.ts';
import { auditPage } from './page-audit.ts';
import { Visitor } from './visitor.ts';

/** Longer than any screen, with no place to break it. */
const LONG = `https://identity.example.test/${'averylongpathsegment'.repeat(20)}`;
const DETAILS: FailureDetails = {
  requestId: '5f0c3c2e-6a0b-4b8e-9f15-0b7a7c1d2e3f',
  retryUrl: '/login',
  signOutUrl: '/logout',
  account: `${'ada.lovelace.'.repeat(12)}@example.test`,
  idpError: { code: 'x'.repeat(64), description: LONG },
};
/** Each reason as key, so that a new one is a type error here. */
const REASONS: Readonly<Record<FailureReason, true>> = {
  attempt_gone: true,
  bad_request: true,
  cookies_blocked: true,
  cross_site: true,
  idp_refused: true,
  idp_unreachable: true,
  misconfigured: true,
  not_allowed: true,
  rate_limited: true,
  renewal_unavailable: true,
  sign_in_revoked: true,
  store_unavailable: true,
  token_invalid: true,
  unexpected: true,
};

const AGAIN = buildSignedInAgainPage({ account: 'A'.repeat(16), name: LONG });

interface Sent {
  readonly body: string;
  readonly headers: Iterable<readonly [string, string]>;
}

const FORM = { action: '/', xsrf: 'x' };
const PAGES: ReadonlyMap<string, Sent> = new Map([
  ...(Object.keys(REASONS) as FailureReason[]).map(
    (reason) => [`failure ${reason}`, buildFailurePage(reason, DETAILS)] as const,
  ),
  ['sign-out question', buildSignOutQuestionPage('/logout', undefined)],
  ['signed out', buildSignedOutPage('/login', false)],
  ['account', accountPage()],
  ['signed in again', AGAIN],
  // As the script shows it: what is hidden is shown, and the other way round.
  [
    'signed in again as another person',
    {
      ...AGAIN,
      body: AGAIN.body
        .replace('<p id="signed-in"', '<p id="signed-in" hidden')
        .replace('role="alert" hidden', 'role="alert"'),
    },
  ],
  ['console', consolePage()],
  ['platform', platformPage()],
  ['IdP sign-in', ofIdp(signInPage())],
  ['IdP sign-in, refused', ofIdp(signInPage('The user name or the password is not right.'))],
  ['IdP sign-out question', ofIdp(renderSignOutPage(FORM))],
  ['IdP signed out', ofIdp(renderSignedOutPage())],
  [
    'IdP error',
    ofIdp(renderErrorPage({ title: LONG, advice: LONG, error: LONG, description: LONG })),
  ],
  ['IdP device code', ofIdp(renderUserCodePage(FORM, 'That code is not known.'))],
  ['IdP device confirmation', ofIdp(renderUserCodeConfirmPage(FORM, LONG, 'BCDF-GHJK'))],
  ['IdP device connected', ofIdp(renderDeviceConnectedPage(LONG))],
]);

/** 320 px is a small telephone, or 1280 px at 400 % (WCAG 2.2 section 1.4.10). */
const VIEWPORTS = [
  { width: 320, height: 640 },
  { width: 375, height: 720 },
  { width: 640, height: 400 },
  { width: 1280, height: 800 },
];

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: every page', () => {
  let server: Server;
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const sent = PAGES.get(decodeURIComponent(request.url?.slice(1) ?? ''));
      for (const [name, value] of sent?.headers ?? []) response.setHeader(name, value);
      // What the console's script asks for is another test's subject.
      response.statusCode = sent === undefined ? 204 : 200;
      response.end(sent?.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    visitor = await Visitor.arrive();
    page = await visitor.newTab();
  });
  afterAll(async () => {
    await visitor.leave();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([...PAGES.keys()])('is readable, narrow and wide, dark and light: %s', async (name) => {
    await page.goto(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/${encodeURIComponent(name)}`,
    );
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const viewport of VIEWPORTS) {
        await page.setViewportSize(viewport);
        const { overflow, topHeadings, text, borders, smallTargets } = await auditPage(page);
        const where = `${colorScheme}, ${viewport.width} px`;
        expect(overflow, where).toBe(0);
        expect(topHeadings, where).toBe(1);
        expect(text.contrast, `${where}: ${text.sample}`).toBeGreaterThanOrEqual(4.5);
        expect(borders, where).toBeGreaterThanOrEqual(3);
        expect(smallTargets, where).toEqual([]);
      }
    }
    expect(visitor.complaints()).toEqual([]);
  });

  it('passes an audit that finds the faults of an unreadable page', async () => {
    const bad = await visitor.newTab();
    await bad.setViewportSize({ width: 320, height: 640 });
    await bad.setContent(
      `<body style="background:#fff;color:#888"><h1>a</h1><h1>b</h1><input style="border:1px solid #eee">
      <a class="act" style="font-size:8px">x</a><p>${LONG}</p>`,
    );
    const { overflow, topHeadings, text, borders, smallTargets } = await auditPage(bad);
    expect(overflow).toBeGreaterThan(0);
    expect(topHeadings).toBe(2);
    expect(text.contrast).toBeCloseTo(3.54, 1);
    expect(borders).toBeCloseTo(1.16, 1);
    expect(smallTargets).toContain('x');
  });
});

function accountPage(): Sent {
  const listed = { id: 'AAAAAAAA', browser: LONG, address: LONG, createdAt: 0, lastUsedAt: 0 };
  return buildAccountPage({
    ...{
      name: LONG,
      email: LONG,
      subject: LONG,
      issuer: LONG,
      notice: 'ended',
      idpOrigin: undefined,
    },
    current: { ...listed, endsAt: 1_000, absoluteEnd: 1_000 },
    others: [{ ...listed, id: 'BBBBBBBB' }],
    now: 0,
  });
}

function consolePage(): Sent {
  const person = { name: LONG, email: LONG, subject: LONG, issuer: LONG };
  const view = { ...person, target: LONG, hasPlatform: true };
  const { headers, body } = buildConsolePage(view, 'http://127.0.0.1:1');
  return { headers: Object.entries(headers), body };
}

function platformPage(): Sent {
  const lastError = { words: LONG, since: 0, until: undefined };
  const files = { folder: '/root', secretFile: LONG, logFile: LONG };
  const calls = { peer: 'cluster', protocol: 'Connect', readsFrom: LONG, secret: LONG };
  const token = { clientId: LONG, knownAs: LONG, tokenEndsAt: 3_600_000, tokenSince: 0 };
  const rest = {
    admitted: 1_000_000,
    withoutToken: 'unauthenticated',
    starts: 1_000,
    lastError,
    startsAgainAt: 9_000,
  };
  const actors = (['calling', 'failing', 'waiting', 'starting'] as const).flatMap((state) =>
    (['control plane', 'data plane'] as const).map((plane) => ({
      ...{ ...files, ...calls, ...token, ...rest },
      name: `${state}-${plane.replace(' ', '-')}`,
      plane,
      state,
    })),
  );
  const { headers, body } = buildPlatformPage(actors, 0, 'http://127.0.0.1:1');
  // As a person who has opened everything sees it.
  return { headers: Object.entries(headers), body: body.replaceAll('<details>', '<details open>') };
}

function signInPage(alert?: string): string {
  const shown = { action: '/', applicationName: LONG, login: LONG };
  return renderSignInPage(alert === undefined ? shown : { ...shown, alert });
}

/** Sent with the part of the IdP's policy that its style depends on. */
function ofIdp(body: string): Sent {
  const policy = `default-src 'none'; style-src ${STYLE_SOURCE}; img-src data:`;
  return {
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-security-policy', policy],
    ],
    body,
  };
}
