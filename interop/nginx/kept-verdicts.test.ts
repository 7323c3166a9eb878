import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { DEFAULT_RECIPE, renderNginxRecipe } from '@sallyport/recipes/nginx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken } from '../../conformance/wire/bearer.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange, type Sent } from '../../conformance/wire/exchange.ts';
import { type Gate, type Platform, startGate, startPlatform } from './gate.ts';
import { callOnce, openClient, startGrpcBackend } from './grpc-backend.ts';
import { NGINX } from './nginx.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

const FOLDER = 'verdicts';
const FILES = renderNginxRecipe({ ...DEFAULT_RECIPE, verdictFolder: FOLDER });
const KEPT_FOR_MS = 5_000;
const EVIL = 'https://evil.example';
const PAGE = {
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  accept: 'text/html',
};

/** How often the check was asked since the last time. */
function createCounter(gate: Gate): () => number {
  const { seen } = gate.backend('admin');
  let before = 0;
  return () => {
    const all = seen.filter(({ path }) => path === '/me').length;
    const since = all - before;
    before = all;
    return since;
  };
}

async function startKeeping(grpc?: string): Promise<Platform> {
  const config = `doors:\n  me:\n    verdictCache: ${KEPT_FOR_MS / 1_000}s\n`;
  return startPlatform(config, { files: FILES, ...(grpc === undefined ? {} : { grpc }) });
}

/** Signs a person in, and gives the cookie. */
async function signIn(platform: Platform, subject: string): Promise<string> {
  const browser = new Browser();
  const { idp } = platform.service;
  idp.forge = (forgery) =>
    idp.honest({ ...forgery, claims: { ...forgery.claims, sub: subject, name: subject } });
  idp.userInfo = { sub: subject };
  await platform.signIn(browser);
  return `core_session=${browser.cookie('localhost', 'core_session')}`;
}

