import { describe, expect, it } from 'vitest';
import { createMetrics, type Metrics, type ServerReadings } from './metrics.ts';

const START = 1_700_000_000_000;

function setup() {
  const clock = { now: START };
  const options = {
    version: '1.2.3',
    nodeVersion: '26.0.0',
    now: () => clock.now,
    monotonicMs: () => 0,
  };
  return { clock, options, metrics: createMetrics(options) };
}

function valuesOf(metrics: Metrics, name: string) {
  const metric = metrics.read().find((each) => each.name === name);
  return metric?.values.map(({ labels, value }) => [...Object.values(labels), value]);
}

const READINGS: ServerReadings = {
  isReady: true,
  sealsSince: START - 90_000,
  issuerKeys: [
    { issuer: 'https://idp.example.com', fetchedAt: START - 5_000 },
    { issuer: 'https://other.example.com', fetchedAt: undefined },
  ],
  remembered: { sessions: { size: 3, limit: 10 }, tokens: { size: 4, limit: 20 } },
};

describe('The metrics of a process', () => {
  it('follow Prometheus: prefix, base units, counters in _total, help, each name once', () => {
    const { metrics } = setup();
    metrics.follow(() => READINGS);
    metrics.addDoors(['me']);
    const all = metrics.read();
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { name, help, type, values } of all) {
      expect(name).toMatch(/^sallyport_[a-z]+(?:_[a-z]+)*$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name, name).not.toMatch(/_(?:ms|milliseconds|minutes|kilobytes|percent)/);
      expect(help, name).toMatch(/^[A-Z].*\.$/);
      expect(values.length, name).toBeGreaterThan(0);
    }
  });

  it('say which version runs', () => {
    expect(valuesOf(setup().metrics, 'sallyport_build_info')).toEqual([['1.2.3', '26.0.0', 1]]);
  });

  it('show the present state, ages in seconds; what is not known is left out', () => {
    const { metrics, clock } = setup();
    metrics.follow(() => READINGS);
    clock.now += 1_500;
    expect(valuesOf(metrics, 'sallyport_ready')).toEqual([[1]]);
    expect(valuesOf(metrics, 'sallyport_sealing_key_age_seconds')).toEqual([[91.5]]);
    expect(valuesOf(metrics, 'sallyport_issuer_keys_age_seconds')).toEqual([
      ['https://idp.example.com', 6.5],
    ]);
    expect(valuesOf(metrics, 'sallyport_remembered_sessions')).toEqual([[3]]);
    expect(valuesOf(metrics, 'sallyport_remembered_sessions_limit')).toEqual([[10]]);
    expect(valuesOf(metrics, 'sallyport_remembered_tokens')).toEqual([[4]]);
    expect(valuesOf(metrics, 'sallyport_remembered_tokens_limit')).toEqual([[20]]);
  });

  it('show the server that is followed last, and none when there is none', () => {
    const { metrics } = setup();
    expect(valuesOf(metrics, 'sallyport_ready')).toEqual([]);
    metrics.follow(() => READINGS);
    metrics.follow(() => ({ ...READINGS, isReady: false, sealsSince: undefined }));
    expect(valuesOf(metrics, 'sallyport_ready')).toEqual([[0]]);
    expect(valuesOf(metrics, 'sallyport_sealing_key_age_seconds')).toEqual([]);
    metrics.follow(undefined);
    expect(valuesOf(metrics, 'sallyport_ready')).toEqual([]);
  });

  it('never show an age below 0, also when the clock was set back', () => {
    const { metrics, clock } = setup();
    metrics.follow(() => READINGS);
    clock.now -= 3_600_000;
    expect(valuesOf(metrics, 'sallyport_sealing_key_age_seconds')).toEqual([[0]]);
  });
});

