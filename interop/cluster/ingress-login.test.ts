/**
 * The chart's Ingress objects on a real nginx, by the rules of ingress-nginx: sign-in, refusals, gRPC.
 *
 * @module
 */

import { credentials, makeGenericClientConstructor, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { accessToken, BEARER_HEADER } from '../../conformance/wire/bearer.ts';
import { NAVIGATION } from '../../conformance/wire/browser.ts';
import type { Service } from '../../conformance/wire/platform.ts';
import { callOnce } from '../nginx/grpc-backend.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  HOST,
  IS_LEFT_OUT,
  ORIGIN,
  type Site,
  signIn,
  startPlatformService,
  startSite,
} from './ingress-site.ts';

const DEEP_LINK =
  "/console/a%20b/caf%C3%A9/x%252Fy/it's;v=1[z]?q=1%202&next=%2Fy&empty=&&plus=a+b&q={|}[^`]&z=%C3%A9";
const EVIL = 'https://evil.example';

/** What each kind of Ingress adds to the address of sign-in that the requirement has. */
const RENDERINGS = [
  ['requirement', { profile: 'requirement' }, `&rd=${ORIGIN}`],
  ['safe', {}, undefined],
  ['safe with snippets', { snippets: true }, undefined],
] as const;

describe.skipIf(IS_LEFT_OUT).each(RENDERINGS)(
  'ingress-nginx with the profile %s',
  (_, ingress, added) => {
    let service: Service;
    let site: Site;
    let session: string;
    let bearer: string;
    beforeAll(async () => {
      await programPath('helm');
      service = await startPlatformService();
      site = await startSite({
        ingress,
        service: service.url,
        settings: { allowsSnippets: 'snippets' in ingress },
      });
      session = await signIn(site, service, 'ada');
      bearer = `Bearer ${await accessToken(service.idp, ORIGIN)}`;
    }, BUILD_TIMEOUT_MS);
    afterAll(async () => {
      await site.stop();
      await service.stop();
    });

    it('goes through the eight steps one by one, to the deep link byte for byte', async () => {
      site.arrived();
      const browser = site.browser();
      // 1, 2 and 3: a protected page; the check finds no session; on to /login.
      const asked = await browser.step(ORIGIN + DEEP_LINK);
      expect(asked.status).toBe(302);
      const login = new URL(asked.location ?? '');
      expect(login.origin + login.pathname).toBe(`${ORIGIN}/login`);
      expect(asked.location?.startsWith(`${ORIGIN}/login?redirect_url=%2F`)).toBe(true);
      expect(login.searchParams.get('redirect_url')).toBe(DEEP_LINK);
      expect(login.searchParams.get('rd')).toBe(
        added === undefined ? null : `${added.slice('&rd='.length)}${DEEP_LINK}`,
      );
      expect(site.arrived()).toEqual([]);
      // 4
      const authorize = await browser.step(asked.location ?? '');
      expect(authorize.status).toBe(302);
      const sent = new URL(authorize.location ?? '');
      expect(sent.origin).toBe(service.idp.issuer);
      expect(sent.searchParams.get('code_challenge_method')).toBe('S256');
      expect(sent.searchParams.get('redirect_uri')).toBe(`${ORIGIN}/callback`);
      // 5
      const answer = service.idp.authorize(sent.href);
      expect(answer.get('code')).toBeTruthy();
      // 6 and 7
      const { token } = service.idp.counts;
      const callback = await browser.step(`${ORIGIN}/callback?${answer.toString()}`);
      expect(service.idp.counts.token).toBe(token + 1);
      expect(callback.status).toBe(302);
      expect(callback.location).toBe(ORIGIN + DEEP_LINK);
      expect(callback.setCookies.join('\n')).toMatch(
        /^__Host-core_session=.*; HttpOnly; Secure; SameSite=Lax$/m,
      );
      // 8
      const landed = await browser.step(callback.location ?? '');
      expect(landed.status).toBe(200);
      expect(site.arrived().map(({ service: name, seen }) => [name, seen.path])).toEqual([
        ['console-service', DEEP_LINK],
      ]);
    });

    it.each([
      ['no credential', {}],
      ['a made-up cookie', { cookie: `__Host-core_session=AAAAAAAA.${'A'.repeat(43)}` }],
      ['a made-up bearer', { [BEARER_HEADER]: 'Bearer x.y.z' }],
      ['made-up identity headers', { 'x-user-subject': 'ada', 'x-user-issuer': 'x' }],
    ])('lets a page load with %s through to no backend', async (_case, headers) => {
      site.arrived();
      const refused = await site.ask(DEEP_LINK, { headers: { ...NAVIGATION, ...headers } });
      expect(refused.status).toBe(302);
      expect(refused.location?.startsWith(`${ORIGIN}/login?`)).toBe(true);
      expect(site.arrived()).toEqual([]);
    });

    it.each([
      ['/org', 'GET'],
      ['/api/v1/projects', 'GET'],
      ['/execution/x', 'POST'],
      ['/users', 'DELETE'],
      ['/artifacts', 'HEAD'],
    ])('a program gets the 401 unchanged: %s by %s', async (path, method) => {
      site.arrived();
      const refused = await site.ask(path, { method });
      expect([refused.status, refused.location]).toEqual([401, undefined]);
      expect(site.arrived()).toEqual([]);
      const admitted = await site.ask(path, { method, headers: { [BEARER_HEADER]: bearer } });
      expect(admitted.status).toBe(200);
      expect(site.arrived().map(({ seen }) => seen.path)).toEqual([path]);
    });

    it('a program that opens a page without a credential gets 302 in place of 401', async () => {
      const refused = await site.ask('/console', { headers: { accept: 'application/json' } });
      expect([refused.status, refused.location?.split('?')[0]]).toEqual([302, `${ORIGIN}/login`]);
    });

    it('a write from another site is refused, one from the platform’s own pages is not', async () => {
      const write = (origin: string) =>
        site.ask('/org', { method: 'POST', headers: { cookie: session, origin } });
      expect((await write(EVIL)).status).toBe(403);
      expect((await write(ORIGIN)).status).toBe(200);
      expect((await write(EVIL)).status).toBe(403);
    });

    it('a session ended at the service is refused at the next request', async () => {
      const cookie = await signIn(site, service, 'grace');
      expect((await site.ask('/org', { headers: { cookie } })).status).toBe(200);
      const headers = { ...NAVIGATION, cookie, 'sec-fetch-site': 'same-origin' };
      expect((await site.ask('/logout', { headers })).status).toBe(303);
      expect((await site.ask('/org', { headers: { cookie } })).status).toBe(401);
    });

    it('another host gets no answer of the platform', async () => {
      const other = await site.ask('/me', { headers: { host: `other.${HOST}`, cookie: session } });
      expect(other.status).toBe(404);
    });

    it.each(['unary', 'streaming'] as const)(
      'a gRPC call of the %s group without a credential is UNAUTHENTICATED and reaches no backend',
      async (kind) => {
        site.rpc.length = 0;
        const client = site.openClient(kind);
        onTestFinished(() => client.close());
        expect(await callOnce(client)).toBe(status.UNAUTHENTICATED);
        expect(await callOnce(client, { [BEARER_HEADER]: 'Bearer x.y.z' })).toBe(
          status.UNAUTHENTICATED,
        );
        expect(site.rpc).toEqual([]);
      },
    );

    it.each([
      ['core-authorization', () => ({ [BEARER_HEADER]: bearer })],
      ['authorization', () => ({ authorization: bearer })],
      ['the session cookie', () => ({ cookie: session })],
    ])('a gRPC call with %s reaches its backend, in every group', async (_case, headers) => {
      for (const kind of ['unary', 'streaming'] as const) {
        site.rpc.length = 0;
        const client = site.openClient(kind);
        onTestFinished(() => client.close());
        expect(await callOnce(client, headers())).toBe('hello');
        expect(site.rpc).toHaveLength(1);
      }
    });

    it.each([
      ['flyteidl.service.AuthMetadataService', 'cli-client'],
      ['flyteidl2.auth.AuthMetadataService', 'cli-client'],
    ])('%s is open over gRPC and Connect', async (name, client) => {
      expect(await callRaw(site, `/${name}/GetPublicClientConfig`)).toContain(client);
      const { status: code, body } = await site.ask(`/${name}/GetPublicClientConfig`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '2' },
        body: '{}',
      });
      expect(code).toBe(200);
      expect(body).toContain(client);
    });

    it('IdentityService, beside it, is not: it answers who the caller is', async () => {
      const path = '/flyteidl.service.IdentityService/UserInfo';
      expect(await callRaw(site, path)).toBe(status.UNAUTHENTICATED);
    });

    it.each(['/.well-known/oauth-authorization-server', '/config/v1/flyte_client'])(
      'discovery is open: %s',
      async (path) => {
        expect((await site.ask(path)).status).toBe(200);
      },
    );
  },
);