describe.skipIf(NGINX.isLeftOut)('nginx: verdicts kept for a moment', () => {
  let grpc: Awaited<ReturnType<typeof startGrpcBackend>>;
  let platform: Platform;
  let asked: () => number;
  let bearer: string;
  /** A cookie whose verdict nginx does not keep yet. */
  const fresh = () => signIn(platform, 'ada');
  const ask = (headers: Headers, method = 'GET', path = '/page') =>
    exchange(platform.url + path, { headers, method });
  beforeAll(async () => {
    grpc = await startGrpcBackend();
    platform = await startKeeping(grpc.address);
    asked = createCounter(platform);
    bearer = `Bearer ${await accessToken(platform.service.idp, platform.url)}`;
  });
  afterAll(async () => {
    await platform.stop();
    grpc.close();
  });

  it('an admission is served without asking again, with the identity that was asked about', async () => {
    const cookie = await fresh();
    asked();
    for (const path of ['/page', '/console', '/page?x=1']) {
      const sent = { cookie, origin: EVIL, 'sec-fetch-site': 'cross-site', accept: '*/*' };
      expect((await ask(sent, 'GET', path)).status).toBe(200);
      expect(platform.last('console').headers).toMatchObject({
        'x-user-subject': 'ada',
        'x-user-name': 'ada',
        'x-user-identity-type': 'user',
      });
    }
    // Other cookies are neither a part of the key nor of the question.
    expect((await ask({ cookie: `theme=dark; ${cookie}; lang=en` })).status).toBe(200);
    expect((await ask({ cookie }, 'HEAD')).status).toBe(200);
    expect(asked()).toBe(1);
    const { headers, rawHeaders } = platform
      .backend('admin')
      .seen.findLast(({ path }) => path === '/me') ?? { headers: {}, rawHeaders: [] };
    expect(headers).toMatchObject({ cookie, 'x-sallyport-verdict-key': cookie });
    // Nothing else that a verdict could depend on: neither bearers nor Origin, whatever the client sent.
    const names = rawHeaders.filter((_, index) => index % 2 === 0);
    expect(names.map((name) => name.toLowerCase()).toSorted()).toEqual([
      'cookie',
      'host',
      'x-forwarded-for',
      'x-original-method',
      'x-original-uri',
      'x-request-id',
      'x-sallyport-verdict-key',
    ]);
  });

  it('a verdict kept for one person is never served to another, in either order', async () => {
    const [ada, grace] = [await signIn(platform, 'ada'), await signIn(platform, 'grace')];
    for (const [cookie, subject] of [
      [ada, 'ada'],
      [grace, 'grace'],
      [ada, 'ada'],
      [grace, 'grace'],
    ] as const) {
      expect((await ask({ cookie })).status).toBe(200);
      expect(platform.last('console').headers['x-user-subject']).toBe(subject);
    }
  });

  it('a refusal is asked about each time, and a page is led to its own sign-in', async () => {
    const cookie = `core_session=AAAAAAAB.${'A'.repeat(43)}`;
    asked();
    for (const path of ['/page', '/other', '/page']) {
      const page = await ask({ cookie, ...PAGE }, 'GET', path);
      expect(page.status).toBe(302);
      expect(page.location).toBe(`${platform.url}/login?redirect_url=${encodeURIComponent(path)}`);
      expect((await ask({ cookie }, 'GET', path)).status).toBe(401);
    }
    expect(asked()).toBe(6);
  });

  /** A request, what is asked about one after it, and its status. */
  const OTHERS: readonly (readonly [string, (cookie: string) => Sent, number])[] = [
    ['no cookie', () => ({}), 401],
    ['another cookie', (cookie) => ({ headers: { cookie: `${cookie.slice(0, -4)}AAAA` } }), 401],
    [
      'two session cookies',
      (cookie) => ({ headers: { cookie: `${cookie}; core_session=x` } }),
      200,
    ],
    [
      'the session cookie under another name',
      (cookie) => ({ headers: { cookie: `__Host-${cookie}` } }),
      401,
    ],
    [
      'its bytes as a bearer',
      (cookie) => ({ headers: { authorization: `Bearer ${cookie}` } }),
      401,
    ],
    [
      'a bearer that is not accepted beside it',
      (cookie) => ({ headers: { cookie, 'core-authorization': 'Bearer x.y.z' } }),
      401,
    ],
    [
      'a bearer that is accepted beside it',
      (cookie) => ({ headers: { cookie, authorization: bearer } }),
      200,
    ],
    [
      'a bearer header sent twice',
      (cookie) => ({ headers: { cookie, 'core-authorization': [bearer, 'Bearer x.y.z'] } }),
      401,
    ],
    [
      'two bearers that differ',
      (cookie) => ({
        headers: { cookie, 'core-authorization': bearer, authorization: 'Bearer x.y.z' },
      }),
      401,
    ],
    ['a write', (cookie) => ({ method: 'POST', headers: { cookie } }), 200],
    [
      "another site's write",
      (cookie) => ({ method: 'POST', headers: { cookie, origin: EVIL } }),
      403,
    ],
    [
      "a sibling's write",
      (cookie) => ({ method: 'DELETE', headers: { cookie, 'sec-fetch-site': 'same-site' } }),
      403,
    ],
    [
      'a WebSocket of another site',
      (cookie) => ({
        headers: {
          cookie,
          origin: EVIL,
          upgrade: 'websocket',
          connection: 'upgrade',
          'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        },
      }),
      403,
    ],
  ];

  it.each(OTHERS)('after an admission, %s is asked about by itself', async (_, other, expected) => {
    const cookie = await fresh();
    expect((await ask({ cookie })).status).toBe(200);
    asked();
    expect((await exchange(`${platform.url}/page`, other(cookie))).status).toBe(expected);
    expect(asked()).toBe(1);
    // And what was kept still is, for whom it is for.
    expect((await ask({ cookie })).status).toBe(200);
    expect(asked()).toBe(0);
  });

  it.each(OTHERS)('%s is nothing that is kept for the cookie alone', async (_, other, expected) => {
    const cookie = await fresh();
    asked();
    for (const path of ['/page', '/other'])
      expect((await exchange(platform.url + path, other(cookie))).status).toBe(expected);
    expect(asked()).toBe(2);
    expect((await ask({ cookie })).status).toBe(200);
    expect(asked()).toBe(1);
  });

  it("a client's own key is not passed on, and chooses nothing", async () => {
    const [ada, grace] = [await signIn(platform, 'ada'), await signIn(platform, 'grace')];
    asked();
    for (const cookie of [ada, grace]) {
      expect((await ask({ cookie, 'x-sallyport-verdict-key': ada })).status).toBe(200);
      expect((await ask({ cookie, 'x-sallyport-verdict-key': ada }, 'POST')).status).toBe(200);
      const { headers } = platform.last('admin');
      expect(headers['x-sallyport-verdict-key']).toBeUndefined();
    }
    expect(asked()).toBe(4);
    expect((await ask({ 'x-sallyport-verdict-key': ada })).status).toBe(401);
  });

  it('a gRPC call is asked about each time, by cookie and by bearer', async () => {
    const cookie = await fresh();
    expect((await ask({ cookie })).status).toBe(200);
    asked();
    const client = openClient(platform.http2, 'unary');
    try {
      for (const headers of [{ cookie }, { authorization: bearer }, { cookie }])
        expect(await callOnce(client, headers)).toBe('hello');
      expect(await callOnce(client, { cookie: bearer })).toBe(status.UNAUTHENTICATED);
      expect(await callOnce(client, { cookie, origin: EVIL })).toBe(status.PERMISSION_DENIED);
    } finally {
      client.close();
    }
    expect(asked()).toBe(5);
  });

  it('a session that was signed out is refused within the time, and writes nothing meanwhile', async () => {
    const cookie = await fresh();
    expect((await ask({ cookie })).status).toBe(200);
    await ask({ cookie, 'sec-fetch-site': 'same-origin', ...PAGE }, 'GET', '/logout');
    const endedAt = performance.now();
    expect((await ask({ cookie }, 'POST')).status).toBe(401);
    const answers: number[] = [];
    let askedAt = endedAt;
    let admittedAt = endedAt;
    do {
      if (answers.length > 0) admittedAt = askedAt;
      askedAt = performance.now();
      answers.push((await ask({ cookie })).status);
    } while (answers.at(-1) === 200 && askedAt - endedAt < 2 * KEPT_FOR_MS);
    // When it was asked: an answer may come late on a busy machine.
    expect(admittedAt - endedAt).toBeLessThan(KEPT_FOR_MS + 500);
    expect(answers.at(-1)).toBe(401);
    // That it was admitted meanwhile is the price, and the proof that this looks at kept verdicts.
    expect(answers[0]).toBe(200);
  });

  it('what lies in the folder is for the user of nginx alone: it names cookies in clear', async () => {
    const cookie = await fresh();
    expect((await ask({ cookie })).status).toBe(200);
    const folder = join(platform.folder, FOLDER);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = readdirSync(folder).map((name) => join(folder, name));
    for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
    const contents = files.map((file) => readFileSync(file, 'latin1'));
    expect(contents.filter((content) => content.includes(cookie))).toHaveLength(1);
    expect(contents.filter((content) => content.includes(bearer.slice(7)))).toEqual([]);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: what may be kept, whatever the check says', () => {
  const COOKIE = `core_session=AAAAAAAB.${'A'.repeat(43)}`;
  let gate: Gate;
  let answer: readonly [status: number, headers: Readonly<Record<string, string>>];
  beforeAll(async () => {
    // A block around it that keeps everything, and looks at nothing that is said against it.
    const careless = `proxy_cache_valid any 5m; proxy_ignore_headers X-Accel-Expires Cache-Control
      Set-Cookie; proxy_buffering off; proxy_cache_use_stale error timeout updating http_503;`;
    gate = await startGate((_, res) => res.writeHead(...answer).end(), {
      files: FILES,
      http: careless,
    });
  });
  afterAll(() => gate.stop());

  it.each([
    ['an admission that says for how long', 200, { 'x-accel-expires': '5' }, 1],
    ['one that does not', 200, {}, 2],
    ['one that forbids it', 200, { 'x-accel-expires': '0' }, 2],
    ['one with Set-Cookie', 200, { 'x-accel-expires': '5', 'set-cookie': 'core_session=x' }, 2],
    ['a refusal', 401, { 'x-accel-expires': '5' }, 2],
    ['a refusal of who is known', 403, { 'x-accel-expires': '5' }, 2],
    ['no decision', 503, { 'x-accel-expires': '5' }, 2],
    ['something else', 204, { 'x-accel-expires': '5' }, 2],
  ] as const)('%s (%i): %j', async (name, code, headers, times) => {
    answer = [code, headers];
    const asked = createCounter(gate);
    asked();
    // Each case has a session of its own.
    const cookie = COOKIE.replace('AAAAAAAB', Buffer.from(name).toString('base64url').slice(-8));
    for (const path of ['/page', '/other']) {
      const { status } = await exchange(gate.url + path, { headers: { cookie } });
      expect(status).toBe(code === 204 ? 200 : code);
    }
    expect(asked()).toBe(times);
  });

  it('an admission is not served for longer than its X-Accel-Expires, although the check fails', async () => {
    answer = [200, { 'x-accel-expires': '1' }];
    const headers = { cookie: COOKIE };
    expect((await exchange(`${gate.url}/page`, { headers })).status).toBe(200);
    answer = [503, {}];
    const since = performance.now();
    let last = 200;
    let admittedAt = since;
    for (let askedAt = since; last === 200 && askedAt - since < 10_000; ) {
      admittedAt = askedAt;
      askedAt = performance.now();
      last = (await exchange(`${gate.url}/page`, { headers })).status;
    }
    expect(last).toBe(503);
    // When it was asked: an answer may come late on a busy machine.
    expect(admittedAt - since).toBeLessThan(2_500);
  });
});

describe.skipIf(NGINX.isLeftOut)(
  'nginx: the recipe that keeps verdicts, and a service that does not want it',
  () => {
    it('asks about every request', async () => {
      const platform = await startPlatform('', { files: FILES });
      try {
        const cookie = await signIn(platform, 'ada');
        const asked = createCounter(platform);
        asked();
        for (const path of ['/page', '/other'])
          expect((await exchange(platform.url + path, { headers: { cookie } })).status).toBe(200);
        expect(asked()).toBe(2);
        expect(readdirSync(join(platform.folder, FOLDER))).toEqual([]);
      } finally {
        await platform.stop();
      }
    });
  },
);
