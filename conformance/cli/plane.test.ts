import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Plane, startPlane } from '../wire/platform.ts';
import { holdRedirectPort, REDIRECT_PORT } from '../wire/redirect-port.ts';
import type { Ended, Home } from './command.ts';
import { signInByDevice } from './device-code.ts';
import { clock, home, runWithBrowser, useHome } from './fixture.ts';
import type { ListDocument } from './operator.ts';
import { browserCommand, readRecord } from './scripted-browser.ts';

let plane: Plane;
let giveBack: () => Promise<void>;
useHome();
let record: string;
let browser: string;
beforeAll(async () => {
  giveBack = await holdRedirectPort();
  plane = await startPlane();
}, 300_000);
afterAll(async () => {
  await plane.stop();
  await giveBack();
});
beforeEach(() => {
  record = join(home.path, 'record');
  browser = browserCommand(record, 'ada', join(plane.state, 'idp', 'passwords'));
});

const signIn = (): Promise<Ended> =>
  runWithBrowser(record, ['login', '--endpoint', plane.url, '--browser', browser]);
/** As a process of its own: a certificate authority that is named is trusted in all of the process. */
const runAlone: Home['run'] = (...given) => home.start(...given).ended;

describe('Against the whole plane', () => {
  it('login learns client ID and redirect URI, opens the browser, exchanges the code, keeps the tokens', async () => {
    const { code, stderr } = await signIn();
    expect([code, stderr]).toEqual([0, expect.stringContaining('as Ada Lovelace')]);
    const opened = new URL(readRecord(record)[0]?.argv?.at(-1) ?? '');
    expect(opened.origin).toBe(plane.issuer);
    expect(opened.searchParams.get('client_id')).toBe('sallyport-cli');
    expect(opened.searchParams.get('redirect_uri')).toBe(
      `http://localhost:${REDIRECT_PORT}/callback`,
    );
    expect(opened.searchParams.get('scope')).toBe('all');
    expect(opened.searchParams.get('code_challenge_method')).toBe('S256');
    expect(readRecord(record)[1]?.url).toMatch(
      new RegExp(`^http://localhost:${REDIRECT_PORT}/callback\\?`),
    );
  });

  it('the token is admitted in core-authorization, and a call without it is not', async () => {
    await signIn();
    const { stdout } = await home.run(['token', '--header']);
    const [name = '', value = ''] = stdout.trimEnd().split(': ');
    expect(name).toBe('core-authorization');
    expect((await exchange(`${plane.url}/me`, { headers: { [name]: value } })).status).toBe(200);
    expect((await exchange(`${plane.url}/me`)).status).toBe(401);
    expect((await home.run(['whoami'])).stdout).toContain('Ada Lovelace <ada@example.test>');
  });

  it('after logout there is no sign-in: token and status end with code 4', async () => {
    await signIn();
    expect((await home.run(['logout'])).code).toBe(0);
    expect((await home.run(['token', '--no-login'])).code).toBe(4);
    expect((await home.run(['status'])).code).toBe(4);
  });

  it('login with a device code that is confirmed on another device', async () => {
    const { code, stderr } = await signInByDevice(home, plane, 'grace', clock);
    expect([code, stderr]).toEqual([0, expect.stringContaining('as Grace Hopper')]);
  });

  it('/readyz says ready to everyone, and the paths around it to none: healthcheck finds the plane', async () => {
    const { status, body } = await exchange(`${plane.url}/readyz`);
    expect([status, JSON.parse(body)]).toEqual([200, { status: 'ready' }]);
    for (const path of ['/readyz/x', '/readyzx', '/ready'])
      expect([path, (await exchange(plane.url + path)).status]).toEqual([path, 401]);
    const url = plane.url.replace('localhost', '127.0.0.1');
    const { code, stdout } = await home.run(['healthcheck', '--url', url]);
    expect([code, stdout]).toEqual([0, `ready ${url}\n`]);
  });

  it('over TLS with the certificate authority that is named, and not without it', async () => {
    const url = plane.url.replace('http:', 'https:');
    const login = ['login', '--endpoint', url, '--browser', browser];
    const refused = await runAlone(login);
    expect(refused.code).toBe(5);
    const caFile = join(plane.state, 'tls', 'ca.pem');
    const trusted = await runAlone([...login, '--ca-file', caFile]);
    expect([trusted.code, trusted.stderr]).toEqual([0, expect.stringContaining('Ada Lovelace')]);
    expect(readFileSync(join(home.path, '.config/sallyport/config.yaml'), 'utf8')).toContain(
      caFile,
    );
    expect((await runAlone(['whoami'])).code).toBe(0);
  });

  it("credentials of a service app work without a person, and the identity is the application's", async () => {
    const secret = readFileSync(join(plane.state, 'idp', 'service-client-secret'), 'utf8');
    const environment = {
      CI: 'true',
      CORE_CREDENTIALS_CLIENT_ID: 'sallyport-service',
      CORE_CREDENTIALS_CLIENT_SECRET: secret.trimEnd(),
      CORE_CREDENTIALS_AUTH_MODE: 'basic',
    };
    const { code, stdout } = await home.run(
      ['whoami', '--json', '--endpoint', plane.url],
      environment,
    );
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ account: expect.objectContaining({ kind: 'app' }) }),
    ]);
  });

  it('sallyport sessions takes its deployment variables as they are', async () => {
    await plane.signIn(new Browser(), '/', 'ada');
    const deployment = readFileSync(join(plane.state, 'deployment.env'), 'utf8');
    const environment = Object.fromEntries(
      [...deployment.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    const { code, stdout } = await home.run(['sessions', 'list', '--json'], environment);
    expect(code).toBe(0);
    const { sessions } = JSON.parse(stdout) as ListDocument;
    expect(sessions.map(({ issuer }) => issuer)).toEqual([plane.issuer]);
  });
});
