import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { Browser } from '../wire/browser.ts';
import { type Service, startService, WEB_CLIENT_ID, WEB_CLIENT_SECRET } from '../wire/platform.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import { type Scrape, scrape } from './scrape.ts';

const VERDICTS = 'sallyport_verdicts_total';
const SIGN_INS = 'sallyport_sign_ins_total';

describe('No request makes a series', () => {
  const COUNT = 500;
  const CANARIES = ['canary-subject', 'canary-mail@example.com', 'canary-name'];
  let service: Service;
  let port: number;
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  beforeAll(async () => {
    port = await freePort();
    service = await startService({ SALLYPORT_METRICS_PORT: String(port) }, [], {}, undefined, [
      'rateLimit: { perMinute: 100000 }',
      'auth: { userAuth: { idpQueryParameter: idp } }',
    ]);
  });
  afterAll(async () => {
    agent.destroy();
    await service.stop();
  });

  /** Whatever the answer is. */
  const send = (
    path: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body = '',
  ) =>
    new Promise<void>((resolve, reject) => {
      const { hostname, port: own } = new URL(service.url);
      const sent = httpRequest(
        {
          host: hostname === 'localhost' ? '127.0.0.1' : hostname,
          port: own,
          path,
          method,
          headers,
          agent,
        },
        (response) => {
          response.resume();
          response.on('end', resolve);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  /** Garbage collection shows each of its few kinds once there was one of it. */
  const seriesOf = ({ valueBySeries }: Scrape) =>
    [...valueBySeries.keys()].filter((series) => !series.startsWith('nodejs_gc_')).toSorted();

  const forged = (claims: object) =>
    ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'x'].join('.');
  const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND', 'REPORT'];
  const attacks: readonly (readonly [string, (index: number) => Promise<void>])[] = [
    ['paths', (index) => send(`/path-${index}/%00?a=${index}`, 'GET', {})],
    [
      'methods',
      (index) =>
        send('/me', METHODS[index % METHODS.length] ?? 'GET', { 'x-original-method': `M${index}` }),
    ],
    [
      'header names',
      (index) => send('/me', 'GET', { [`x-name-${index}`]: '1', 'x-request-id': `id-${index}` }),
    ],
    [
      'reasons',
      (index) =>
        send(`/callback?error=reason-${index}&state=s&iss=i${index}`, 'GET', {
          accept: 'text/html',
        }),
    ],
    [
      'names of identity providers',
      (index) =>
        send(`/login?idp=idp-${index}`, 'GET', {
          'sec-fetch-mode': 'navigate',
          accept: 'text/html',
        }),
    ],
    [
      'subjects and issuers',
      async (index) =>
        send('/me', 'GET', {
          [BEARER_HEADER]: `Bearer ${forged({ iss: `https://i${index}.example`, sub: `s-${index}` })}`,
        }),
    ],
    [
      'subjects of a good issuer',
      async (index) =>
        send('/me', 'GET', {
          [BEARER_HEADER]: `Bearer ${await accessToken(service.idp, service.url, { sub: `subject-${index}`, scope: index % 2 === 0 ? 'all' : `scope-${index}` })}`,
        }),
    ],
    [
      'cookies',
      (index) =>
        send('/me', 'GET', { cookie: `${SESSION_COOKIE}=${'A'.repeat(8)}.${index}; c${index}=1` }),
    ],
    [
      'logout tokens',
      (index) =>
        send(
          '/auth/backchannel-logout',
          'POST',
          { 'content-type': 'application/x-www-form-urlencoded' },
          `logout_token=${forged({ iss: `i${index}` })}`,
        ),
    ],
    [
      'RPC names',
      (index) =>
        send(`/service-${index}.Name/Method${index}`, 'POST', {
          'content-type': 'application/grpc',
        }),
    ],
  ];

  it(`however it is made: ${COUNT} of each hostile kind, and the series are the same`, async () => {
    const victim = new Browser();
    service.idp.userInfo = { name: CANARIES[2], email: CANARIES[1], email_verified: true };
    await service.signIn(victim);
    const before = await scrape(port);
    for (const [, attack] of attacks)
      await Promise.all(Array.from({ length: COUNT }, (_, index) => attack(index)));
    const after = await scrape(port);
    expect(seriesOf(after)).toEqual(seriesOf(before));
    // They have been counted, though.
    const grown = (name: string) => after.sum(name) - before.sum(name);
    expect(grown(VERDICTS)).toBeGreaterThan(COUNT * 5);
    expect(grown('sallyport_bearer_refusals_total')).toBeGreaterThanOrEqual(COUNT);
    expect(grown(SIGN_INS)).toBeGreaterThanOrEqual(COUNT);
    expect(grown('sallyport_sign_ins_started_total')).toBeGreaterThanOrEqual(COUNT);
  }, 120_000);

  it('and the output holds nothing of a request: no subject, name, address, cookie, token or secret', async () => {
    const browser = new Browser();
    service.idp.userInfo = {
      sub: CANARIES[0],
      name: CANARIES[2],
      email: CANARIES[1],
      email_verified: true,
    };
    service.idp.forge = (forgery) =>
      service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: CANARIES[0] } });
    expect((await service.signIn(browser)).status).toBe(302);
    const session = browser.cookie('localhost', SESSION_COOKIE) ?? '';
    const ring = JSON.parse(readFileSync(join(service.state, 'key-ring.json'), 'utf8')) as {
      readonly keys: readonly { readonly key: string; readonly kid: string }[];
    };
    const { text } = await scrape(port);
    for (const secret of [
      ...CANARIES,
      session,
      ...session.split('.'),
      WEB_CLIENT_SECRET,
      WEB_CLIENT_ID,
      'access-token-of-ada',
      'refresh-token-of-ada',
      ...ring.keys.flatMap(({ key, kid }) => [key, kid]),
      service.state,
    ])
      expect([secret.length > 5, text.includes(secret)]).toEqual([true, false]);
  });
});
