import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { PROMTOOL, runPromtool } from './prometheus.ts';
import { ALERTS_FILE, alertQueries } from './queries.ts';

const TESTS_FILE = new URL('./alerts.test.yaml', import.meta.url).pathname;

const DOCUMENT = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');

interface AlertFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly labels: { readonly severity: string };
    }[];
  }[];
}

interface AlertTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

describe.skipIf(PROMTOOL.isLeftOut)('The alert rules', () => {
  it('are rules as Prometheus reads them', async () => {
    const { code, said } = await runPromtool(['check', 'rules', ALERTS_FILE]);
    expect([code, said]).toEqual([
      0,
      expect.stringContaining(`SUCCESS: ${alertQueries().length} rules found`),
    ]);
  });

  it('fire on what they are for, with text and labels, and not on its twin', async () => {
    const { code, said } = await runPromtool(['test', 'rules', TESTS_FILE]);
    expect([code, said]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('have the scrape configuration that docs/monitoring.md shows', async () => {
    const [, block = ''] = /```yaml\n(scrape_configs:[^`]*)```/.exec(DOCUMENT) ?? [];
    const folder = temporaryFolder();
    const file = join(folder.path, 'prometheus.yml');
    writeFileSync(file, block);
    copyFileSync(ALERTS_FILE, join(folder.path, 'alerts.yaml'));
    const { code, said } = await runPromtool(['check', 'config', file]);
    folder.remove();
    expect([code, said]).toEqual([0, expect.stringContaining('rules found')]);
  });

  it('are those that docs/monitoring.md lists, with their severities', () => {
    const { groups } = parse(readFileSync(ALERTS_FILE, 'utf8')) as AlertFile;
    const rules = groups.flatMap((group) => group.rules);
    const rows = DOCUMENT.matchAll(/^\| `(Sallyport\w+)` \| (\w+) \| .+ \|$/gm);
    expect([...rows].map(([, alert, severity]) => [alert, severity])).toEqual(
      rules.map(({ alert, labels }) => [alert, labels.severity]),
    );
  });

  const { tests } = parse(readFileSync(TESTS_FILE, 'utf8')) as AlertTests;
  const expected = tests.flatMap((test) => test.alert_rule_test);

  it.each(alertQueries().map(({ title }) => title))(
    '%s is made to fire, and kept quiet',
    (name) => {
      const counts = expected
        .filter(({ alertname }) => alertname === name)
        .map(({ exp_alerts: alerts }) => alerts.length);
      expect(counts).toContain(1);
      expect(counts).toContain(0);
    },
  );
});
