import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange, type Sent } from '../../conformance/wire/exchange.ts';
import { type Service, startService } from '../../conformance/wire/platform.ts';
import { createAdminService } from './backend.ts';
import { startGate } from './gate.ts';
import { CACHE, type Ingress, startIngress } from './ingress.ts';
import { NGINX } from './nginx.ts';

describe.skipIf(NGINX.isLeftOut)(
  'nginx: the requirement\'s "auth-cache-key" in front of the server',
  () => {
    let service: Service;
    let ingress: Ingress;
    /** Signs in through the ingress's address, straight at the service. */
    const signIn = async (subject: string) => {
      const browser = new Browser();
      service.idp.forge = (forgery) =>
        service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: subject } });
      service.idp.userInfo = { sub: subject };
      await service.signIn(browser);
      return `core_session=${browser.cookie('localhost', 'core_session')}`;
    };

    beforeAll(async () => {
      const port = await freePort();
      service = await startService({ PUBLIC_URL: `http://localhost:${port}` });
      ingress = await startIngress(createAdminService(service.url), port);
    });
    afterAll(async () => {
      await ingress.stop();
      await service.stop();
    });

    it("With the requirement's literal ingress-nginx cache key on real nginx: a verdict is never served to another cookie, header or host", async () => {
      const [ada, grace] = [await signIn('ada'), await signIn('grace')];
      let asked = 0;
      const expectStatus = async (status: number, sent?: Sent) => {
        asked += 1;
        const received = await ingress.ask(sent);
        expect(received.status).toBe(status);
        expect(received.headers['x-verdict']).toBe('MISS');
        expect(ingress.kept()).toBe(0);
      };
      await expectStatus(401);
      await expectStatus(200, { headers: { cookie: ada } });
      await expectStatus(200, { headers: { cookie: ada } });
      // Another cookie, or the same bytes in the other half of the key.
      await expectStatus(200, { headers: { cookie: grace } });
      await expectStatus(401);
      await expectStatus(401, { headers: { cookie: `${ada}x` } });
      await expectStatus(401, { headers: { 'core-authorization': ada } });
      // Another header.
      await expectStatus(401, { headers: { cookie: ada, authorization: 'Bearer x.y.z' } });
      await expectStatus(200, { headers: { cookie: ada } });
      const write = { method: 'POST', headers: { cookie: ada, origin: 'https://evil.example' } };
      await expectStatus(403, write);
      await expectStatus(200, { method: 'POST', headers: { cookie: ada, origin: ingress.url } });
      await expectStatus(403, write);
      // Another host.
      await expectStatus(401, { headers: { host: 'other.example' } });
      // The check was asked each time.
      expect(ingress.check.seen).toHaveLength(asked);
    });

    it('asks again after a sign-out, although the cookie stayed the same', async () => {
      const cookie = await signIn('ada');
      expect((await ingress.ask({ headers: { cookie } })).status).toBe(200);
      await exchange(`${service.url}/logout`, {
        headers: {
          cookie,
          'sec-fetch-site': 'same-origin',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
        },
      });
      expect((await ingress.ask({ headers: { cookie } })).status).toBe(401);
    });
  },
);

describe.skipIf(NGINX.isLeftOut)(
  'nginx: the same cache in front of a check that admits "good" on one host',
  () => {
    let service: Service;
    let ingress: Ingress;
    /** What the stand-in sends to keep caches away: what /me sends, or nothing. */
    let cacheHeaders: string[] = [];
    beforeAll(async () => {
      service = await startService();
      ingress = await startIngress(
        (seen, res) => {
          const { cookie, authorization, origin, host } = seen.headers;
          const isGood = [cookie, authorization, seen.headers['core-authorization']].includes(
            'good',
          );
          const isCrossSite = origin !== undefined;
          res
            .writeHead(isGood && host === 'localhost' && !isCrossSite ? 200 : 401, cacheHeaders)
            .end();
        },
        await freePort(),
      );
    });
    afterAll(async () => {
      await ingress.stop();
      await service.stop();
    });

    const OTHERS = [
      ['no credential', { authorization: 'good' }, {}],
      ['another cookie', { cookie: 'good' }, { cookie: 'od', 'core-authorization': 'go' }],
      ['another header', { cookie: 'good' }, { cookie: 'good', origin: 'https://evil.example' }],
      ['another host', { cookie: 'good' }, { cookie: 'good', host: 'other.example' }],
    ] as const;

    it.each(OTHERS)(
      'serves no admission to %s, with the headers /me sends',
      async (_, first, second) => {
        const me = await exchange(`${service.url}/me`);
        cacheHeaders = ['x-accel-expires', 'cache-control'].flatMap((name) => [
          name,
          String(me.headers[name]),
        ]);
        expect(cacheHeaders).toEqual(['x-accel-expires', '0', 'cache-control', 'no-store']);
        expect((await ingress.ask({ headers: first })).status).toBe(200);
        expect((await ingress.ask({ headers: second })).status).toBe(401);
        expect(ingress.kept()).toBe(0);
      },
    );

    it.each(OTHERS)(
      'would serve an admission to %s without these headers',
      async (_, first, second) => {
        cacheHeaders = [];
        expect((await ingress.ask({ headers: first })).status).toBe(200);
        const received = await ingress.ask({ headers: second });
        expect(received.status).toBe(200);
        expect(received.headers['x-verdict']).toBe('HIT');
        expect(ingress.kept()).toBeGreaterThan(0);
      },
    );
  },
);

describe.skipIf(NGINX.isLeftOut)(
  'nginx: the recipe inside an http {} that caches everything',
  () => {
    it('keeps neither a verdict nor an answer of a backend', async () => {
      const gate = await startGate(
        (seen, res) => res.writeHead(seen.headers.authorization === 'good' ? 200 : 401).end(),
        {
          http: `${CACHE} proxy_cache auth_cache; proxy_cache_key same; proxy_cache_valid any 5m;`,
        },
      );
      const ask = (headers: Readonly<Record<string, string>>) =>
        exchange(`${gate.url}/org`, { headers });
      expect((await ask({ authorization: 'good' })).status).toBe(200);
      expect((await ask({})).status).toBe(401);
      expect((await ask({ authorization: 'good' })).status).toBe(200);
      expect(gate.arrived()).toHaveLength(2);
      await gate.stop();
    });
  },
);
