/**
 * Which headers pass the chart's Ingress objects on a real nginx, by the rules of ingress-nginx.
 *
 * @module
 */

import { IDENTITY_HEADERS } from '@sallyport/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { NAVIGATION } from '../../conformance/wire/browser.ts';
import type { Service } from '../../conformance/wire/platform.ts';
import { type MovedHost, startMovedHost } from '../../conformance/wire/service-host.ts';
import { type Backend, startBackend } from '../nginx/backend.ts';
import { callOnce, metadataOf } from '../nginx/grpc-backend.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { IS_LEFT_OUT, type Site, signIn, startPlatformService, startSite } from './ingress-site.ts';

const SLID = '__Host-core_session=slid; Path=/; Secure; HttpOnly; SameSite=Lax';

/** As /me sends it. */
const NO_STORE = { 'cache-control': 'no-store' };

/** What a client says about itself: a name that /me answers with, and one of another product's. */
const FORGED = {
  'x-user-subject': 'forged',
  'x-user-email': 'forged',
  'x-user-claim-groups': 'forged',
  'x-user-token': 'forged',
  'x-forwarded-user': 'forged',
  'x-original-url': 'forged',
} as const;
const CARRIED = {
  'grpc-metadata-x-user-subject': 'forged',
  'grpc-metadata-x-auth-request-preferred-username': 'forged',
  'grpcgateway-cookie': 'forged',
} as const;

/** As long as a name can be that nginx removes with the controller's settings. */
const LONGEST = `x-internal-${'l'.repeat(35)}`;

/** The values `forged` that arrived, by name. */
function forgedIn(headers: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return Object.entries(headers ?? { nothing: 'forged' }).flatMap(([name, value]) =>
    value === 'forged' ? [name] : [],
  );
}

/** A site with a check of the test's own, which admits everyone as ada. */
interface Checked {
  readonly site: Site;
  readonly check: Backend;
}

async function startChecked(ingress: Readonly<Record<string, unknown>>): Promise<Checked> {
  const check = await startBackend();
  const site = await startSite({
    ingress,
    service: check.url,
    settings: { allowsSnippets: 'snippets' in ingress },
  });
  return { site, check };
}

