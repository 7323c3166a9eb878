import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SeenRequest } from '@sallyport/testing/idp/fake-idp';
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createCommandHost } from '../cli/command-host.ts';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import {
  type Service,
  startHostedService,
  WEB_CLIENT_ID,
  WEB_CLIENT_SECRET,
} from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import {
  askMe,
  basicOf,
  expectFailurePage,
  expectRefused,
  expectSignsIn,
} from '../wire/sign-in.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const REREAD = { timeout: 15_000 };

const ec = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });
const jwkOf = (key: KeyObject, more: object = {}) => ({
  ...key.export({ format: 'jwk' }),
  ...more,
});
const jwk = (key: KeyObject, more: object = {}) => JSON.stringify(jwkOf(key, more));
const secretPartOf = (key: KeyObject) => key.export({ format: 'jwk' }).d ?? '';

const folder = temporaryFolder();
afterAll(() => folder.remove());
let files = 0;

/** Writes a key to a file of its own. */
function keyFile(text: string): string {
  files += 1;
  const path = join(folder.path, `key-${files}`);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** Puts another text in place of a file, whole. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function lines(path: string): readonly string[] {
  return [
    'auth:',
    '  userAuth:',
    '    openId:',
    '      clientAuthentication: private_key_jwt',
    `      privateKeyLocation: ${path}`,
  ];
}

/** A service whose web app has a private key and no secret. */
function startWithKey(path: string): Promise<Service> {
  return startHostedService({ OIDC_CLIENT_SECRET_FILE: '' }, [], undefined, lines(path));
}

async function publishedBy(service: Service): Promise<JSONWebKeySet> {
  return JSON.parse((await exchange(`${service.url}/auth/jwks`)).body) as JSONWebKeySet;
}

async function kidsOf(service: Service): Promise<readonly (string | undefined)[]> {
  return (await publishedBy(service)).keys.map(({ kid }) => kid);
}

/** Verifies the assertion of a request as an IdP does that was given the address of the keys. */
async function verified(service: Service, { form, headers }: SeenRequest): Promise<JWTPayload> {
  expect(form.get('client_assertion_type')).toBe(ASSERTION_TYPE);
  expect(form.getAll('client_assertion')).toHaveLength(1);
  expect(form.get('client_id')).toBe(WEB_CLIENT_ID);
  expect(form.has('client_secret')).toBe(false);
  expect(headers).not.toHaveProperty('authorization');
  const keys = createLocalJWKSet(await publishedBy(service));
  const { payload } = await jwtVerify(form.get('client_assertion') ?? '', keys, {
    issuer: WEB_CLIENT_ID,
    subject: WEB_CLIENT_ID,
    requiredClaims: ['exp', 'iat', 'jti'],
  });
  return payload;
}

function lastOf(service: Service, path: string): SeenRequest {
  const seen = service.idp.requests.findLast((request) => request.path === path);
  if (seen === undefined) throw new Error(`${path} was not asked`);
  return seen;
}

const headerOf = ({ form }: SeenRequest) =>
  decodeProtectedHeader(form.get('client_assertion') ?? '');

describe('A web app with a private key', () => {
  const key = ec();
  let service: Service;
  beforeAll(async () => {
    service = await startWithKey(keyFile(jwk(key, { kid: 'wire-1' })));
  });
  afterAll(() => service.stop());

  it('signs in by an assertion that its published key verifies, for this IdP alone, for a minute', async () => {
    await expectSignsIn(service, new Browser());
    const seen = lastOf(service, '/token');
    const { aud, iss, sub, exp = 0, iat = 0, jti } = await verified(service, seen);
    expect([aud, iss, sub]).toEqual([service.idp.issuer, WEB_CLIENT_ID, WEB_CLIENT_ID]);
    expect(exp - iat).toBeGreaterThan(0);
    expect(exp - iat).toBeLessThanOrEqual(60);
    expect(jti).toMatch(/^[\w-]{22,}$/);
    expect(headerOf(seen)).toEqual({ alg: 'ES256', kid: 'wire-1' });
  });

  it('never uses an assertion, or a jti, a second time', async () => {
    for (let people = 0; people < 5; people += 1) await expectSignsIn(service, new Browser());
    const seen = service.idp.requests.filter(({ path }) => path === '/token');
    const claims = await Promise.all(seen.map((each) => verified(service, each)));
    expect(seen.length).toBeGreaterThanOrEqual(5);
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(seen.length);
    expect(new Set(seen.map(({ form }) => form.get('client_assertion'))).size).toBe(seen.length);
  });

  it('revokes a refresh token by an assertion, too', async () => {
    const browser = new Browser();
    await expectSignsIn(service, browser);
    const headers = { origin: service.url, 'sec-fetch-site': 'same-origin' };
    await browser.step(`${service.url}/logout`, { form: {}, headers });
    const seen = lastOf(service, '/revoke');
    expect(seen.form.get('token')).toBe('refresh-token-of-ada');
    expect(await verified(service, seen)).toMatchObject({ aud: service.idp.issuer });
  });

  it('has its public half at /auth/jwks without a credential, to be cached for five minutes', async () => {
    const received = await exchange(`${service.url}/auth/jwks`);
    expect(received.status).toBe(200);
    expect(received.headers['content-type']).toBe('application/jwk-set+json');
    expect(received.headers['cache-control']).toBe('public, max-age=300');
    expect(received.setCookies).toEqual([]);
    const { crv, kty, x, y } = jwkOf(key);
    const published = { crv, kty, x, y, kid: 'wire-1', alg: 'ES256', use: 'sig' };
    expect(JSON.parse(received.body)).toEqual({ keys: [published] });
    const head = await exchange(`${service.url}/auth/jwks`, { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
  });

  it('has nothing there for other methods, or below', async () => {
    const statuses = await Promise.all([
      exchange(`${service.url}/auth/jwks`, { method: 'POST' }),
      exchange(`${service.url}/auth/jwks/wire-1`),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404]);
  });

  it('is not let in by one of its own assertions as a bearer', async () => {
    await expectSignsIn(service, new Browser());
    const assertion = lastOf(service, '/token').form.get('client_assertion') ?? '';
    const { status } = await exchange(`${service.url}/me`, {
      headers: { 'core-authorization': `Bearer ${assertion}` },
    });
    expect(status).toBe(401);
  });

  it('that the IdP does not accept ends on a page that says so, without a session', async () => {
    const refusal = { status: 401, body: '{"error":"invalid_client"}' };
    const received = await expectRefused(service, { answer: () => refusal }, 'misconfigured');
    expect(received.body).toContain('invalid_client');
  });

  it('shows it nowhere: no request to the IdP, no output', async () => {
    await expectSignsIn(service, new Browser());
    expect(secretPartOf(key).length).toBeGreaterThan(40);
    const sent = service.idp.requests.map(
      ({ form, headers }) => form.toString() + JSON.stringify(headers),
    );
    const places = [...sent, service.running.stdout(), service.running.stderr()].join('\n');
    expect(places).toContain('client_assertion');
    expect(places).not.toContain(secretPartOf(key));
    expect(places).not.toContain('client_secret');
  });
});

describe('The kind of key', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }).privateKey;
  const ed = generateKeyPairSync('ed25519').privateKey;
  it.each([
    ['RSA in PEM', 'RS256', pem(rsa)],
    ['RSASSA-PSS in PEM', 'PS256', pem(pss)],
    ['a JWK of RSA that says so', 'PS256', jwk(rsa, { alg: 'PS256' })],
    ['P-256 in PEM', 'ES256', pem(ec())],
    ['Ed25519 in PEM', 'EdDSA', pem(ed)],
  ])('%s signs with %s', async (_, algorithm, text) => {
    const service = await startWithKey(keyFile(text));
    onTestFinished(() => service.stop());
    await expectSignsIn(service, new Browser());
    const seen = lastOf(service, '/token');
    const [published] = (await publishedBy(service)).keys;
    expect(headerOf(seen)).toEqual({ alg: algorithm, kid: published?.kid });
    await verified(service, seen);
  });
});

