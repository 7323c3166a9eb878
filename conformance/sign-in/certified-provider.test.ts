import { generateKeyPairSync } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Fleet, startFleet } from '../wire/fleet.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { temporaryFolder } from '../wire/process.ts';
import { type RotatingIdp, type SeenRequest, startRotatingIdp } from '../wire/rotating-idp.ts';
import { expectFailurePage } from '../wire/sign-in.ts';

const MINUTE = 60_000;
const folder = temporaryFolder();
afterAll(() => folder.remove());

function makeJwk(kid: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid });
}

/** Puts a text in place of a file, whole. */
function write(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** One service whose web app has a key and no secret. */
function startWithKey(idp: RotatingIdp, path: string, clock?: MovedClock): Promise<Fleet> {
  return startFleet({
    processes: 1,
    idp,
    ...(clock === undefined ? {} : { clock }),
    environment: { OIDC_CLIENT_SECRET_FILE: '' },
    file: [
      'auth:',
      '  userAuth:',
      '    openId:',
      '      clientAuthentication: private_key_jwt',
      `      privateKeyLocation: ${path}`,
    ],
  });
}

const assertionOf = ({ form }: SeenRequest) => form.get('client_assertion') ?? '';
const kidOf = (seen: SeenRequest) => decodeProtectedHeader(assertionOf(seen)).kid;

describe('A certified provider that has the address of the keys and takes pushed requests alone', () => {
  const path = join(folder.path, 'key');
  let clock: MovedClock;
  let idp: RotatingIdp;
  let fleet: Fleet;
  beforeAll(async () => {
    write(path, makeJwk('first'));
    clock = await startMovedClock();
    const publicUrl = `http://localhost:${await freePort()}`;
    const registration = {
      webJwksUri: `${publicUrl}/auth/jwks`,
      requirePushedAuthorization: true,
    };
    idp = await startRotatingIdp({ publicUrl, registration, clock });
    fleet = await startWithKey(idp, path, clock);
  });
  afterAll(async () => {
    await fleet.stop();
    await idp.close();
    await clock.close();
  });

  const last = (asked: string) =>
    idp.requests.findLast((request) => request.path === asked) ??
    expect.fail(`${asked} was not asked`);

  it('signs people in by a push and a code, each with an assertion', async () => {
    const cookie = await fleet.signIn(new Browser());
    expect((await fleet.me(0, cookie)).status).toBe(200);
    for (const request of [last('/idp/par'), last('/idp/token')]) {
      expect(request.idpStatus).toBeLessThan(300);
      expect(request.form.has('client_secret')).toBe(false);
      expect(decodeJwt(assertionOf(request)).aud).toBe(idp.issuer);
    }
    expect([...last('/idp/par').form.keys()]).toEqual(
      expect.arrayContaining(['state', 'nonce', 'code_challenge']),
    );
    const authorized = new URL(
      (await new Browser().step(`${fleet.publicUrl}/login`)).location ?? 'about:blank',
    );
    expect([...authorized.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
  });

  it('renews their sessions by assertions', async () => {
    const cookie = await fleet.signIn(new Browser(), 'grace');
    await clock.advance(11 * MINUTE);
    const arrived = idp.nextRefresh();
    expect((await fleet.me(0, cookie)).status).toBe(200);
    const refresh = await arrived;
    await expect.poll(() => refresh.idpStatus).toBe(200);
    expect(refresh.form.has('client_secret')).toBe(false);
    expect(kidOf(refresh)).toBe('first');
    expect((await fleet.me(0, cookie)).status).toBe(200);
  });

  it('takes a refresh token back by an assertion', async () => {
    const browser = new Browser();
    await fleet.signIn(browser);
    const headers = { origin: fleet.publicUrl, 'sec-fetch-site': 'same-origin' };
    await browser.step(`${fleet.publicUrl}/logout`, { form: {}, headers });
    expect(last('/idp/revoke').idpStatus).toBe(200);
    expect(kidOf(last('/idp/revoke'))).toBe('first');
  });

  /** Replaces the key file and waits until the new key is the one that signs. */
  async function replaceKey(text: string, kid: string): Promise<void> {
    write(path, text);
    await expect
      .poll(
        async () => {
          const { body } = await exchange(`${fleet.publicUrl}/auth/jwks`);
          return (JSON.parse(body) as { keys: { kid: string }[] }).keys[0]?.kid;
        },
        { timeout: 15_000 },
      )
      .toBe(kid);
  }

  it('takes a new key without a restart, unless it has read the keys less than five minutes ago', async () => {
    await clock.advance(6 * MINUTE);
    await replaceKey(makeJwk('second'), 'second');
    const cookie = await fleet.signIn(new Browser());
    expect((await fleet.me(0, cookie)).status).toBe(200);
    expect(kidOf(last('/idp/token'))).toBe('second');

    await replaceKey(makeJwk('too-soon'), 'too-soon');
    const browser = new Browser();
    const refused = await browser.step(`${fleet.publicUrl}/login`);
    expectFailurePage(refused, 'misconfigured', 500);
    expect(refused.body).toContain('invalid_client');
    expect(browser.cookieNames('localhost')).toEqual([]);
    await clock.advance(6 * MINUTE);
    await fleet.signIn(new Browser());
    expect(kidOf(last('/idp/token'))).toBe('too-soon');
  });

  it('never misses a key that was published before it signed', async () => {
    const [between, next] = [makeJwk('between'), makeJwk('next')];
    await clock.advance(6 * MINUTE);
    await replaceKey(`{"keys":[${between},${next}]}`, 'between');
    // Now it has read both, and will not read them again for five minutes.
    await fleet.signIn(new Browser());
    expect(kidOf(last('/idp/token'))).toBe('between');
    await replaceKey(next, 'next');
    await fleet.signIn(new Browser());
    expect(kidOf(last('/idp/token'))).toBe('next');
  });
});

describe('A certified provider that has another key of the web app', () => {
  it('begins no session: the answer is an error page', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const jwks = { keys: [{ ...other.export({ format: 'jwk' }), kid: 'first', use: 'sig' }] };
    const server = createServer((_, res) => res.end(JSON.stringify(jwks)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const idp = await startRotatingIdp({
      registration: { webJwksUri: `http://127.0.0.1:${port}/jwks` },
    });
    const path = join(folder.path, 'wrong-key');
    write(path, makeJwk('first'));
    const fleet = await startWithKey(idp, path);
    try {
      const browser = new Browser();
      const page = await idp.signIn(browser, `${fleet.publicUrl}/login`);
      expectFailurePage(page, 'misconfigured', 500);
      expect(page.body).toContain('invalid_client');
      expect((await browser.step(`${fleet.publicUrl}/me`)).status).toBe(401);
      expect(idp.requests.at(-1)).toMatchObject({ path: '/idp/token', idpStatus: 401 });
    } finally {
      await fleet.stop();
      await idp.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
