import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange, type Received } from '../../conformance/wire/exchange.ts';
import { echo } from './backend.ts';
import { type Gate, type Platform, sendRaw, startGate, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';

/** Requirement of the product on itself: a proxy's default buffer, with room to spare. */
const HEADERS_MAX_BYTES = 3_500;
/** `x-user-name` and the like hold at most this many characters. */
const TEXT_MAX = 512;
const SUBJECT = 's'.repeat(255);
const NAME = 'N'.repeat(TEXT_MAX);
const EMAIL = `${'e'.repeat(TEXT_MAX - '@example.test'.length)}@example.test`;
const COOKIE = /^core_session=([\w.-]+);/;

describe.skipIf(NGINX.isLeftOut)('nginx: the largest accepted record', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform('claimHeaders: [groups]\n');
    const { idp } = platform.service;
    idp.forge = (forgery) =>
      idp.honest({ ...forgery, claims: { ...forgery.claims, sub: SUBJECT } });
  });
  afterAll(() => platform.stop());

  /** Signs in a person whose claim `groups` is of that length; gives the answer of `/callback`. */
  const signIn = (length: number): Promise<Received> => {
    platform.service.idp.userInfo = {
      sub: SUBJECT,
      name: NAME,
      email: EMAIL,
      email_verified: true,
      groups: 'g'.repeat(length),
    };
    return platform.signIn(new Browser());
  };
  const sessionOf = ({ setCookies }: Received) =>
    setCookies.map((line) => COOKIE.exec(line)?.[1]).find((value) => value !== undefined);

  /** The longest claim that is accepted: between one that is and one that is not. */
  const findLongest = async () => {
    let [accepted, refused] = [0, HEADERS_MAX_BYTES];
    while (refused - accepted > 1) {
      const middle = Math.floor((accepted + refused) / 2);
      if (sessionOf(await signIn(middle)) === undefined) refused = middle;
      else accepted = middle;
    }
    return accepted;
  };

  it('passes through default buffers whole, and one byte more is refused and not cut', async () => {
    const { url, service } = platform;
    const longest = await findLongest();
    expect(longest).toBeGreaterThan(1_000);

    const cookie = `core_session=${sessionOf(await signIn(longest))}`;
    const headers = `Host: localhost\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`;
    const me = await sendRaw(service.url, `HEAD /me HTTP/1.1\r\n${headers}`);
    expect(me).toMatch(/^HTTP\/1\.1 200 /);
    // The slide of the cookie comes on top, once a minute.
    const slide = `set-cookie: ${cookie}; Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=Lax\r\n`;
    expect(me.length + slide.length).toBeLessThan(HEADERS_MAX_BYTES);

    platform.arrived();
    expect(await sendRaw(url, `GET /org HTTP/1.1\r\n${headers}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(platform.last('organizations').headers).toMatchObject({
      'x-user-subject': SUBJECT,
      'x-user-name': NAME,
      'x-user-email': EMAIL,
      'x-user-claim-groups': 'g'.repeat(longest),
    });

    const refused = await signIn(longest + 1);
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('not_allowed');
    expect(sessionOf(refused)).toBeUndefined();
  });

  it('is counted as it travels, not as it was sent', async () => {
    platform.service.idp.userInfo = { sub: SUBJECT, name: 'Ada', groups: 'é'.repeat(500) };
    expect((await platform.signIn(new Browser())).status).toBe(403);
    platform.service.idp.userInfo = { sub: SUBJECT, name: 'Ada', groups: 'e'.repeat(500) };
    expect((await platform.signIn(new Browser())).status).toBe(302);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: the headers of the check, in default buffers', () => {
  let gate: Gate;
  beforeAll(async () => {
    gate = await startGate(echo);
  });
  afterAll(() => gate.stop());

  it.each([
    [3_500, 200],
    [9_000, 503],
  ])('of %d bytes give %d, and reach the backend whole or not at all', async (bytes, status) => {
    const head = 'HTTP/1.1 200 OK\r\nDate: \r\nConnection: keep-alive\r\nx-user-subject: \r\n\r\n';
    const subject = 's'.repeat(bytes - head.length - 'Sun, 06 Nov 1994 08:49:37 GMT'.length);
    gate.backend('admin').answer = (_, res) =>
      res.writeHead(200, { 'x-user-subject': subject }).end();
    gate.arrived();
    expect((await exchange(`${gate.url}/org`)).status).toBe(status);
    if (status === 200) expect(gate.last('organizations').headers['x-user-subject']).toBe(subject);
    else expect(gate.arrived()).toEqual([]);
  });
});
