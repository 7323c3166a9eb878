import { type Lie, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Browser, NAVIGATION } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { createAsker } from '../wire/many.ts';
import { showMetadata, untilMetadataIsAsked } from '../wire/metadata-asked.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { type MovedHost, startMovedHost } from '../wire/service-host.ts';
import { askMe, expectFailurePage, expectSignsIn } from '../wire/sign-in.ts';

const POLLS = 2_000;
const TRIES = 2_000;
/** A person does not wait longer for a service that is up again. */
const SOON_SECONDS = 15;

let moved: MovedHost;
beforeAll(async () => {
  moved = await startMovedHost({ movesTimers: true });
});
afterAll(() => moved.close());

/** Asks until it is ready, or often enough. */
async function becomesReady(service: Service): Promise<boolean> {
  const asker = createAsker(service.url, 1);
  let status = 0;
  for (let polls = 0; polls < POLLS && status !== 200; polls += 1)
    [status = 0] = await asker.ask('/readyz', [{}]);
  asker.close();
  return status === 200;
}

async function startWithoutIdp(): Promise<Service> {
  const idp = await startFakeIdp(WEB_CLIENT_ID);
  await idp.goDown();
  return startHostedService({}, [], idp, [], moved.host);
}

/** Without a sign-in meanwhile: the service finds the IdP by itself. */
async function expectReadySoon(service: Service): Promise<void> {
  await service.idp.comeUp();
  expect(await untilMetadataIsAsked(moved.clock, service.idp)).toBeLessThan(SOON_SECONDS);
  expect(await becomesReady(service)).toBe(true);
  await expectSignsIn(service, new Browser());
}

describe('While the IdP cannot be reached at start', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startWithoutIdp();
  });
  afterAll(() => service.stop());

  const status = async (path: string) => (await exchange(service.url + path)).status;

  it('is up and healthy, and not ready', async () => {
    expect(await status('/healthz')).toBe(200);
    expect(await status('/readyz')).toBe(503);
  });

  it('/me answers 401 as ever', async () => {
    expect(await status('/me')).toBe(401);
  });

  it('/login shows the page that says so, with Retry-After, and sets nothing', async () => {
    const received = await exchange(`${service.url}/login?redirect_url=/wanted`, {
      headers: NAVIGATION,
    });
    expectFailurePage(received, 'idp_unreachable', 503);
    expect(received.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(received.setCookies).toEqual([]);
    const retry = /href="(\/login\?redirect_url=[^"]+)"/.exec(received.body)?.[1] ?? '';
    expect(decodeURIComponent(retry)).toContain('/wanted');
  });

  it('/login answers a program with 401, and /logout shows the signed-out page', async () => {
    const refused = await exchange(`${service.url}/login`, {
      headers: { 'sec-fetch-mode': 'cors' },
    });
    expect(refused.status).toBe(401);
    const page = await exchange(`${service.url}/logout`, { headers: NAVIGATION });
    expect(page.status).toBe(200);
  });

  it('becomes ready without a restart soon after the IdP comes up', async () => {
    await expectReadySoon(service);
  });
});

describe('While the IdP cannot be reached at start and people keep trying', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startWithoutIdp();
  });
  afterAll(() => service.stop());

  it('becomes ready no later for it', async () => {
    // Enough that some are under way whenever the service tries by itself.
    const people = createAsker(service.url, 16);
    const logins = Array.from({ length: TRIES }, () => '/login');
    const heads = await people.heads(logins, NAVIGATION);
    people.close();
    expect(new Set(heads.map(({ status }) => status))).toEqual(new Set([503]));
    await expectReadySoon(service);
  });
});

describe('A service that had been ready, when the IdP goes down', () => {
  let service: Service;
  let signedIn: Browser;
  beforeAll(async () => {
    service = await startHostedService();
    signedIn = new Browser();
    await expectSignsIn(service, signedIn);
    await service.idp.goDown();
  });
  afterAll(() => service.stop());

  it('keeps admitting the sessions that exist', async () => {
    for (let asked = 0; asked < 10; asked += 1) expect(await askMe(service, signedIn)).toBe(200);
    expect(await askMe(service, new Browser())).toBe(401);
  });

  it('leads a browser that is signed in to its page', async () => {
    const received = await signedIn.step(`${service.url}/login?redirect_url=/wanted`);
    expect([received.status, received.location]).toEqual([302, `${service.url}/wanted`]);
  });

  it('stays ready, and sends others to the IdP by the last good metadata', async () => {
    expect((await exchange(`${service.url}/readyz`)).status).toBe(200);
    const received = await new Browser().step(`${service.url}/login`);
    expect(received.status).toBe(302);
    expect(received.location).toContain(`${service.idp.issuer}/authorize?`);
  });

  it('shows the error page to a browser that comes back from it, and signs the person in once it is up', async () => {
    const browser = new Browser();
    const received = await service.signIn(browser, '/wanted');
    expectFailurePage(received, 'idp_unreachable', 503);
    expect(received.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(await askMe(service, browser)).toBe(401);
    await service.idp.comeUp();
    await expectSignsIn(service, browser);
  });
});

describe('An IdP whose metadata', () => {
  let service: Service;
  beforeAll(async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    idp.metadata = { issuer: `${idp.issuer}/` };
    service = await startHostedService({}, [], idp, [], moved.host);
  });
  afterAll(() => service.stop());

  it.each<[string, (issuer: string) => Readonly<Record<string, unknown>>]>([
    ['names another issuer', () => ({ issuer: 'https://evil.example' })],
    ['names its issuer with a path more', (issuer) => ({ issuer: `${issuer}/other` })],
    ['names its issuer with a slash more', (issuer) => ({ issuer: `${issuer}/` })],
    ['names its issuer in capitals', (issuer) => ({ issuer: issuer.toUpperCase() })],
    ['lacks the issuer', () => ({ issuer: undefined })],
    ['has its keys in a file', () => ({ jwks_uri: 'file:///etc/passwd' })],
    ['has a script for signing in', () => ({ authorization_endpoint: 'javascript:alert(1)' })],
    ['has a script for signing out', () => ({ end_session_endpoint: 'javascript:alert(1)' })],
    ['has its tokens elsewhere by plain http', () => ({ token_endpoint: 'http://192.0.2.1/t' })],
  ])('%s is not believed: not ready, no browser is sent there', async (_, metadata) => {
    const { idp } = service;
    await showMetadata(moved.clock, idp, metadata(idp.issuer));
    const received = await new Browser().step(`${service.url}/login`);
    // Waiting does not mend a wrong issuer; the rest is the IdP's to mend.
    if ('issuer' in metadata(idp.issuer)) expectFailurePage(received, 'misconfigured', 500);
    else expectFailurePage(received, 'idp_unreachable', 503);
    expect((await exchange(`${service.url}/readyz`)).status).toBe(503);
  });
});