describe('A key file that changes', () => {
  const one = ec();
  const two = ec();
  let path = '';
  let service: Service;
  beforeAll(async () => {
    path = keyFile(jwk(one, { kid: 'one' }));
    service = await startWithKey(path);
  });
  afterAll(() => service.stop());

  it('is used without a restart, and the former key stays published', async () => {
    await expectSignsIn(service, new Browser());
    expect(headerOf(lastOf(service, '/token')).kid).toBe('one');
    const first = lastOf(service, '/token');
    replace(path, jwk(two, { kid: 'two' }));
    await expect.poll(() => kidsOf(service), REREAD).toEqual(['two', 'one']);
    await expectSignsIn(service, new Browser());
    expect(headerOf(lastOf(service, '/token')).kid).toBe('two');
    await verified(service, lastOf(service, '/token'));
    // An assertion that was under way meanwhile.
    await verified(service, first);
  });

  it('to something that is no key is said, and the last good key stays in use', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
    replace(path, pem(weak));
    await expect
      .poll(() => service.running.stderr(), REREAD)
      .toContain('found an RSA key of 1024 bits');
    const said = service.running.stderr();
    expect(said).toContain(`${path}: auth.userAuth.openId.privateKeyLocation`);
    expect(said).not.toContain(pem(weak).split('\n')[1]);
    await expectSignsIn(service, new Browser());
    expect(headerOf(lastOf(service, '/token')).kid).toBe('two');
  });

  it('to a set publishes the next key before it signs', async () => {
    replace(
      path,
      JSON.stringify({ keys: [jwkOf(two, { kid: 'two' }), jwkOf(one, { kid: 'next' })] }),
    );
    await expect.poll(() => kidsOf(service), REREAD).toContain('next');
    await expectSignsIn(service, new Browser());
    expect(headerOf(lastOf(service, '/token')).kid).toBe('two');
    replace(path, jwk(one, { kid: 'next' }));
    await expect.poll(async () => (await kidsOf(service))[0], REREAD).toBe('next');
    await expectSignsIn(service, new Browser());
    expect(headerOf(lastOf(service, '/token')).kid).toBe('next');
    await verified(service, lastOf(service, '/token'));
  });
});