describe.skipIf(IS_LEFT_OUT)('One port of the service for HTTP and gRPC', () => {
  it.each([
    ['by the Service’s own address for gRPC', undefined, 'cli-client'],
    ['not without it: an idle HTTP/1.1 connection is taken for the call', 'service-upstream', '14'],
  ])(
    'gets each on connections of its own, %s',
    async (_, without, expected) => {
      await programPath('helm');
      const service = await startPlatformService();
      onTestFinished(() => service.stop());
      const site = await startSite({
        service: service.url,
        ...(without === undefined ? {} : { without }),
      });
      onTestFinished(() => site.stop());
      expect((await site.ask('/.well-known/oauth-authorization-server')).status).toBe(200);
      const path = '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig';
      expect(String(await callRaw(site, path))).toContain(expected);
    },
    BUILD_TIMEOUT_MS,
  );
});

/** Calls with an empty message. @returns The bytes of the answer as text, or the code it failed with. */
function callRaw({ place }: Site, path: string): Promise<string | number> {
  const encode = (bytes: Buffer) => bytes;
  const Client = makeGenericClientConstructor(
    {
      call: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: encode,
        requestDeserialize: encode,
        responseSerialize: encode,
        responseDeserialize: encode,
      },
    },
    'Raw',
  );
  const client = new Client(`127.0.0.1:${place.port}`, credentials.createSsl(place.ca), {
    'grpc.ssl_target_name_override': HOST,
    'grpc.default_authority': HOST,
  });
  onTestFinished(() => client.close());
  const { promise, resolve } = Promise.withResolvers<string | number>();
  const call = client['call'] as (
    message: Buffer,
    done: (error: { readonly code: number } | null, answer: Buffer) => void,
  ) => void;
  call.call(client, Buffer.alloc(0), (error, answer) =>
    resolve(error === null ? answer.toString('latin1') : error.code),
  );
  return promise;
}
