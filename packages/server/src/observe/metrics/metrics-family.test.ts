import { describe, expect, it } from 'vitest';
import { CounterFamily, HistogramFamily, readGauge } from './metrics-family.ts';

describe('A family of counters', () => {
  const create = () =>
    new CounterFamily({
      name: 'sallyport_tests_total',
      help: 'Tests.',
      labels: ['kind', 'result'],
      series: [
        ['unit', 'good'],
        ['unit', 'bad'],
      ],
    });

  it('shows every series from the start, with 0', () => {
    expect(create().read()).toEqual({
      name: 'sallyport_tests_total',
      help: 'Tests.',
      type: 'counter',
      aggregator: 'sum',
      values: [
        { labels: { kind: 'unit', result: 'good' }, value: 0 },
        { labels: { kind: 'unit', result: 'bad' }, value: 0 },
      ],
    });
  });

  it('counts one series and no other', () => {
    const family = create();
    const slot = family.slot('unit', 'bad');
    for (let times = 0; times < 3; times += 1) family.add(slot);
    expect(family.read().values.map(({ value }) => value)).toEqual([0, 3]);
  });

  it('has no series beside its own, whatever is asked for', () => {
    const family = create();
    for (const [kind, result] of [
      ['unit', 'other'],
      ['good', 'unit'],
      ['unit\ngood', ''],
      ['', ''],
    ] as const)
      expect(() => family.slot(kind, result)).toThrow(TypeError);
    for (const slot of [2, -1, 0.5, Number.NaN]) family.add(slot);
    expect(family.read().values.map(({ value }) => value)).toEqual([0, 0]);
  });
});

describe('A family of histograms', () => {
  const create = () =>
    new HistogramFamily({
      name: 'sallyport_test_duration_seconds',
      help: 'Time.',
      labels: ['kind'],
      series: [['unit'], ['wire']],
      upperBounds: [0.1, 1],
    });
  const valuesOf = (family: ReturnType<typeof create>, kind: string) =>
    family
      .read()
      .values.filter(({ labels }) => labels['kind'] === kind)
      .map(({ metricName, labels, value }) => [
        metricName?.replace('sallyport_test_duration_seconds', ''),
        labels['le'],
        value,
      ]);

  it('has cumulative buckets, the last of them for everything, a sum and a count', () => {
    const family = create();
    const slot = family.slot('unit');
    for (const seconds of [0.05, 0.1, 0.100_1, 1, 7]) family.observe(slot, seconds);
    expect(valuesOf(family, 'unit')).toEqual([
      ['_bucket', '0.1', 2],
      ['_bucket', '1', 4],
      ['_bucket', '+Inf', 5],
      ['_sum', undefined, 0.05 + 0.1 + 0.100_1 + 1 + 7],
      ['_count', undefined, 5],
    ]);
    expect(valuesOf(family, 'wire').map(([, , value]) => value)).toEqual([0, 0, 0, 0, 0]);
  });

  it('counts a time below 0 as 0, so that a sum never shrinks', () => {
    const family = create();
    family.observe(family.slot('wire'), -5);
    expect(valuesOf(family, 'wire').map(([, , value]) => value)).toEqual([1, 1, 1, 0, 1]);
  });
});

describe('A gauge', () => {
  it('leaves out a value that is not known, and keeps 0', () => {
    const naming = { name: 'sallyport_tests', help: 'Tests.', aggregator: 'max' } as const;
    expect(
      readGauge(naming, [{ value: undefined }, { value: 0 }, { labels: { a: 'b' }, value: 2 }]),
    ).toEqual({
      ...naming,
      type: 'gauge',
      values: [
        { labels: {}, value: 0 },
        { labels: { a: 'b' }, value: 2 },
      ],
    });
  });
});
