import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startService } from '../wire/platform.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import { PATIENCE } from '../wire/workers.ts';
import { type Scrape, scrape } from './scrape.ts';

const VERDICTS = 'sallyport_verdicts_total';
const SIGN_INS = 'sallyport_sign_ins_total';
const IDP_REQUESTS = 'sallyport_idp_requests_total';

const DOCUMENT = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
const DASHBOARD = readFileSync(
  new URL('../../deploy/monitoring/dashboard.json', import.meta.url),
  'utf8',
);
/** Labels whose values come from the configuration or the release. */
const OPEN_LABELS = ['issuer', 'version', 'node'];

const cookieOf = (browser: Browser) =>
  `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;

/** How much a metric grows while something is done. */
async function growth(
  port: number,
  work: () => Promise<unknown>,
): Promise<(name: string, labels?: Readonly<Record<string, string>>) => number> {
  const before = await scrape(port);
  await work();
  const after = await scrape(port);
  return (name, labels = {}) => after.sum(name, labels) - before.sum(name, labels);
}

/** Rows of the table in docs/monitoring.md: name, type, labels, meaning. */
function documented(): ReadonlyMap<string, readonly [type: string, labels: string, help: string]> {
  const rows = DOCUMENT.matchAll(
    /^\| `((?:sallyport|process|nodejs)_\w+)` \| (\w+) \|([^|]*)\|([^|]*)\|$/gm,
  );
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '', help = '']) => [
      name,
      [type, labels.replaceAll('`', '').trim(), help.trim()],
    ]),
  );
}

/** The same of a scrape; `le` is a histogram's own. */
function scraped({ typeByName, helpByName, labelsOf }: Scrape): ReturnType<typeof documented> {
  return new Map(
    [...typeByName].map(([name, type]) => {
      const series = type === 'histogram' ? `${name}_count` : name;
      return [name, [type, labelsOf(series).join(', '), helpByName.get(name) ?? '']];
    }),
  );
}

/** The table of label values in docs/monitoring.md: by metric and label. */
function documentedValues(): ReadonlyMap<string, string> {
  const rows = DOCUMENT.matchAll(/^\| `(sallyport_\w+)` \| `(\w+)` \|([^|]*)\|$/gm);
  return new Map(
    [...rows].map(([, name, label, values = '']) => [
      `${name} ${label}`,
      values.replaceAll('`', '').trim(),
    ]),
  );
}