describe.skipIf(IS_LEFT_OUT)('Headers through ingress-nginx', () => {
  const sites = new Map<'requirement' | 'safe' | 'snippets', Checked>();
  const get = (kind: 'requirement' | 'safe' | 'snippets'): Checked => {
    const found = sites.get(kind);
    if (found === undefined) throw new Error(kind);
    return found;
  };
  beforeAll(async () => {
    await programPath('helm');
    sites.set('requirement', await startChecked({ profile: 'requirement' }));
    sites.set('safe', await startChecked({ removedHeaders: [LONGEST] }));
    sites.set('snippets', await startChecked({ removedHeaders: [LONGEST], snippets: true }));
  }, BUILD_TIMEOUT_MS);
  afterAll(async () => {
    for (const { site, check } of sites.values()) {
      await site.stop();
      await check.close();
    }
  });
  beforeEach(() => {
    for (const { site, check } of sites.values()) {
      check.answer = ({ path }, res) => {
        if (path !== '/me') return void res.writeHead(200).end();
        const identity = Object.values(IDENTITY_HEADERS).map((name) => [name, ''] as const);
        res
          .writeHead(200, {
            ...Object.fromEntries(identity),
            ...NO_STORE,
            'x-user-subject': 'ada',
            'set-cookie': SLID,
          })
          .end();
      };
      site.answer();
      site.arrived();
      site.rpc.length = 0;
      check.seen.length = 0;
    }
  });

  describe.each(['requirement', 'safe', 'snippets'] as const)('with %s', (kind) => {
    it('the check is asked at /me of the host, for each request, with the method and address of it', async () => {
      const { site, check } = get(kind);
      await site.ask('/org/a?b=c', { method: 'PUT' });
      await site.ask('/org/a?b=c', { method: 'PUT' });
      const asked = check.seen.map(({ path, method, headers }) => [
        path,
        method,
        headers.host,
        headers['x-original-method'],
        headers['x-original-url'],
        headers['x-original-uri'],
      ]);
      const isLiteral = kind === 'requirement';
      const url = 'https://platform.example.com/org/a?b=c';
      const expected = [
        '/me',
        isLiteral ? 'GET' : 'HEAD',
        'platform.example.com',
        'PUT',
        // A snippet takes it out of open routes, and the check does not read it.
        kind === 'snippets' ? undefined : url,
        isLiteral ? undefined : '/org/a?b=c',
      ];
      expect(asked).toEqual([expected, expected]);
    });

    it('Set-Cookie of the check reaches the client, once, with an admission and with a redirect', async () => {
      const { site, check } = get(kind);
      expect((await site.ask('/org')).setCookies).toEqual([SLID]);
      check.answer = (_, res) => void res.writeHead(401, { ...NO_STORE, 'set-cookie': SLID }).end();
      const redirected = await site.ask('/console', { headers: NAVIGATION });
      expect([redirected.status, redirected.setCookies]).toEqual([302, [SLID]]);
    });

    it('Set-Cookie of the check reaches a gRPC caller', async () => {
      const { site } = get(kind);
      const client = site.openClient('unary');
      onTestFinished(() => client.close());
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const call = client.once('x', metadataOf({}), () => {});
      call.on('metadata', (metadata) => resolve(metadata.get('set-cookie')));
      expect(await promise).toEqual([SLID]);
    });

    it('no Set-Cookie is there where the check sets none, whatever the client sends', async () => {
      const { site, check } = get(kind);
      check.answer = (_, res) => void res.writeHead(200, NO_STORE).end();
      const { setCookies } = await site.ask('/org', { headers: { 'set-cookie': SLID } });
      expect(setCookies).toEqual([]);
      expect(site.arrived().map(({ seen }) => seen.headers['set-cookie'])).toEqual([undefined]);
    });

    it('the renewed cookie reaches the backend as a request header, as the annotation says', async () => {
      const { site } = get(kind);
      await site.ask('/org');
      expect(site.arrived().map(({ seen }) => seen.headers['set-cookie'])).toEqual([[SLID]]);
    });
  });

  it.each([
    ['requirement', 404, []],
    ['safe', 404, [SLID]],
  ] as const)(
    'with %s Set-Cookie of the check beside an error %d of the backend is %j',
    async (kind, code, cookies) => {
      const { site } = get(kind);
      site.answer((_, res) => res.writeHead(code).end());
      const { status, setCookies } = await site.ask('/org');
      expect([status, setCookies]).toEqual([code, cookies]);
    },
  );

  it('the profile "requirement" lets identity headers of clients through, over HTTP and gRPC', async () => {
    const { site } = get('requirement');
    await site.ask('/org', { headers: FORGED });
    const [arrived] = site.arrived();
    expect(forgedIn(arrived?.seen.headers).toSorted()).toEqual(Object.keys(FORGED).toSorted());
    const client = site.openClient('unary');
    onTestFinished(() => client.close());
    await callOnce(client, FORGED);
    expect(forgedIn(site.rpc[0]?.metadata).toSorted()).toEqual(Object.keys(FORGED).toSorted());
  });

  it.each(['safe', 'snippets'] as const)(
    '%s removes them behind the check, over HTTP and gRPC, and says who the caller is',
    async (kind) => {
      const { site } = get(kind);
      await site.ask('/org', { headers: FORGED });
      const [arrived] = site.arrived();
      expect(forgedIn(arrived?.seen.headers)).toEqual([]);
      expect(arrived?.seen.headers['x-user-subject']).toBe('ada');
      for (const rpc of ['unary', 'streaming'] as const) {
        site.rpc.length = 0;
        const client = site.openClient(rpc);
        onTestFinished(() => client.close());
        expect(await callOnce(client, { ...FORGED, 'grpcgateway-cookie': 'forged' })).toBe('hello');
        expect(forgedIn(site.rpc[0]?.metadata)).toEqual([]);
        expect(site.rpc[0]?.metadata['x-user-subject']).toBe('ada');
      }
    },
  );

  it.each([
    ['requirement', ['x-internal-other', LONGEST]],
    ['safe', ['x-internal-other']],
  ] as const)('with %s, of the headers of an installation these pass: %j', async (kind, passed) => {
    const { site } = get(kind);
    await site.ask('/org', { headers: { 'x-internal-other': 'forged', [LONGEST]: 'forged' } });
    const [arrived] = site.arrived();
    expect(forgedIn(arrived?.seen.headers)).toEqual(passed);
  });

  it('only snippets remove them on open routes, and behind the prefixes of grpc-gateway', async () => {
    for (const [kind, passed] of [
      ['safe', Object.keys(FORGED)],
      ['snippets', []],
    ] as const) {
      const { site } = get(kind);
      await site.ask('/openapi', { headers: FORGED });
      const [open] = site.arrived();
      expect(forgedIn(open?.seen.headers).toSorted()).toEqual([...passed].toSorted());
      await site.ask('/org', { headers: CARRIED });
      const [guarded] = site.arrived();
      expect(forgedIn(guarded?.seen.headers)).toEqual(
        kind === 'safe' ? Object.keys(CARRIED).slice(0, 2) : [],
      );
    }
  });

  it.each([
    '/openapi/..%2forg',
    '/org/..%2fopenapi',
    '/openapi/%2e%2e/x',
    '//openapi',
    '/openapi;x/',
  ])(
    'only snippets keep another spelling of an open path from the backend of open paths: %s',
    async (path) => {
      const { site } = get('snippets');
      await site.ask(path);
      expect(site.arrived().filter(({ service }) => service === 'redoc-service')).toEqual([]);
    },
  );

  it('without snippets such a path reaches it as it was sent', async () => {
    const { site } = get('safe');
    await site.ask('/org/..%2fopenapi');
    expect(site.arrived().map(({ service, seen }) => [service, seen.path])).toEqual([
      ['redoc-service', '/org/..%2fopenapi'],
    ]);
  });
});

describe.skipIf(IS_LEFT_OUT)('A session in use for a minute', () => {
  let moved: MovedHost;
  let service: Service;
  beforeAll(async () => {
    await programPath('helm');
    moved = await startMovedHost();
    service = await startPlatformService(moved.host);
  }, BUILD_TIMEOUT_MS);
  afterAll(async () => {
    await service.stop();
    await moved.close();
  });

  it.each(['requirement', 'safe'])(
    'has its cookie sent again by the service, which reaches the browser with the profile %s',
    async (profile) => {
      const site = await startSite({ ingress: { profile }, service: service.url });
      onTestFinished(() => site.stop());
      const cookie = await signIn(site, service, 'ada');
      const ask = async () => (await site.ask('/console', { headers: { cookie } })).setCookies;
      expect(await ask()).toEqual([]);
      await moved.clock.advance(61_000);
      const [slid] = await ask();
      expect(slid?.startsWith(`${cookie}; `)).toBe(true);
      expect(slid).toMatch(/; Max-Age=\d+;/);
      expect(await ask()).toEqual([]);
    },
  );
});
