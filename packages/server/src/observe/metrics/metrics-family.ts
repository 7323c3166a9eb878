/**
 * Metric families whose series are all there from the start.
 *
 * A family counts by slots, so that nothing of a request can become a label: a value that
 * is in no list of the code has no slot. Every series is shown from the first scrape, with 0, so that a
 * rate over it is right from the first event on.
 *
 * @module
 */

/** What `le` says of the bucket that holds everything. */
const EVERYTHING = '+Inf';

/** One value as it is scraped. */
export interface Sample {
  /** Where it is not the family's own: `_bucket`, `_sum` and `_count` of a histogram. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** How values of one series from several processes become one. */
type Aggregator = 'sum' | 'max' | 'min' | 'first';

/** A family as it is scraped, and as processes hand it to each other. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: Aggregator;
  readonly values: readonly Sample[];
}

/** What a family is called. */
interface Naming {
  /** With the unit it counts, in base units, and `_total` for a counter. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
}

/** Name, help, and every combination of label values there will ever be. */
interface Series<Names extends readonly string[]> extends Naming {
  readonly labels: Names;
  readonly series: readonly { readonly [Index in keyof Names]: string }[];
}

/** A number of counters, one for each series. */
export class CounterFamily<const Names extends readonly string[] = readonly []> {
  readonly #naming: Naming;
  readonly #labelsBySlot: readonly Readonly<Record<string, string>>[];
  readonly #slotByValues: ReadonlyMap<string, number>;
  readonly #counts: Float64Array;

  constructor({ name, help, labels, series }: Series<Names>) {
    this.#naming = { name, help };
    this.#labelsBySlot = series.map((values) => toLabels(labels, values));
    this.#slotByValues = new Map(series.map((values, slot) => [values.join('\n'), slot]));
    this.#counts = new Float64Array(series.length);
  }

  /**
   * Where a series is counted; looked up once and kept.
   *
   * @throws {TypeError} When there is no such series.
   */
  slot(...values: { readonly [Index in keyof Names]: string }): number {
    const slot = this.#slotByValues.get(values.join('\n'));
    if (slot === undefined)
      throw new TypeError(`${this.#naming.name} has no series ${values.join(' ')}`);
    return slot;
  }

  /** Counts one; costs a few nanoseconds. */
  add(slot: number): void {
    const before = this.#counts[slot];
    if (before !== undefined) this.#counts[slot] = before + 1;
  }

  read(): Metric {
    const values = this.#labelsBySlot.map((labels, slot) => ({
      labels,
      value: this.#counts[slot] ?? 0,
    }));
    return { ...this.#naming, type: 'counter', aggregator: 'sum', values };
  }
}

/** A number of histograms with the same buckets, one for each series. */
export class HistogramFamily<const Names extends readonly string[]> {
  readonly #naming: Naming;
  readonly #upperBounds: readonly number[];
  readonly #labelsBySlot: readonly Readonly<Record<string, string>>[];
  readonly #slotByValues: ReadonlyMap<string, number>;
  /** For each slot its buckets, not cumulated, and one for everything above. */
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;

  /** @param upperBounds - Of the buckets, ascending, inclusive. */
  constructor({
    name,
    help,
    labels,
    series,
    upperBounds,
  }: Series<Names> & { readonly upperBounds: readonly number[] }) {
    this.#naming = { name, help };
    this.#upperBounds = upperBounds;
    this.#labelsBySlot = series.map((values) => toLabels(labels, values));
    this.#slotByValues = new Map(series.map((values, slot) => [values.join('\n'), slot]));
    this.#counts = new Float64Array(series.length * (upperBounds.length + 1));
    this.#sums = new Float64Array(series.length);
  }

  /**
   * Where a series is counted; looked up once and kept.
   *
   * @throws {TypeError} When there is no such series.
   */
  slot(...values: { readonly [Index in keyof Names]: string }): number {
    const slot = this.#slotByValues.get(values.join('\n'));
    if (slot === undefined)
      throw new TypeError(`${this.#naming.name} has no series ${values.join(' ')}`);
    return slot;
  }

  /** Counts a value; one below 0, as of a clock that was set back, counts as 0. */
  observe(slot: number, value: number): void {
    const bounds = this.#upperBounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    const at = slot * (bounds.length + 1) + bucket;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sums[slot] = (this.#sums[slot] ?? 0) + Math.max(0, value);
  }

  read(): Metric {
    const values = this.#labelsBySlot.flatMap((labels, slot) => this.#readSlot(labels, slot));
    return { ...this.#naming, type: 'histogram', aggregator: 'sum', values };
  }

  #readSlot(labels: Readonly<Record<string, string>>, slot: number): readonly Sample[] {
    const { name } = this.#naming;
    const size = this.#upperBounds.length + 1;
    let count = 0;
    const buckets = Array.from({ length: size }, (_, index) => {
      count += this.#counts[slot * size + index] ?? 0;
      const bound = this.#upperBounds[index];
      const le = bound === undefined ? EVERYTHING : String(bound);
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sums[slot] ?? 0 },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** A gauge as it stands now; a value that is not known is left out. */
export function readGauge(
  naming: Naming & { readonly aggregator: Aggregator },
  values: readonly {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value: number | undefined;
  }[],
): Metric {
  return {
    ...naming,
    type: 'gauge',
    values: values.flatMap(({ labels = {}, value }) =>
      value === undefined ? [] : [{ labels, value }],
    ),
  };
}

function toLabels(
  names: readonly string[],
  values: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
