import { readFileSync } from 'node:fs';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { accessToken, BEARER_HEADER } from '../../conformance/wire/bearer.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Service, startService } from '../../conformance/wire/platform.ts';
import { SESSION_COOKIE } from '../../conformance/wire/sign-in.ts';
import { PROMETHEUS, type Prometheus, runPromtool, startPrometheus } from './prometheus.ts';
import {
  ALERTS_FILE,
  alertQueries,
  DASHBOARD_FILE,
  dashboardQueries,
  groupsOf,
  type Query,
  selectorsOf,
} from './queries.ts';

const PATIENCE = { timeout: 20_000, interval: 100 };
/** Labels that a scrape adds. */
const TARGET_LABELS = ['job', 'instance'];

type Labels = Readonly<Record<string, string>>;

describe.skipIf(PROMETHEUS.isLeftOut)('A Prometheus that scrapes serve', () => {
  let service: Service;
  let prometheus: Prometheus;
  let scraped: string;
  /** Series by the name of their metric. */
  const seriesByName = new Map<string, Labels[]>();

  beforeAll(async () => {
    const port = await freePort();
    service = await startService({ SALLYPORT_METRICS_PORT: String(port), SALLYPORT_WORKERS: '2' });
    prometheus = await startPrometheus({ target: port, ruleFile: ALERTS_FILE });
    await use();
    await vi.waitFor(async () => {
      const [count] = await prometheus.query('min(count_over_time(sallyport_verdicts_total[1m]))');
      expect(Number(count?.value[1] ?? 0)).toBeGreaterThan(3);
    }, PATIENCE);
    scraped = (await exchange(`http://127.0.0.1:${port}/metrics`)).body;
    const all = await prometheus.ask<readonly Labels[]>('series', {
      'match[]': '{job="sallyport"}',
    });
    for (const { __name__: name = '', ...labels } of all)
      seriesByName.set(name, [...(seriesByName.get(name) ?? []), labels]);
  });
  afterAll(async () => {
    await prometheus.stop();
    await service.stop();
  });

  /** A little of everything. */
  async function use(): Promise<void> {
    const browser = new Browser();
    await service.signIn(browser);
    await service.signIn(new Browser(), '/', { answer: () => ({ status: 400, body: '{}' }) });
    const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
    const bearer = `Bearer ${await accessToken(service.idp, service.url)}`;
    for (let times = 0; times < 20; times += 1)
      for (const headers of [{ cookie }, { [BEARER_HEADER]: bearer }, {}] as const)
        await exchange(`${service.url}/me`, { headers });
  }

  function labelsOf(metric: string): ReadonlySet<string> {
    return new Set((seriesByName.get(metric) ?? []).flatMap((labels) => Object.keys(labels)));
  }

  /** What a query names and the service does not export. */
  function unknownIn(query: Query): readonly string[] {
    const selectors = selectorsOf(query);
    const known = new Set([
      ...selectors.flatMap(({ metric }) => [...labelsOf(metric)]),
      ...TARGET_LABELS,
    ]);
    const unknown = selectors.flatMap(({ metric, matchers }) => {
      const all = seriesByName.get(metric);
      if (all === undefined) return [metric];
      return matchers.flatMap(({ label, operator, value }) => {
        // Each alternative has to be there, also where it is what is left out.
        const wanted = operator.endsWith('~') ? value.split('|') : [value];
        const shown = new Set(all.map((labels) => labels[label]));
        return wanted
          .filter((each) => each !== '.*' && !shown.has(each))
          .map((each) => `${metric}{${label}="${each}"}`);
      });
    });
    const labels = [...groupsOf(query), ...query.shown].filter((label) => !known.has(label));
    return [...unknown, ...labels];
  }

  it('finds its target well, and no line it does not understand', async () => {
    const { activeTargets } = await prometheus.ask<{
      readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[];
    }>('targets');
    expect(activeTargets).toEqual([expect.objectContaining({ health: 'up', lastError: '' })]);
    expect(await prometheus.query('up{job="sallyport"}')).toMatchObject([
      { value: [expect.anything(), '1'] },
    ]);
  });

  it('and its own rules for names, units and texts find nothing to complain of', async () => {
    const own = scraped
      .split('\n\n')
      .filter((family) => family.startsWith('# HELP sallyport_'))
      .join('\n');
    expect(own.length).toBeGreaterThan(1_000);
    expect(await runPromtool(['check', 'metrics'], `${own}\n`)).toEqual({ code: 0, said: '' });
    const bad =
      '# HELP sallyport_x_milliseconds X.\n# TYPE sallyport_x_milliseconds counter\nsallyport_x_milliseconds 1\n';
    expect((await runPromtool(['check', 'metrics'], bad)).code).not.toBe(0);
  });

  describe('The dashboard', () => {
    it.each(dashboardQueries().map((query) => [query.title, query] as const))(
      '%s: has a value, and names what there is',
      async (_, query) => {
        expect(selectorsOf(query).length).toBeGreaterThan(0);
        expect(unknownIn(query)).toEqual([]);
        const results = await prometheus.query(query.expression);
        expect(results.length).toBeGreaterThan(0);
        for (const { metric } of results)
          for (const label of query.shown) expect(Object.keys(metric)).toContain(label);
      },
    );

    it('shows every metric of Sallyport', () => {
      const shown = new Set(
        dashboardQueries().flatMap((query) => selectorsOf(query).map(({ metric }) => metric)),
      );
      const missing = [...seriesByName.keys()].filter(
        (name) =>
          name.startsWith('sallyport_') &&
          !shown.has(name) &&
          !shown.has(name.replace(/_(?:bucket|sum|count)$/, '_bucket')),
      );
      expect(missing).toEqual([]);
    });

    it('has an id for every panel, room for each, and the variables its queries use', () => {
      const { panels, templating } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as {
        readonly panels: readonly {
          readonly id: number;
          readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
        }[];
        readonly templating: { readonly list: readonly { readonly name: string }[] };
      };
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from(
          { length: w * h },
          (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`,
        ),
      );
      expect(new Set(cells).size).toBe(cells.length);
      for (const cell of cells) expect(Number(cell.split(' ')[0])).toBeLessThan(24);
      expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance']);
    });
  });

  describe('The alerts', () => {
    it.each(alertQueries().map((query) => [query.title, query] as const))(
      '%s: is evaluated, and names what there is',
      async (_, query) => {
        expect(selectorsOf(query).length).toBeGreaterThan(0);
        expect(unknownIn(query)).toEqual([]);
        await prometheus.query(query.expression);
      },
    );

    it('are quiet while nothing is wrong', async () => {
      const { groups } = await prometheus.ask<{
        readonly groups: readonly {
          readonly rules: readonly {
            readonly name: string;
            readonly state: string;
            readonly health: string;
            readonly lastError?: string;
          }[];
        }[];
      }>('rules');
      const rules = groups.flatMap((group) => group.rules);
      expect(rules.map(({ name }) => name).toSorted()).toEqual(
        alertQueries()
          .map(({ title }) => title)
          .toSorted(),
      );
      for (const { name, state, health, lastError } of rules)
        expect([name, state === 'firing', health, lastError]).toEqual([
          name,
          false,
          'ok',
          undefined,
        ]);
    });
  });

  it('a query that names what there is not would be noticed', () => {
    const wrong = (expression: string, shown: readonly string[] = []) =>
      unknownIn({ title: '', expression, shown });
    expect(wrong('sallyport_no_such_total')).toEqual(['sallyport_no_such_total']);
    expect(wrong('sallyport_verdicts_total{outcome="refuse"}')).toEqual([
      'sallyport_verdicts_total{outcome="refuse"}',
    ]);
    expect(wrong('sallyport_verdicts_total{result="refused"}')).toEqual([
      'sallyport_verdicts_total{result="refused"}',
    ]);
    expect(wrong('sallyport_verdicts_total{outcome!~"refused|denied"}')).toEqual([
      'sallyport_verdicts_total{outcome="denied"}',
    ]);
    expect(wrong('sum by (operation) (sallyport_verdicts_total)', ['doors'])).toEqual([
      'operation',
      'doors',
    ]);
  });
});
