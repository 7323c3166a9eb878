/**
 * The audit stream in its file: one line for each transition, refused token and change of configuration.
 *
 * @module
 */

import {
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADA, FIREFOX, GRACE, idOf, signIn, variables } from '../cli/operator.ts';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { expectDone, forgeLogoutToken, postLogout } from '../wire/logout-token.ts';
import { type Service, startHostedService, startService } from '../wire/platform.ts';
import { run, temporaryFolder } from '../wire/process.ts';
import { askMe } from '../wire/sign-in.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';
import { FIXED_FIELDS, followAudit, readAudit } from './audit-lines.ts';

const HERE = { address: '127.0.0.1', browser: FIREFOX };
const ID = expect.stringMatching(/^[\w.-]{8,64}$/) as string;
const NO_PERSON = { issuer: null, subject: null, session: null };
/** One that seals only in the distant future. */
const NEW_KEY = [{ kid: 'AAAAAAAA', key: 'A'.repeat(43), sealsFrom: '2199-01-01T00:00:00.000Z' }];
const NO_REQUEST = { address: null, browser: null, request_id: null };

describe('The audit stream', () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'audit.jsonl');
  let service: Service;
  let audit: ReturnType<typeof followAudit>;

  beforeAll(async () => {
    service = await startService({ SALLYPORT_AUDIT_FILE: path }, [], {}, undefined, [
      'access:',
      '  emailDomains: [example.test]',
    ]);
    audit = followAudit(path);
  });
  afterAll(async () => {
    await service.stop();
    folder.remove();
  });

  const ada = () => ({ issuer: service.idp.issuer, subject: 'ada' });
  const visit = (browser: Browser, where: string, form?: Readonly<Record<string, string>>) =>
    browser.step(service.url + where, {
      headers: { 'user-agent': FIREFOX, origin: service.url, 'sec-fetch-site': 'same-origin' },
      ...(form === undefined ? {} : { form }),
    });
  const signedIn = async () => {
    const browser = await signIn(service, ADA, FIREFOX);
    await audit.next(2);
    return browser;
  };

  it('begins with the configuration, before the first request', async () => {
    expect(await audit.next(1)).toEqual([
      {
        level: 'audit',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        event: 'configuration_loaded',
        ...NO_PERSON,
        ...NO_REQUEST,
        reason: 'started',
        file: join(service.state, 'sallyport.yaml'),
      },
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('reports a sign-in with person, session, address, reason and request id', async () => {
    const browser = await signIn(service, ADA, FIREFOX);
    const [ring, started, begun] = await audit.next(3);
    // The first cookie that is sealed has the keys read.
    expect(ring).toMatchObject({ event: 'key_ring_loaded', ...NO_PERSON, reason: 'first_use' });
    expect(started).toMatchObject({
      ...{ event: 'sign_in_started', ...NO_PERSON, ...HERE },
      ...{ reason: 'no_credential', request_id: ID, restarts: 0 },
    });
    expect(begun).toMatchObject({
      ...{ event: 'session_begun', ...ada(), session: idOf(browser), ...HERE },
      ...{ reason: 'signed_in', request_id: ID },
    });
    for (const line of [started, begun])
      expect(Object.keys(line ?? {}).slice(0, FIXED_FIELDS.length)).toEqual(FIXED_FIELDS);
  });

  it('reports a sign-out under the id that the request brought', async () => {
    const browser = await signedIn();
    const id = idOf(browser);
    await browser.step(`${service.url}/logout`, {
      form: {},
      headers: { origin: service.url, 'user-agent': FIREFOX, 'x-request-id': 'sign-out-0001' },
    });
    expect(await audit.next(1)).toMatchObject([
      {
        ...{ event: 'session_ended', ...ada(), session: id, ...HERE },
        ...{ reason: 'signed_out', request_id: 'sign-out-0001' },
      },
    ]);
  });

  it('reports a session that was replaced by the next one of its browser', async () => {
    const browser = await signedIn();
    const former = idOf(browser);
    const sent = await visit(browser, '/login?prompt=login');
    await visit(
      browser,
      `/callback?${service.idp.authorize(sent.location ?? '', { userInfo: ADA })}`,
    );
    const [, ended, begun] = await audit.next(3);
    expect(ended).toMatchObject({
      ...{ event: 'session_ended', session: former, ...ada() },
      ...{ reason: 'session_replaced', ...HERE, request_id: begun?.['request_id'] },
    });
    expect(begun).toMatchObject({ event: 'session_begun', session: idOf(browser) });
    expect(begun?.['session']).not.toBe(former);
  });

  it('reports who ended whose session at the account page', async () => {
    const [here, there] = [await signedIn(), await signedIn()];
    await visit(here, '/auth/account', { end: idOf(there) });
    expect(await audit.next(1)).toMatchObject([
      {
        ...{ event: 'session_ended', ...ada(), session: idOf(there), ...HERE },
        ...{ reason: 'session_revoked', by: 'account', by_session: idOf(here) },
      },
    ]);
  });

  it('reports the sessions that the identity provider ended, and that the identity provider ended them', async () => {
    const browser = await signedIn();
    await visit(browser, '/auth/account', { end: 'all' });
    await expect.poll(() => readAudit(path).at(-1)?.['by'], PATIENCE).toBe('account');
    audit = followAudit(path);
    await audit.next(readAudit(path).length);
    const again = await signedIn();
    const token = await forgeLogoutToken(service.idp, { claims: { sub: 'ada' } });
    expectDone(
      await postLogout(service.url, `logout_token=${token}`, { 'x-request-id': 'logout-0001' }),
    );
    const origin = { address: '127.0.0.1', request_id: 'logout-0001' };
    expect(await audit.next(2)).toMatchObject([
      {
        ...{ event: 'session_ended', ...ada(), session: idOf(again), ...origin },
        reason: 'session_revoked',
      },
      {
        ...{ event: 'backchannel_logout', ...ada(), session: null, ...origin },
        ...{ reason: 'idp_logout', has_sid: false, sessions: 1 },
      },
    ]);
  });

  it('reports the session that an operator ended from another process, in the same file', async () => {
    const browser = await signedIn();
    const { code, stderr } = await run(['sessions', 'revoke', idOf(browser)], {
      ...variables(service),
      SALLYPORT_AUDIT_FILE: path,
    });
    expect(code).toBe(0);
    expect(await audit.next(1)).toMatchObject([
      {
        ...{ event: 'session_ended', ...ada(), session: idOf(browser), ...NO_REQUEST },
        ...{ reason: 'session_revoked', by: 'operator', operator: expect.stringMatching(/./) },
      },
    ]);
    expect(stderr).not.toContain('"level"');
  });

  it('reports a person who may not enter, with the rule, and a sign-in that failed, without a person', async () => {
    const sent = await visit(new Browser(), '/login');
    const query = service.idp.authorize(sent.location ?? '', { userInfo: GRACE });
    const browser = new Browser();
    await visit(browser, '/callback?code=made-up&state=made-up');
    const [, failed] = await audit.next(2);
    expect(failed).toMatchObject({
      ...{ event: 'sign_in_failed', ...NO_PERSON, ...HERE, reason: 'attempt_gone' },
      request_id: ID,
    });
    // That one was another browser's.
    expect(query.get('code')).not.toBeNull();
    const stranger = new Browser();
    const login = await visit(stranger, '/login');
    await visit(
      stranger,
      `/callback?${service.idp.authorize(login.location ?? '', {
        userInfo: GRACE,
        forge: (forgery) =>
          service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: 'grace' } }),
      })}`,
    );
    const [, refused] = await audit.next(2);
    expect(refused).toMatchObject({
      ...{ event: 'sign_in_refused', issuer: service.idp.issuer, subject: 'grace', session: null },
      ...{ ...HERE, reason: 'not_allowed', rule: 'email_domain', request_id: ID },
    });
  });

  it('reports a refused token: without its subject unless the token is verified, and under the id of the answer', async () => {
    const ask = (token: string) =>
      exchange(`${service.url}/me`, {
        headers: { [BEARER_HEADER]: `Bearer ${token}`, 'user-agent': FIREFOX },
      });
    const forged = await accessToken(service.idp, service.url, { exp: 1 });
    const answer = await ask(forged);
    expect(answer.status).toBe(401);
    const { request_id } = JSON.parse(answer.body) as { readonly request_id: string };
    const [refused] = await audit.next(1);
    expect(refused).toMatchObject({
      ...{ event: 'bearer_refused', issuer: service.idp.issuer, subject: null, session: null },
      ...{ ...HERE, reason: 'bearer_not_accepted', problem: 'exp' },
      ...{ door: 'me', request_id },
    });
    expect(refused).not.toHaveProperty('client');
    await ask(await accessToken(service.idp, service.url, { scope: 'none' }));
    expect(await audit.next(1)).toMatchObject([
      {
        ...{ event: 'bearer_refused', issuer: service.idp.issuer, subject: 'ada', session: null },
        ...{ reason: 'insufficient_scope', problem: 'scope', client: 'cli-client' },
      },
    ]);
  });

  it('has no line about what is no transition: uses, refused cookies, pages, probes, and a good token', async () => {
    const browser = await signedIn();
    for (let turn = 0; turn < 3; turn += 1) expect(await askMe(service, browser)).toBe(200);
    for (const where of ['/auth/account', '/auth/session', '/login?redirect_url=/x', '/healthz'])
      await visit(browser, where);
    await exchange(`${service.url}/me`);
    await exchange(`${service.url}/me`, { headers: { cookie: 'core_session=AAAAAAAA.x' } });
    const claims = { email: ADA['email'], email_verified: true };
    const token = await accessToken(service.idp, service.url, claims);
    const good = await exchange(`${service.url}/me`, {
      headers: { [BEARER_HEADER]: `Bearer ${token}` },
    });
    expect(good.status).toBe(200);
    // The next line is that of the sign-out, and no other stands before it.
    await visit(browser, '/logout', {});
    expect(await audit.next(1)).toMatchObject([{ event: 'session_ended' }]);
  });

  it('reports a flood of refused tokens as a number, and every transition beside it', async () => {
    const before = readAudit(path).length;
    const token = await accessToken(service.idp, service.url, { exp: 1 });
    const headers = { [BEARER_HEADER]: `Bearer ${token}` };
    const asked = 400;
    const flood = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await exchange(`${service.url}/me`, { headers });
    };
    await Promise.all(Array.from({ length: 8 }, () => flood(asked / 8)));
    const browser = await signIn(service, ADA, FIREFOX);
    const lines = () => readAudit(path).slice(before);
    const written = () => lines().filter(({ event }) => event === 'bearer_refused').length;
    const left = () =>
      lines()
        .filter((line) => line['suppressed_event'] === 'bearer_refused')
        .reduce((sum, line) => sum + Number(line['suppressed']), 0);
    await expect.poll(() => written() + left(), PATIENCE).toBe(asked);
    expect(left()).toBeGreaterThan(asked / 4);
    expect(lines()).toContainEqual(
      expect.objectContaining({ event: 'session_begun', session: idOf(browser) }),
    );
  });

  it('reports a changed secret by the setting that names its file, and a changed key ring', async () => {
    const before = readAudit(path).length;
    const news = (event: string) =>
      readAudit(path)
        .slice(before)
        .filter((line) => line['event'] === event);
    writeFileSync(join(service.state, 'oidc_client_secret'), 'canary-another-secret');
    const keyRing = join(service.state, 'key-ring.json');
    const ring = JSON.parse(readFileSync(keyRing, 'utf8')) as { readonly keys: readonly object[] };
    writeFileSync(keyRing, JSON.stringify({ ...ring, keys: [...ring.keys, ...NEW_KEY] }));
    await expect
      .poll(() => news('secret_loaded'), PATIENCE)
      .toMatchObject([
        {
          ...{ level: 'audit', ...NO_PERSON, ...NO_REQUEST, reason: 'file_changed' },
          key: 'auth.userAuth.openId.clientSecretFile',
        },
      ]);
    await expect
      .poll(async () => {
        await exchange(`${service.url}/me`, { headers: { cookie: 'core_session=AAAAAAAA.x' } });
        await visit(new Browser(), '/login');
        return news('key_ring_loaded');
      }, PATIENCE)
      .toMatchObject([{ ...NO_PERSON, ...NO_REQUEST, reason: 'file_changed' }]);
    expect(readFileSync(path, 'utf8')).not.toContain('canary');
  });

  it('reports a changed configuration by its keys and a refused one by its problem, and no value', async () => {
    const file = join(service.state, 'sallyport.yaml');
    const before = readAudit(path).length;
    const news = () =>
      readAudit(path)
        .slice(before)
        .filter(({ event }) => String(event).startsWith('configuration_'));
    const text = readFileSync(file, 'utf8');
    const byWhom = expect.stringMatching(/^(?:signal|file_changed)$/) as string;
    writeFileSync(file, `${text}rateLimit: { perMinute: 0 }\n`);
    process.kill(service.running.pid, 'SIGHUP');
    await expect.poll(() => news().length, PATIENCE).toBeGreaterThan(0);
    expect(news()[0]).toMatchObject({
      ...{ event: 'configuration_refused', ...NO_PERSON, ...NO_REQUEST, reason: byWhom, file },
      problem: expect.stringContaining('rateLimit.perMinute') as string,
    });
    writeFileSync(file, `${text}rateLimit: { perMinute: 501 }\n`);
    process.kill(service.running.pid, 'SIGHUP');
    const loaded = () => news().find(({ event }) => event === 'configuration_loaded');
    await expect.poll(loaded, PATIENCE).toMatchObject({
      ...{ ...NO_PERSON, ...NO_REQUEST, reason: byWhom, file, changed: ['rateLimit.perMinute'] },
    });
    expect(JSON.stringify(loaded())).not.toContain('501');
  });

  it('is nowhere else: the log has none of its lines', () => {
    expect(logOf(service.running).filter(({ level }) => level === 'audit')).toEqual([]);
  });

  it('loses nothing on a normal stop', async () => {
    const browser = await signIn(service, ADA, FIREFOX);
    const session = idOf(browser);
    await visit(browser, '/logout', {});
    await service.running.stop();
    expect(readAudit(path).at(-1)).toMatchObject({ reason: 'signed_out', session });
  });
});

describe('The file of the audit stream', () => {
  const folders: ReturnType<typeof temporaryFolder>[] = [];
  let service: Service | undefined;
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    for (const folder of folders.splice(0)) folder.remove();
  });

  function place(): string {
    const folder = temporaryFolder();
    folders.push(folder);
    return join(folder.path, 'audit.jsonl');
  }
  const sessionsIn = (path: string) =>
    readAudit(path)
      .filter(({ event }) => event === 'session_begun')
      .map((line) => line['session']);

  it('is opened anew on SIGHUP after it was moved, and no line is lost or written twice', async () => {
    const path = place();
    service = await startHostedService({ SALLYPORT_AUDIT_FILE: path });
    const before = await signIn(service, ADA, FIREFOX);
    await expect.poll(() => sessionsIn(path), PATIENCE).toEqual([idOf(before)]);
    renameSync(path, `${path}.1`);
    service.running.signal('SIGHUP');
    await expect
      .poll(() => statSync(path, { throwIfNoEntry: false }) === undefined, PATIENCE)
      .toBe(false);
    const after = await signIn(service, ADA, FIREFOX);
    await expect.poll(() => sessionsIn(path), PATIENCE).toEqual([idOf(after)]);
    expect(sessionsIn(`${path}.1`)).toEqual([idOf(before)]);
  });

  it('is followed when it was moved without a signal', async () => {
    const path = place();
    service = await startHostedService({ SALLYPORT_AUDIT_FILE: path });
    const ids = [idOf(await signIn(service, ADA, FIREFOX))];
    await expect.poll(() => sessionsIn(path), PATIENCE).toEqual(ids);
    renameSync(path, `${path}.1`);
    const isFollowed = () => statSync(path, { throwIfNoEntry: false }) !== undefined;
    const running = service;
    await expect
      .poll(async () => {
        ids.push(idOf(await signIn(running, ADA, FIREFOX)));
        return isFollowed();
      }, PATIENCE)
      .toBe(true);
    await running.running.stop();
    expect([...sessionsIn(`${path}.1`), ...sessionsIn(path)]).toEqual(ids);
  });

  it('on a disk that is full ends and blocks nothing: its lines go to the log, and the log says so', async () => {
    const path = place();
    symlinkSync('/dev/full', path);
    service = await startHostedService({ SALLYPORT_AUDIT_FILE: path });
    const browser = await signIn(service, ADA, FIREFOX);
    expect(await askMe(service, browser)).toBe(200);
    const { running } = service;
    await expect
      .poll(() => logOf(running).filter(({ event }) => event === 'audit_not_written'), PATIENCE)
      .toMatchObject([{ level: 'error', failure: expect.stringContaining('ENOSPC') }]);
    expect(await running.stop()).toBe(0);
    expect(logOf(running)).toContainEqual(
      expect.objectContaining({
        ...{ level: 'audit', event: 'session_begun', session: idOf(browser) },
        issuer: service.idp.issuer,
      }),
    );
  });

  it('goes on where there is room again, and says how much stands in the log instead', async () => {
    const path = place();
    symlinkSync('/dev/full', path);
    service = await startHostedService({ SALLYPORT_AUDIT_FILE: path });
    const browser = await signIn(service, ADA, FIREFOX);
    const { running } = service;
    await expect
      .poll(() => logOf(running).some(({ event }) => event === 'audit_not_written'), PATIENCE)
      .toBe(true);
    unlinkSync(path);
    writeFileSync(path, '');
    running.signal('SIGHUP');
    await expect
      .poll(() => readAudit(path).find(({ event }) => event === 'audit_resumed'), PATIENCE)
      .toMatchObject({ reason: 'write_failed', elsewhere: 0 });
    // What waited has not been lost.
    expect(sessionsIn(path)).toEqual([idOf(browser)]);
  });

  it('cut off in the middle of a line by the end of the space has that line whole further down', async () => {
    const path = place();
    const limitKiB = 512;
    writeFileSync(path, `${'x'.repeat(limitKiB * 1024 - 101)}\n`);
    service = await startService({ SALLYPORT_AUDIT_FILE: path }, [], { fileMaxKiB: limitKiB });
    const browser = await signIn(service, ADA, FIREFOX);
    const { running } = service;
    await expect
      .poll(() => logOf(running).some(({ event }) => event === 'audit_not_written'), PATIENCE)
      .toBe(true);
    const torn = readFileSync(path, 'utf8').split('\n').at(-1) ?? '';
    expect(torn).toHaveLength(100);
    renameSync(path, `${path}.1`);
    process.kill(running.pid, 'SIGHUP');
    await expect.poll(() => sessionsIn(path), PATIENCE).toEqual([idOf(browser)]);
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines.filter((line) => line.startsWith(torn))).toHaveLength(1);
  });

  it('has whole lines of all workers, and of the process that starts them', async () => {
    const path = place();
    service = await startService({ SALLYPORT_AUDIT_FILE: path, SALLYPORT_WORKERS: '2' });
    const { url } = service;
    const token = await accessToken(service.idp, url, { exp: 1 });
    const headers = { [BEARER_HEADER]: `Bearer ${token}`, 'user-agent': 'x'.repeat(150) };
    const asked = 240;
    const ask = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await exchange(`${url}/me`, { headers });
    };
    await Promise.all(Array.from({ length: 12 }, () => ask(asked / 12)));
    await service.running.stop();
    const lines = readAudit(path);
    const refused = lines.filter(({ event }) => event === 'bearer_refused');
    const left = lines
      .filter((line) => line['suppressed_event'] === 'bearer_refused')
      .reduce((sum, line) => sum + Number(line['suppressed']), 0);
    expect(refused.length + left).toBe(asked);
    expect(new Set(refused.map((line) => line['worker']))).toEqual(new Set([1, 2]));
    for (const line of lines)
      expect(Object.keys(line).slice(0, FIXED_FIELDS.length)).toEqual(FIXED_FIELDS);
    expect(lines.filter(({ event }) => event === 'configuration_loaded')).toMatchObject([
      { reason: 'started' },
    ]);
  });

  it('that cannot be opened keeps the service from starting, and is reported with its path and the reason', async () => {
    const idle = await startHostedService();
    service = idle;
    const path = join(idle.state, 'no-such-folder', 'audit.jsonl');
    const { code, stderr } = await run(['serve', '--port', '0'], {
      ...variables(idle),
      OIDC_CLIENT_SECRET_FILE: join(idle.state, 'oidc_client_secret'),
      SALLYPORT_AUDIT_FILE: path,
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain(
      `SP_AUDIT_UNUSABLE (${path}): observe.audit.file cannot be opened for appending: no such folder`,
    );
  });

  it('may be standard output', async () => {
    service = await startService({ SALLYPORT_AUDIT_FILE: '/dev/stdout' });
    const browser = await signIn(service, ADA, FIREFOX);
    await expect
      .poll(() => service?.running.stdout(), PATIENCE)
      .toContain(`"session":"${idOf(browser)}"`);
  });
});
