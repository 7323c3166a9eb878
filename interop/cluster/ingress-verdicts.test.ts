/**
 * The cache of verdicts that the requirement's `auth-cache-key` switches on, on a real nginx by the rules of
 * ingress-nginx: no caller enters on the verdict of another.
 *
 * @module
 */

import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../../conformance/wire/bearer.ts';
import type { Service } from '../../conformance/wire/platform.ts';
import { type Answer, type Backend, startBackend } from '../nginx/backend.ts';
import { SERVICES } from '../nginx/grpc-backend.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  IS_LEFT_OUT,
  ORIGIN,
  type Site,
  signIn,
  startPlatformService,
  startSite,
} from './ingress-site.ts';

/** What a caller may send, each with a person's credential or none. */
interface Caller {
  readonly authorization?: string;
  readonly [BEARER_HEADER]?: string;
  readonly cookie?: string;
}

/** Everything that tells one caller from another; the same bearer under either name is one caller's. */
function secretsOf({ authorization, [BEARER_HEADER]: core, cookie }: Caller): string {
  return [...new Set([authorization, core])].filter((value) => value !== undefined).join() + cookie;
}

const PATHS = { http: '/org', grpc: `/${SERVICES.unary}/Once` } as const;
const PROFILES = [
  ['requirement', { profile: 'requirement' }],
  ['safe', {}],
] as const;

/** Answers as the service does, without what keeps caches away. */
function forwardWithoutCacheHeaders(service: Service): Answer {
  return (seen, res) => {
    const { port } = new URL(service.url);
    const forwarded = request(
      { host: '127.0.0.1', port, method: seen.method, path: seen.path, headers: seen.rawHeaders },
      (answer) => {
        const { 'cache-control': _, 'x-accel-expires': __, ...headers } = answer.headers;
        res.writeHead(answer.statusCode ?? 0, headers);
        answer.pipe(res);
      },
    );
    forwarded.on('error', () => res.destroy());
    forwarded.end(seen.body);
  };
}