describe('Metrics of serve', () => {
  let service: Service;
  let port: number;
  let clock: MovedClock;
  let browser: Browser;
  beforeAll(async () => {
    port = await freePort();
    clock = await startMovedClock();
    service = await startService(
      { SALLYPORT_METRICS_PORT: String(port) },
      [],
      { clock },
      undefined,
      ['trustedProxies: [127.0.0.1]', 'rateLimit: { perMinute: 200 }'],
    );
    service.idp.now = clock.now;
    browser = new Browser();
    await service.signIn(browser);
  });
  afterAll(async () => {
    await service.stop();
    await clock.close();
  });
  const me = (headers: Readonly<Record<string, string>> = {}) =>
    exchange(`${service.url}/me`, { headers });

  it('are text of the format 0.0.4, each family with type and help, each series once', async () => {
    const answer = await exchange(`http://127.0.0.1:${port}/metrics`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
    const { typeByName, helpByName, valueBySeries } = await scrape(port);
    expect([...helpByName.keys()]).toEqual([...typeByName.keys()]);
    for (const series of valueBySeries.keys()) {
      const name = series.replace(/\{.*/s, '');
      const family = name.replace(/_(?:bucket|sum|count)$/, '');
      expect(typeByName.has(name) || typeByName.get(family) === 'histogram', series).toBe(true);
    }
  });

  it('are those of docs/monitoring.md, with types, labels and meaning, and no others', async () => {
    const real = scraped(await scrape(port));
    const table = documented();
    expect(table.size).toBeGreaterThan(30);
    expect([...table.keys()].toSorted()).toEqual([...real.keys()].toSorted());
    for (const [name, [type, labels, help]] of real) {
      expect([name, table.get(name)?.[0], table.get(name)?.[2]]).toEqual([name, type, help]);
      // The runtime shows a series of garbage collection once there was one.
      if (labels !== '' || name.startsWith('sallyport_'))
        expect([name, table.get(name)?.[1]]).toEqual([name, labels]);
    }
  });

  it('have the label values of docs/monitoring.md, and no others', async () => {
    const { typeByName, labelsOf, valuesOf } = await scrape(port);
    const real = [...typeByName]
      .filter(([name]) => name.startsWith('sallyport_'))
      .flatMap(([name, type]) => {
        const series = type === 'histogram' ? `${name}_count` : name;
        return labelsOf(series)
          .filter((label) => !OPEN_LABELS.includes(label))
          .map((label) => [`${name} ${label}`, valuesOf(series, label).join(', ')] as const);
      });
    expect(real.length).toBeGreaterThan(10);
    expect(documentedValues()).toEqual(new Map(real));
  });

  it('count a sign-in, its session, and what it asks of the IdP', async () => {
    const grown = await growth(port, () => service.signIn(new Browser()));
    expect(grown('sallyport_sign_ins_started_total')).toBe(1);
    expect(grown(SIGN_INS, { result: 'succeeded' })).toBe(1);
    expect(grown(SIGN_INS)).toBe(1);
    expect(grown('sallyport_sessions_begun_total')).toBe(1);
    expect(grown(IDP_REQUESTS, { operation: 'token', outcome: 'ok' })).toBe(1);
    expect(grown(IDP_REQUESTS, { operation: 'userinfo', outcome: 'ok' })).toBe(1);
    expect(grown('sallyport_idp_request_duration_seconds_count', { operation: 'token' })).toBe(1);
    expect(grown('sallyport_store_operation_duration_seconds_count', { operation: 'create' })).toBe(
      1,
    );
    expect(grown('sallyport_audit_lines_total')).toBeGreaterThanOrEqual(2);
  });

  it('count a sign-in that fails, by why, and no session', async () => {
    const grown = await growth(port, () =>
      service.signIn(new Browser(), '/', {
        answer: () => ({ status: 400, body: '{"error":"invalid_grant"}' }),
      }),
    );
    expect(grown(SIGN_INS, { result: 'failed', reason: 'idp_refused' })).toBe(1);
    expect(grown(SIGN_INS)).toBe(1);
    expect(grown('sallyport_sessions_begun_total')).toBe(0);
    expect(grown(IDP_REQUESTS, { operation: 'token', outcome: 'refused' })).toBe(1);
  });

  it('count verdicts by door, outcome and reason: cookie, bearer, refusals', async () => {
    const bearer = `Bearer ${await accessToken(service.idp, service.url)}`;
    const grown = await growth(port, async () => {
      for (let times = 0; times < 3; times += 1) await me({ cookie: cookieOf(browser) });
      for (let times = 0; times < 2; times += 1) await me({ [BEARER_HEADER]: bearer });
      await me();
      await me({ [BEARER_HEADER]: 'Bearer bad' });
      await exchange(`${service.url}/auth/session`, { headers: { cookie: cookieOf(browser) } });
    });
    expect(grown(VERDICTS, { door: 'me', outcome: 'admitted', reason: 'session_cookie' })).toBe(3);
    expect(grown(VERDICTS, { door: 'me', outcome: 'admitted', reason: 'bearer' })).toBe(2);
    expect(grown(VERDICTS, { door: 'me', outcome: 'refused', reason: 'no_credential' })).toBe(1);
    expect(grown(VERDICTS, { door: 'me', reason: 'bearer_not_accepted' })).toBe(1);
    expect(grown(VERDICTS, { door: 'status', outcome: 'admitted' })).toBe(1);
    expect(grown(VERDICTS)).toBe(8);
    expect(grown('sallyport_bearer_refusals_total', { problem: 'opaque' })).toBe(1);
    expect(grown('sallyport_bearer_refusals_total')).toBe(1);
  });

  it('count a sign-out, and the session it ended', async () => {
    const leaving = new Browser();
    await service.signIn(leaving);
    const grown = await growth(port, () =>
      leaving.step(`${service.url}/logout`, {
        form: {},
        headers: { origin: service.url, 'sec-fetch-site': 'same-origin' },
      }),
    );
    expect(grown('sallyport_sessions_ended_total', { reason: 'signed_out' })).toBe(1);
    expect(grown('sallyport_sessions_ended_total')).toBe(1);
    expect(grown(IDP_REQUESTS, { operation: 'revocation', outcome: 'ok' })).toBe(1);
  });

  it('count a renewal: sent, and what came of it', async () => {
    const renewing = new Browser();
    await service.signIn(renewing, '/', { rotation: { accessTokenSeconds: 600 } });
    const cookie = cookieOf(renewing);
    const grown = await growth(port, async () => {
      await clock.advance(590_000);
      expect((await me({ cookie })).status).toBe(200);
      const renewed = async () =>
        (await scrape(port)).sum('sallyport_renewals_total', { result: 'renewed' });
      const before = await renewed();
      await expect.poll(renewed, PATIENCE).toBeGreaterThanOrEqual(Math.max(1, before));
    });
    expect(grown('sallyport_renewals_sent_total')).toBe(1);
    expect(grown('sallyport_renewals_total', { result: 'renewed' })).toBe(1);
    expect(grown(IDP_REQUESTS, { operation: 'refresh', outcome: 'ok' })).toBe(1);
  });

  it('count logout tokens of the IdP that are refused', async () => {
    const grown = await growth(port, () =>
      exchange(`${service.url}/auth/backchannel-logout`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'logout_token=forged',
      }),
    );
    expect(grown('sallyport_backchannel_logouts_total', { result: 'refused' })).toBe(1);
  });

  it('count requests that are held back, and each of them', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    let held = 0;
    const grown = await growth(port, async () => {
      for (let sent = 0; held < 3 && sent < 5_000; sent += 1)
        if ((await exchange(`${service.url}/logout`, { headers })).status === 429) held += 1;
    });
    expect(held).toBe(3);
    expect(grown('sallyport_rate_limited_requests_total')).toBe(3);
  });

  it('count reloads, applied and refused, and say whether the last one succeeded', async () => {
    const file = join(service.state, 'sallyport.yaml');
    const good = readFileSync(file, 'utf8');
    const RELOADS = 'sallyport_configuration_reloads_total';
    const reload = async (text: string, result: string) => {
      const before = (await scrape(port)).sum(RELOADS, { result });
      writeFileSync(file, text);
      process.kill(service.running.pid, 'SIGHUP');
      await expect
        .poll(async () => (await scrape(port)).sum(RELOADS, { result }), PATIENCE)
        .toBeGreaterThan(before);
      return scrape(port);
    };
    const refused = await reload(`${good}no: such key\n`, 'refused');
    expect(refused.sum('sallyport_configuration_reload_successful')).toBe(0);
    expect((await me({ cookie: cookieOf(browser) })).status).not.toBe(503);
    const applied = await reload(`${good}stripHeaders: [X-Removed]\n`, 'applied');
    expect(applied.sum('sallyport_configuration_reload_successful')).toBe(1);
    const APPLIED_AT = 'sallyport_configuration_applied_timestamp_seconds';
    expect(applied.sum(APPLIED_AT)).toBeGreaterThan(refused.sum(APPLIED_AT));
    expect(applied.sum('sallyport_ready')).toBe(1);
    // Everything goes on counting where it was.
    expect(applied.sum(VERDICTS)).toBeGreaterThan(0);
    const grown = await growth(port, () => me());
    expect(grown(VERDICTS, { door: 'me' })).toBe(1);
  });

  it('have an idle process at 0.02 s between two looks at its event loop, as docs and dashboard say', async () => {
    const IDLE = '0.02 is an idle process';
    for (const text of [DOCUMENT, DASHBOARD]) expect(text).toContain(IDLE);
    // It is watched from the first scrape on, and a look takes 20 ms.
    await expect
      .poll(async () => (await scrape(port)).sum('nodejs_eventloop_lag_p50_seconds'), PATIENCE)
      .toBeGreaterThan(0.015);
  });

  it('show the present state: keys, memory, runtime, one process', async () => {
    const now = await scrape(port);
    expect(now.sum('sallyport_ready')).toBe(1);
    expect(now.sum('sallyport_workers', { state: 'answering' })).toBe(1);
    expect(now.sum('sallyport_worker_ends_total')).toBe(0);
    expect(now.sum('sallyport_sealing_key_age_seconds')).toBeGreaterThan(0);
    expect(
      now.valueBySeries.has(`sallyport_issuer_keys_age_seconds{issuer="${service.idp.issuer}"}`),
    ).toBe(true);
    expect(now.sum('sallyport_remembered_sessions_limit')).toBeGreaterThan(0);
    expect(now.sum('process_resident_memory_bytes', { worker: '1' })).toBeGreaterThan(10_000_000);
  });
});