describe('A web app with a secret', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  it('has no keys to show, and signs in by its secret', async () => {
    await expectSignsIn(service, new Browser());
    const seen = lastOf(service, '/token');
    const jwks = await exchange(`${service.url}/auth/jwks`);
    expect(basicOf(seen)).toEqual([WEB_CLIENT_ID, WEB_CLIENT_SECRET]);
    expect(seen.form.has('client_assertion')).toBe(false);
    expect(jwks.status).toBe(404);
  });

  it('that the IdP refuses with a challenge ends on the page that names the error (RFC 6749 section 5.2)', async () => {
    const browser = new Browser();
    const received = await service.signIn(browser, '/wanted', {
      answer: () => ({
        status: 401,
        body: '{"error":"invalid_client"}',
        headers: { 'www-authenticate': 'Basic realm="idp", error="invalid_client"' },
      }),
    });
    const status = await askMe(service, browser);
    expectFailurePage(received, 'misconfigured', 500);
    expect(received.body).toContain('invalid_client');
    expect(status).toBe(401);
  });
});

describe('The configuration of a key', () => {
  const host = createCommandHost();
  afterAll(() => host.stop());

  const environment = {
    PUBLIC_URL: 'https://flows.example',
    OIDC_BASE_URL: 'https://idp.example',
    OIDC_CLIENT_ID: 'web-id',
    CLI_CLIENT_ID: 'cli-id',
  };

  async function check(config: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const path = keyFile(`${config.join('\n')}\n`);
    const args = ['serve', '--check', '--json', '--config', path];
    const { HOME = '' } = process.env;
    const ran = await host.run(args, { HOME, ...environment, ...more }, dirname(path));
    const { problems = [] } = JSON.parse(ran.stdout) as { problems?: object[] };
    return { ...ran, path, problems };
  }

  it('is complete without any client secret', async () => {
    const key = ec();
    const { code, stdout, stderr } = await check(lines(keyFile(pem(key))));
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(pem(key).split('\n')[1]);
    expect(stdout + stderr).not.toContain(secretPartOf(key));
  });

  it('beside a client secret is a problem that names file, line and key', async () => {
    const config = [...lines(keyFile(pem(ec()))), '      clientSecretFile: /etc/secrets/other'];
    const { code, problems, path } = await check(config);
    expect(code).toBe(1);
    expect(problems).toEqual([
      expect.objectContaining({
        file: path,
        line: 6,
        key: 'auth.userAuth.openId.clientSecretFile',
      }),
    ]);
  });

  it.each([
    ['is missing', '/nowhere/key', 'no such file'],
    [
      'is weak',
      keyFile(pem(generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey)),
      'an RSA key of 1024 bits',
    ],
    ['holds a client secret', keyFile('canary-client-secret'), 'something else'],
    ['is empty', keyFile(''), 'an empty file'],
  ])('whose file %s is a problem before anything starts', async (_, path, found) => {
    const { code, problems, stdout, stderr } = await check(lines(path));
    expect(code).toBe(1);
    expect(problems).toEqual([expect.objectContaining({ file: path, found })]);
    expect(stdout + stderr).not.toContain('canary');
  });
});
