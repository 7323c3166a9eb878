import { describe, expect, it } from 'vitest';
import { CounterFamily, HistogramFamily, type Metric, readGauge } from './metrics-family.ts';
import {
  formatMetrics,
  mergeMetrics,
  PROMETHEUS_CONTENT_TYPE,
  watchRuntime,
} from './prometheus.ts';

function processOf(count: number, age: number): readonly Metric[] {
  const counter = new CounterFamily({
    name: 'sallyport_tests_total',
    help: 'Tests.',
    labels: ['result'],
    series: [['good'], ['bad']],
  });
  const histogram = new HistogramFamily({
    name: 'sallyport_test_duration_seconds',
    help: 'Time.',
    labels: ['kind'],
    series: [['unit']],
    upperBounds: [1],
  });
  for (let times = 0; times < count; times += 1) {
    counter.add(counter.slot('good'));
    histogram.observe(histogram.slot('unit'), 0.5);
  }
  const gauge = (aggregator: 'max' | 'min' | 'sum') =>
    readGauge({ name: `sallyport_${aggregator}`, help: 'A gauge.', aggregator }, [{ value: age }]);
  return [counter.read(), histogram.read(), gauge('max'), gauge('min'), gauge('sum')];
}

const MERGED = `# HELP sallyport_tests_total Tests.
# TYPE sallyport_tests_total counter
sallyport_tests_total{result="good"} 5
sallyport_tests_total{result="bad"} 0

# HELP sallyport_test_duration_seconds Time.
# TYPE sallyport_test_duration_seconds histogram
sallyport_test_duration_seconds_bucket{kind="unit",le="1"} 5
sallyport_test_duration_seconds_bucket{kind="unit",le="+Inf"} 5
sallyport_test_duration_seconds_sum{kind="unit"} 2.5
sallyport_test_duration_seconds_count{kind="unit"} 5

# HELP sallyport_max A gauge.
# TYPE sallyport_max gauge
sallyport_max 7

# HELP sallyport_min A gauge.
# TYPE sallyport_min gauge
sallyport_min 3

# HELP sallyport_sum A gauge.
# TYPE sallyport_sum gauge
sallyport_sum 10
`;

describe('The metrics of several processes', () => {
  it('are one: counters and histograms added up, gauges as each of them says', async () => {
    expect(await formatMetrics([processOf(2, 7), processOf(3, 3)])).toBe(MERGED);
  });

  it('are the same when some were put together before', async () => {
    const before = await mergeMetrics([processOf(2, 7)]);
    expect(await formatMetrics([before, processOf(3, 3)])).toBe(MERGED);
  });

  it('keep what only one of them has, and nothing of none', async () => {
    expect(await formatMetrics([[], processOf(5, 1).slice(0, 1)])).toContain('{result="good"} 5\n');
    expect(await formatMetrics([])).toBe('\n');
  });

  it('have label values escaped as the format wants it', async () => {
    const metric = readGauge({ name: 'sallyport_x', help: 'X.', aggregator: 'max' }, [
      { labels: { issuer: 'a"b\\c\nd' }, value: 1 },
    ]);
    expect(await formatMetrics([[metric]])).toContain('sallyport_x{issuer="a\\"b\\\\c\\nd"} 1\n');
  });

  it('are text of version 0.0.4', () => {
    expect(PROMETHEUS_CONTENT_TYPE).toBe('text/plain; version=0.0.4; charset=utf-8');
  });
});

describe('The runtime', () => {
  it('reports memory, processor, event loop and garbage collection, each of one process', async () => {
    const metrics = await watchRuntime('3').read();
    const names = metrics.map(({ name }) => name);
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'process_start_time_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_gc_duration_seconds',
    ])
      expect(names).toContain(name);
    for (const { labels } of metrics.flatMap(({ values }) => values))
      expect(labels['worker']).toBe('3');
  });

  it('exports no series that grow with the requests, and no value without a sample', async () => {
    const runtime = watchRuntime('1');
    await runtime.read();
    const metrics = await runtime.read();
    expect(metrics.filter(({ name }) => /active|heap_space/.test(name))).toEqual([]);
    for (const { name, value } of metrics.flatMap(({ name: family, values }) =>
      values.map((sample) => ({ name: family, value: sample.value })),
    )) {
      expect(Number.isFinite(value), name).toBe(true);
      if (name.startsWith('nodejs_eventloop_lag')) expect(value, name).toBeLessThan(3_600);
    }
  });
});
