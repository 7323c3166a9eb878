/**
 * Reads metrics as Prometheus does, from their text.
 *
 * @module
 */

import { exchange } from '../wire/exchange.ts';

/** Content of one scrape. */
export interface Scrape {
  readonly text: string;
  /** By family: `counter`, `gauge` or `histogram`. */
  readonly typeByName: ReadonlyMap<string, string>;
  readonly helpByName: ReadonlyMap<string, string>;
  /** By series as it is written, labels in the order of the text. */
  readonly valueBySeries: ReadonlyMap<string, number>;
  /** Sum over the series of a name whose labels hold all that is given. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** Label names of a metric's series, sorted. */
  labelsOf(name: string): readonly string[];
  /** Values of one label of a metric's series, sorted. */
  valuesOf(name: string, label: string): readonly string[];
}

const SERIES = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:[0-9.]+(?:e[+-]?\d+)?|Inf)|NaN)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/y;

/** Scrapes a port of this machine. */
export async function scrape(port: number): Promise<Scrape> {
  const { status, body } = await exchange(`http://127.0.0.1:${port}/metrics`);
  if (status !== 200) throw new Error(`the scrape was answered with ${status}`);
  return parseScrape(body);
}

/** Parses the text format. @throws On a line that is none of its three kinds, and on a series that stands twice. */
function parseScrape(text: string): Scrape {
  const typeByName = new Map<string, string>();
  const helpByName = new Map<string, string>();
  const valueBySeries = new Map<string, number>();
  const series: { name: string; labels: Map<string, string>; value: number }[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment;
      (kind === 'HELP' ? helpByName : typeByName).set(name, rest);
      continue;
    }
    const found = SERIES.exec(line);
    if (found === null) throw new Error(`no line of the format: ${line}`);
    const [, name = '', labels = '', value = ''] = found;
    const key = labels === '' ? name : `${name}{${labels}}`;
    if (valueBySeries.has(key)) throw new Error(`twice: ${key}`);
    valueBySeries.set(key, Number(value));
    series.push({ name, labels: parseLabels(labels), value: Number(value) });
  }
  return {
    text,
    typeByName,
    helpByName,
    valueBySeries,
    sum: (name, labels = {}) =>
      series
        .filter(
          (each) =>
            each.name === name &&
            Object.entries(labels).every(([label, value]) => each.labels.get(label) === value),
        )
        .reduce((total, { value }) => total + value, 0),
    valuesOf: (name, label) =>
      [
        ...new Set(
          series
            .filter((each) => each.name === name)
            .flatMap(({ labels }) => labels.get(label) ?? []),
        ),
      ].toSorted(),
    labelsOf: (name) =>
      [
        ...new Set(
          series.filter((each) => each.name === name).flatMap(({ labels }) => [...labels.keys()]),
        ),
      ].toSorted(),
  };
}

function parseLabels(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const found = LABEL.exec(text);
    if (found === null) throw new Error(`no labels: ${text}`);
    labels.set(found[1] ?? '', found[2] ?? '');
  }
  return labels;
}
