/**
 * How traces leave the real command: never at a request's expense, and with nothing secret in them.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Service, WEB_CLIENT_SECRET } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import { startTraceCollector, startTraced, type TraceCollector } from '../wire/trace-collector.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';

/** A process waits three seconds for a collector; a machine under load takes some more. */
const STOP_MS = 8_000;

describe('A collector', () => {
  let collector: TraceCollector;
  beforeEach(async () => {
    collector = await startTraceCollector();
  });
  afterEach(() => collector.close());

  const isDropping = (service: Service) => () =>
    logOf(service.running).some(({ event }) => event === 'spans_dropped');

  /** Signs in and looks; returns how long the service then takes to end. */
  async function useAndStop(service: Service): Promise<number> {
    const browser = new Browser();
    expect((await service.signIn(browser)).status).toBe(302);
    for (let asked = 0; asked < 100; asked += 1)
      expect((await browser.step(`${service.url}/me`)).status).toBe(200);
    const startedAt = performance.now();
    expect(await service.running.stop()).toBe(0);
    const ms = performance.now() - startedAt;
    await service.stop();
    return ms;
  }

  it('that is away delays no request, is reported in the log, and does not delay the end of the process', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}/v1/traces`;
    const service = await startTraced({ endpoint }, 'sample: 1', {}, {});
    expect(await useAndStop(service)).toBeLessThan(STOP_MS);
    expect(isDropping(service)()).toBe(true);
    expect(service.running.stderr()).toContain('ECONNREFUSED');
  });

  it('that never answers concerns no request either, and the process ends in time', async () => {
    collector.behave('never');
    const service = await startTraced(collector, 'sample: 1', {}, {});
    expect(await useAndStop(service)).toBeLessThan(STOP_MS);
    expect(collector.messages.length).toBeGreaterThan(0);
    expect(isDropping(service)()).toBe(true);
  });

  it.each([400, 429, 503])('that answers %i gets each span once', async (status) => {
    collector.behave(status);
    const service = await startTraced(collector);
    await exchange(`${service.url}/me`);
    await expect.poll(isDropping(service), PATIENCE).toBe(true);
    collector.behave('take');
    await exchange(`${service.url}/healthz`);
    await collector.wait('GET /healthz');
    expect(collector.spans.filter(({ name }) => name === 'GET /me')).toEqual([]);
    await service.stop();
  });

  it('gets what waits when the process ends', async () => {
    const service = await startTraced(collector, 'sample: 1', {}, {});
    await exchange(`${service.url}/me`);
    await service.running.stop();
    expect(collector.spans.map(({ name }) => name)).toContain('GET /me');
    await service.stop();
  });

  it('gets the headers of the file, current at each message, and nothing else does', async () => {
    const folder = temporaryFolder();
    const headersFile = join(folder.path, 'headers');
    writeFileSync(headersFile, 'authorization: Bearer canary-first\nx-team: core\n');
    const service = await startTraced(collector, `sample: 1, headersFile: ${headersFile}`, {
      OTEL_EXPORTER_OTLP_HEADERS: 'x-environment=canary',
    });
    await exchange(`${service.url}/me`);
    await collector.wait('GET /me');
    expect(collector.messages[0]?.headers).toMatchObject({
      authorization: 'Bearer canary-first',
      'x-team': 'core',
      'content-type': 'application/json',
    });
    expect(collector.messages[0]?.headers).not.toHaveProperty('x-environment');
    writeFileSync(headersFile, 'authorization: Bearer canary-second\n');
    await expect
      .poll(async () => {
        await exchange(`${service.url}/me`);
        return collector.messages.at(-1)?.headers.authorization;
      }, PATIENCE)
      .toBe('Bearer canary-second');
    await service.stop();
    expect(service.running.stderr() + service.running.stdout()).not.toContain('canary');
    folder.remove();
  });
});

describe('No span holds a secret, a token, a cookie or a person', () => {
  let collector: TraceCollector;
  let service: Service;
  const secrets = new Map<string, string>();
  beforeAll(async () => {
    collector = await startTraceCollector();
    service = await startTraced(collector);
    const { url, idp } = service;
    const browser = new Browser();
    let idToken = '';
    idp.forge = async (forgery) => {
      idToken = await idp.honest(forgery);
      return idToken;
    };
    const login = await browser.step(`${url}/login?redirect_url=/canary-target`);
    const callback = idp.authorize(login.location ?? '');
    secrets.set('state', callback.get('state') ?? '');
    secrets.set('code', callback.get('code') ?? '');
    secrets.set('attempt cookie', browser.cookie('localhost', 'core_login_0') ?? '');
    await browser.step(`${url}/callback?${callback.toString()}`);
    const session = browser.cookie('localhost', SESSION_COOKIE) ?? '';
    secrets.set('session id', session.split('.')[0] ?? '');
    secrets.set('session secret', session.split('.')[1] ?? '');
    secrets.set('PKCE verifier', idp.tokenForms[0]?.get('code_verifier') ?? '');
    secrets.set('client secret', WEB_CLIENT_SECRET);
    secrets.set('id token', idToken);
    secrets.set('access token', 'access-token-of-ada');
    secrets.set('refresh token', 'refresh-token-of-ada');
    secrets.set('name', 'Lovelace');
    secrets.set('address', 'ada@example.test');
    secrets.set('browser', 'canary-browser');
    secrets.set('bearer', 'canary-bearer-0123456789');
    secrets.set('target', 'canary-target');
    const bearer = { 'core-authorization': 'Bearer canary-bearer-0123456789' };
    const agent = { 'user-agent': 'canary-browser/1' };
    for (const path of ['/me', '/auth/session', '/auth/account', `/me?code=${session}`])
      await browser.step(url + path, { headers: agent });
    await exchange(`${url}/me`, { headers: bearer });
    await exchange(`${url}/v1/canary-target`, { headers: bearer });
    await exchange(`${url}/me`, { headers: { cookie: `${SESSION_COOKIE}=${session}x` } });
    await exchange(`${url}/callback?state=x&code=canary-bearer-0123456789`);
    await browser.step(`${url}/logout`, { method: 'POST', headers: { origin: url } });
    await service.running.stop();
  });
  afterAll(async () => {
    await service.stop();
    await collector.close();
  });

  it('in any message, head or body, in any spelling', () => {
    expect([...secrets.values()].every((secret) => secret.length > 5)).toBe(true);
    const names = new Set(collector.spans.map(({ name }) => name));
    for (const name of ['GET /callback', 'idp token', 'session_store create', 'POST /logout'])
      expect(names).toContain(name);
    const sent = JSON.stringify(collector.messages);
    for (const [what, secret] of secrets) {
      const bytes = Buffer.from(secret);
      for (const spelling of [
        secret,
        encodeURIComponent(secret),
        bytes.toString('base64').replace(/=+$/, ''),
        bytes.toString('base64url'),
        bytes.toString('hex'),
      ])
        expect(sent.includes(spelling), what).toBe(false);
    }
  });

  it('in an attribute that is not in the list', () => {
    const keys = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...keys].toSorted()).toEqual(
      [
        'db.operation.name',
        'db.system.name',
        'http.request.method',
        'http.response.status_code',
        'http.route',
        'network.protocol.version',
        'sallyport.door',
        'sallyport.operation',
        'sallyport.outcome',
        'sallyport.reason',
        'server.address',
        'server.port',
        'url.scheme',
      ].toSorted(),
    );
  });
});