describe.skipIf(IS_LEFT_OUT)('Kept verdicts', () => {
  let service: Service;
  let bare: Backend;
  const sites = new Map<string, Site>();
  const callers = new Map<string, Caller>();
  let pairs = 0;
  const siteOf = (profile: string, isBare: boolean): Site => {
    const site = sites.get(`${profile} ${isBare}`);
    if (site === undefined) throw new Error(profile);
    return site;
  };
  beforeAll(async () => {
    await programPath('helm');
    service = await startPlatformService();
    bare = await startBackend(forwardWithoutCacheHeaders(service));
    for (const [profile, ingress] of PROFILES) {
      sites.set(`${profile} false`, await startSite({ ingress, service: service.url }));
      sites.set(`${profile} true`, await startSite({ ingress, service: bare.url }));
    }
    const site = siteOf('safe', false);
    const [ada, grace] = [await signIn(site, service, 'ada'), await signIn(site, service, 'grace')];
    const bearer = async (sub: string) =>
      `Bearer ${await accessToken(service.idp, ORIGIN, { sub })}`;
    const [adaBearer, graceBearer] = [await bearer('ada'), await bearer('grace')];
    const all: Readonly<Record<string, Caller>> = {
      'no credential': {},
      'cookie A': { cookie: ada },
      'cookie B': { cookie: grace },
      'no session’s cookie': { cookie: `${ada}x` },
      'bearer A': { [BEARER_HEADER]: adaBearer },
      'bearer B': { [BEARER_HEADER]: graceBearer },
      'a bad bearer': { [BEARER_HEADER]: 'Bearer x.y.z' },
      'authorization A': { authorization: adaBearer },
      'authorization B': { authorization: graceBearer },
      'a bad authorization': { authorization: 'Bearer x.y.z' },
      'cookie A and bearer A': { cookie: ada, [BEARER_HEADER]: adaBearer },
      'cookie A and bearer B': { cookie: ada, [BEARER_HEADER]: graceBearer },
      'cookie A and a bad bearer': { cookie: ada, [BEARER_HEADER]: 'Bearer x.y.z' },
      'cookie A and a bad authorization': { cookie: ada, authorization: 'Bearer x.y.z' },
      'cookie B and authorization A': { cookie: grace, authorization: adaBearer },
    };
    for (const [name, caller] of Object.entries(all)) callers.set(name, caller);
  }, BUILD_TIMEOUT_MS);
  afterAll(async () => {
    for (const site of sites.values()) await site.stop();
    await bare.close();
    await service.stop();
  });

  /** Asks as one caller. @param pair - Another cookie, so that nothing kept for other pairs is found. */
  async function ask(site: Site, path: string, caller: Caller, pair: number) {
    const cookie = [caller.cookie, `pair=${pair}`].filter((each) => each !== undefined).join('; ');
    const received = await site.ask(path, {
      method: 'POST',
      headers: { ...caller, cookie, origin: ORIGIN, 'content-type': 'application/json' },
    });
    return {
      isAdmitted: received.status !== 401 && received.status !== 403,
      isKept: received.headers['x-verdict'] === 'HIT',
    };
  }

  /** Callers that got a verdict kept for one with other secrets, each asking after each, in both orders. */
  async function findSharing(site: Site, path: string): Promise<readonly string[]> {
    const sharing: string[] = [];
    for (const order of [[...callers], [...callers].toReversed()]) {
      pairs += 1;
      const before = new Set<string>();
      for (const [name, caller] of order) {
        const { isKept } = await ask(site, path, caller, pairs);
        const secrets = secretsOf(caller);
        if (isKept && !before.has(secrets)) sharing.push(name);
        before.add(secrets);
      }
    }
    return sharing;
  }

  const CASES = PROFILES.flatMap(([profile]) =>
    (['http', 'grpc'] as const).map((transport) => [profile, transport] as const),
  );

  it.each(CASES)(
    'none is kept with the profile %s on %s routes: each caller gets the verdict on itself, after any other',
    async (profile, transport) => {
      const site = siteOf(profile, false);
      const names = [...callers.keys()];
      // One and every later one in turn: each follows each other.
      const order = names.flatMap((one, index) => [
        one,
        ...names.slice(index + 1).flatMap((other) => [other, one]),
      ]);
      for (const [index, name] of order.entries()) {
        const verdict = await ask(site, PATHS[transport], callers.get(name) ?? {}, 0);
        const after = order[index - 1];
        expect({ name, after, ...verdict }).toEqual({
          name,
          after,
          isAdmitted: ADMITTED.has(name),
          isKept: false,
        });
      }
      expect(site.kept()).toBe(0);
    },
  );

  it('X-Accel-Expires ends at the nginx between, which /me is asked through; Cache-Control reaches the one that would keep', async () => {
    const { headers } = await siteOf('safe', false).ask('/me');
    expect([headers['x-accel-expires'], headers['cache-control']]).toEqual([undefined, 'no-store']);
  });

  it('the key of "safe" alone, without these headers, keeps callers apart on HTTP routes', async () => {
    expect(await findSharing(siteOf('safe', true), PATHS.http)).toEqual([]);
  });

  it.each(PROFILES)('the key of %s alone keeps callers apart on gRPC routes', async (profile) => {
    expect(await findSharing(siteOf(profile, true), PATHS.grpc)).toEqual([]);
  });

  it.each([
    ['authorization A', 'no credential', true],
    ['authorization A', 'authorization B', true],
    ['cookie A', 'cookie A and a bad authorization', true],
    ['no credential', 'authorization A', false],
  ])(
    'the requirement’s key alone does not on HTTP routes, because it leaves out authorization: after %s, %s would be admitted: %j',
    async (first, second, isAdmitted) => {
      const site = siteOf('requirement', true);
      pairs += 1;
      await ask(site, PATHS.http, callers.get(first) ?? {}, pairs);
      const verdict = await ask(site, PATHS.http, callers.get(second) ?? {}, pairs);
      expect(verdict).toEqual({ isAdmitted, isKept: true });
    },
  );

  it('without these headers "safe" keeps an admission for a second, and no refusal', async () => {
    const site = siteOf('safe', true);
    pairs += 1;
    const cookie = callers.get('cookie A') ?? {};
    expect(await ask(site, PATHS.http, cookie, pairs)).toEqual({ isAdmitted: true, isKept: false });
    expect(await ask(site, PATHS.http, cookie, pairs)).toEqual({ isAdmitted: true, isKept: true });
    pairs += 1;
    expect(await ask(site, PATHS.http, {}, pairs)).toEqual({ isAdmitted: false, isKept: false });
    expect(await ask(site, PATHS.http, {}, pairs)).toEqual({ isAdmitted: false, isKept: false });
  });
});

/** Who may enter; a bad bearer decides alone, whatever the cookie. */
const ADMITTED: ReadonlySet<string> = new Set([
  'cookie A',
  'cookie B',
  'bearer A',
  'bearer B',
  'authorization A',
  'authorization B',
  'cookie A and bearer A',
  'cookie A and bearer B',
  'cookie B and authorization A',
]);
