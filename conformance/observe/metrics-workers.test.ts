import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Service, startService } from '../wire/platform.ts';
import { configure, fromNow } from '../wire/reloads.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import { alone, PATIENCE, workersOf } from '../wire/workers.ts';
import { type Scrape, scrape } from './scrape.ts';

const WORKERS = 2;
const FILE = 'stripHeaders: [X-Removed]';
const VERDICTS = 'sallyport_verdicts_total';
const ENDS = 'sallyport_worker_ends_total';
const RELOADS = 'sallyport_configuration_reloads_total';

const pidsOf = (service: Service) => [...workersOf(service.running).values()];
const workersIn = (shown: Scrape, state: string) => shown.sum('sallyport_workers', { state });

/** Series of counters and histograms that are smaller than they were. */
function shrunk(before: Scrape, after: Scrape): readonly string[] {
  const typeOf = (series: string) => {
    const name = series.replace(/\{.*/s, '');
    return after.typeByName.get(name) ?? after.typeByName.get(name.replace(/_[a-z]+$/, ''));
  };
  return [...before.valueBySeries]
    .filter(([series]) => typeOf(series) !== 'gauge')
    .filter(([series, value]) => (after.valueBySeries.get(series) ?? 0) < value)
    .map(([series]) => series);
}

describe('Metrics of serve with workers', () => {
  let service: Service;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    service = await startService(
      { SALLYPORT_METRICS_PORT: String(port), SALLYPORT_WORKERS: String(WORKERS) },
      [],
      {},
      undefined,
      [FILE],
    );
  });
  afterAll(() => service.stop());
  const me = (cookie = '') => exchange(`${service.url}/me`, { headers: { cookie } });
  /** Asks every worker for itself. */
  const askEach = async (cookie?: string) => {
    const pids = pidsOf(service);
    for (const pid of pids) await alone(pids, pid, () => me(cookie));
  };

  it('are those of all workers together, and the facts of each process beside each other', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const before = await scrape(port);
    await askEach(`${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`);
    const after = await scrape(port);
    const labels = { door: 'me', outcome: 'admitted', reason: 'session_cookie' };
    expect(after.sum(VERDICTS, labels) - before.sum(VERDICTS, labels)).toBe(WORKERS);
    expect(after.sum('sallyport_sign_ins_total', { result: 'succeeded' })).toBe(1);
    expect(after.sum('sallyport_remembered_sessions')).toBe(WORKERS);
    // Of several processes neither added up nor shown twice.
    expect(after.sum('sallyport_ready')).toBe(1);
    expect(after.sum('sallyport_build_info')).toBe(1);
    expect(after.sum('sallyport_configuration_reload_successful')).toBe(1);
    for (const worker of ['primary', '1', '2'])
      expect(after.sum('process_resident_memory_bytes', { worker })).toBeGreaterThan(10_000_000);
    for (const state of ['configured', 'running', 'answering'])
      expect([state, workersIn(after, state)]).toEqual([state, WORKERS]);
  });

  it('never go backwards when a worker is killed and replaced; its end is counted', async () => {
    await askEach();
    const before = await scrape(port);
    const victim = workersOf(service.running).get(1) ?? 0;
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => workersOf(service.running).get(1) ?? victim, PATIENCE).not.toBe(victim);
    await expect
      .poll(async () => workersIn(await scrape(port), 'answering'), PATIENCE)
      .toBe(WORKERS);
    const after = await scrape(port);
    expect(shrunk(before, after)).toEqual([]);
    expect(after.sum(ENDS) - before.sum(ENDS)).toBe(1);
    // A worker that starts is no change of the configuration.
    const APPLIED_AT = 'sallyport_configuration_applied_timestamp_seconds';
    expect([before.sum(APPLIED_AT) > 0, after.sum(APPLIED_AT)]).toEqual([
      true,
      before.sum(APPLIED_AT),
    ]);
    await askEach();
    const later = await scrape(port);
    expect(later.sum(VERDICTS) - after.sum(VERDICTS)).toBe(WORKERS);
  });

  it('lose nothing in a rolling restart, not even what was not scraped before', async () => {
    const before = await scrape(port);
    for (let times = 0; times < 5; times += 1) await askEach();
    const old = pidsOf(service);
    process.kill(service.running.pid, 'SIGUSR2');
    await expect
      .poll(() => pidsOf(service).filter((pid) => !old.includes(pid)).length, PATIENCE)
      .toBe(WORKERS);
    await expect.poll(async () => workersIn(await scrape(port), 'running'), PATIENCE).toBe(WORKERS);
    const after = await scrape(port);
    expect(shrunk(before, after)).toEqual([]);
    expect(after.sum(VERDICTS) - before.sum(VERDICTS)).toBe(5 * WORKERS);
    // Asked to end, all of them.
    expect(after.sum(ENDS)).toBe(before.sum(ENDS));
  });

  it('are shown without a worker that does not answer, and say that one is missing', async () => {
    await askEach();
    const before = await scrape(port);
    const stuck = workersOf(service.running).get(2) ?? 0;
    process.kill(stuck, 'SIGSTOP');
    try {
      const after = await scrape(port);
      expect([workersIn(after, 'running'), workersIn(after, 'answering')]).toEqual([2, 1]);
      expect(shrunk(before, after)).toEqual([]);
      expect(after.sum('process_resident_memory_bytes', { worker: '2' })).toBe(0);
      expect(after.sum('process_resident_memory_bytes', { worker: '1' })).toBeGreaterThan(0);
    } finally {
      process.kill(stuck, 'SIGCONT');
    }
    expect(workersIn(await scrape(port), 'answering')).toBe(WORKERS);
  });

  it('say that the configuration is good again when a refused file is put back as it was', async () => {
    const before = await scrape(port);
    const log = fromNow(service);
    const isGood = async () =>
      (await scrape(port)).sum('sallyport_configuration_reload_successful');
    configure(service, [FILE, 'no: such key']);
    await expect.poll(isGood, PATIENCE).toBe(0);
    configure(service, [FILE]);
    await expect.poll(isGood, PATIENCE).toBe(1);
    expect(log.linesOf('configuration_good_again')).toMatchObject([
      { level: 'info', reason: 'file_changed' },
    ]);
    const applied = { result: 'applied' };
    expect((await scrape(port)).sum(RELOADS, applied)).toBe(before.sum(RELOADS, applied));
  });

  it('count a reload once', async () => {
    const before = await scrape(port);
    const log = fromNow(service);
    process.kill(service.running.pid, 'SIGHUP');
    await log.waitForLines('configuration_loaded', 1);
    const grown = async (result: string) =>
      (await scrape(port)).sum(RELOADS, { result }) - before.sum(RELOADS, { result });
    await expect.poll(() => grown('applied'), PATIENCE).toBe(1);
    expect(await grown('refused')).toBe(0);
  });
});