describe('A counted log', () => {
  it('writes every line as it is', () => {
    const { metrics } = setup();
    const lines: unknown[] = [];
    const write = (...line: readonly unknown[]) => lines.push(line);
    const log = metrics.countEvents(
      metrics.countAuditLines(metrics.countDivertedAuditLines(write)),
    );
    log('audit', 'session_begun', { reason: 'signed_in' });
    log('info', 'idp_metadata_read');
    expect(lines).toEqual([
      ['audit', 'session_begun', { reason: 'signed_in' }],
      ['info', 'idp_metadata_read', undefined],
    ]);
  });

  it('counts events, whether or not the log under it writes them', () => {
    const { metrics } = setup();
    const log = metrics.countEvents(() => {});
    log('audit', 'session_begun', { reason: 'signed_in' });
    expect(valuesOf(metrics, 'sallyport_sessions_begun_total')).toEqual([[1]]);
    expect(valuesOf(metrics, 'sallyport_audit_lines_total')).toEqual([[0]]);
  });

  it('counts lines of the audit stream and no others, each kind by itself', () => {
    const { metrics } = setup();
    const write = () => {};
    const log = metrics.countAuditLines(write);
    log('audit', 'session_begun');
    log('debug', 'rate_limited');
    log('error', 'scrape_failed');
    log('audit', 'session_ended');
    metrics.countDivertedAuditLines(write)('audit', 'session_begun');
    metrics.countDivertedAuditLines(write)('error', 'audit_not_written');
    expect(valuesOf(metrics, 'sallyport_audit_lines_total')).toEqual([[2]]);
    expect(valuesOf(metrics, 'sallyport_audit_lines_diverted_total')).toEqual([[1]]);
  });
});

describe('The file of the audit stream', () => {
  const WAITING = 'sallyport_audit_lines_waiting';

  it('is asked at each scrape how many lines wait; without one none do', () => {
    const { metrics } = setup();
    expect(valuesOf(metrics, WAITING)).toEqual([[0]]);
    const stream = { waiting: 3 };
    metrics.followAuditFile(stream);
    expect(valuesOf(metrics, WAITING)).toEqual([[3]]);
    stream.waiting = 0;
    expect(valuesOf(metrics, WAITING)).toEqual([[0]]);
  });

  it('of several processes: what waits in each is added up', () => {
    const { metrics } = setup();
    expect(metrics.read().find(({ name }) => name === WAITING)).toMatchObject({
      type: 'gauge',
      aggregator: 'sum',
    });
  });
});

describe('Reloads of the configuration', () => {
  const RELOADS = 'sallyport_configuration_reloads_total';
  const SUCCESSFUL = 'sallyport_configuration_reload_successful';
  const APPLIED = 'sallyport_configuration_applied_timestamp_seconds';

  it('are none when a process starts, which has a configuration', () => {
    const { metrics, clock } = setup();
    clock.now += 500;
    metrics.countEvents(() => {})('audit', 'configuration_loaded', { reason: 'started' });
    expect(valuesOf(metrics, RELOADS)).toEqual([
      ['applied', 0],
      ['refused', 0],
    ]);
    expect(valuesOf(metrics, SUCCESSFUL)).toEqual([[1]]);
    expect(valuesOf(metrics, APPLIED)).toEqual([[(START + 500) / 1_000]]);
  });

  it('are none when the file holds the configuration in effect again, which is no failure any more', () => {
    const { metrics, clock } = setup();
    const log = metrics.countEvents(() => {});
    log('audit', 'configuration_refused', { reason: 'file_changed' });
    expect(valuesOf(metrics, SUCCESSFUL)).toEqual([[0]]);
    clock.now += 1_000;
    log('info', 'configuration_good_again', { reason: 'file_changed' });
    expect(valuesOf(metrics, SUCCESSFUL)).toEqual([[1]]);
    expect(valuesOf(metrics, APPLIED)).toEqual([[START / 1_000]]);
    expect(valuesOf(metrics, RELOADS)).toEqual([
      ['applied', 0],
      ['refused', 1],
    ]);
  });

  it('are reported by the process that starts the workers, and by no worker', () => {
    const { options } = setup();
    const names = [false, true].map((isWorker) =>
      createMetrics({ ...options, isWorker })
        .read()
        .map(({ name }) => name),
    );
    const [alone = [], worker = []] = names;
    expect(alone.filter((name) => !worker.includes(name))).toEqual([RELOADS, SUCCESSFUL, APPLIED]);
  });

  it('that are refused keep the time of the one before, until one is applied', () => {
    const { metrics, clock } = setup();
    const log = metrics.countEvents(() => {});
    clock.now += 1_000;
    log('audit', 'configuration_refused', { reason: 'signal' });
    expect(valuesOf(metrics, SUCCESSFUL)).toEqual([[0]]);
    expect(valuesOf(metrics, APPLIED)).toEqual([[START / 1_000]]);
    log('audit', 'configuration_loaded', { reason: 'file_changed' });
    expect(valuesOf(metrics, SUCCESSFUL)).toEqual([[1]]);
    expect(valuesOf(metrics, APPLIED)).toEqual([[(START + 1_000) / 1_000]]);
    expect(valuesOf(metrics, RELOADS)).toEqual([
      ['applied', 1],
      ['refused', 1],
    ]);
  });
});