describe('An IdP whose metadata, once it is good,', () => {
  it('is mended is believed within seconds', async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    idp.metadata = { issuer: `${idp.issuer}/` };
    const service = await startHostedService({}, [], idp, [], moved.host);
    await untilMetadataIsAsked(moved.clock, idp);
    expect((await exchange(`${service.url}/readyz`)).status).toBe(503);
    idp.metadata = {};
    expect(await untilMetadataIsAsked(moved.clock, idp)).toBeLessThan(SOON_SECONDS);
    expect(await becomesReady(service)).toBe(true);
    await expectSignsIn(service, new Browser());
    await service.stop();
  });

  it('names an authorize endpoint with a query of its own keeps it (RFC 6749 section 3.1)', async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    idp.metadata = { authorization_endpoint: `${idp.issuer}/authorize?tenant=a%20b` };
    const service = await startHostedService({}, [], idp);
    const received = await new Browser().step(`${service.url}/login`);
    await service.stop();
    const { searchParams } = new URL(received.location ?? '');
    expect(searchParams.getAll('tenant')).toEqual(['a b']);
    expect(searchParams.getAll('client_id')).toEqual([WEB_CLIENT_ID]);
  });
});

describe('An IdP that answers too slowly', () => {
  /** Starts a service that follows the clock; tokens of its IdP, too. */
  async function startFollowing(file: readonly string[] = []): Promise<Service> {
    const service = await startHostedService({}, [], undefined, file, moved.host);
    onTestFinished(() => service.stop());
    service.idp.now = moved.clock.now;
    return service;
  }

  /** Lets time pass until there is an answer. */
  async function expectWithinSeconds<T>(seconds: number, answer: Promise<T>): Promise<T> {
    let isAnswered = false;
    const note = () => {
      isAnswered = true;
    };
    answer.then(note, note);
    const begun = moved.clock.now();
    while (!isAnswered) await moved.clock.advance(500);
    expect((moved.clock.now() - begun) / 1_000).toBeLessThan(seconds);
    return answer;
  }

  it('head, body or userinfo: after ten seconds a page, no session; others were not held up', async () => {
    const service = await startFollowing();
    const lies: readonly Lie[] = [
      { forge: () => new Promise<string>(() => {}) },
      { answer: () => ({ body: '{"access_token":"canary', isEndless: true }) },
      { userInfoAnswer: { body: '{"sub":"ada"', isEndless: true } },
    ];
    const browsers = lies.map(() => new Browser());
    const asked = [
      ...Array.from({ length: 2 }, () => service.idp.nextRequest('/token')),
      service.idp.nextRequest('/userinfo'),
    ];
    const late = Promise.all(
      lies.map((lie, at) => service.signIn(browsers[at] ?? new Browser(), '/wanted', lie)),
    );
    await Promise.all(asked);
    await expectSignsIn(service, new Browser());
    for (const received of await expectWithinSeconds(15, late)) {
      expectFailurePage(received, 'idp_unreachable', 503);
      expect(received.body).not.toContain('canary');
    }
    for (const browser of browsers) {
      expect(await askMe(service, browser)).toBe(401);
      await expectSignsIn(service, browser);
    }
  });

  it('a pushed authorization request: after ten seconds the page to try again, and nothing in the browser', async () => {
    const service = await startFollowing([
      'auth: { userAuth: { openId: { pushedAuthorization: always } } }',
    ]);
    service.idp.stalled.add('/par');
    const pushed = service.idp.nextRequest('/par');
    const login = new Browser().step(`${service.url}/login?redirect_url=/wanted`);
    const { form } = await pushed;
    const received = await expectWithinSeconds(15, login);
    expectFailurePage(received, 'idp_unreachable', 503);
    expect([received.location, received.setCookies]).toEqual([undefined, []]);
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(received.body).not.toContain(form.get(name));
    service.idp.stalled.clear();
    await expectSignsIn(service, new Browser());
  });
});
