import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../packages/config/src/schema/schema.ts';
import {
  CHART_SETTINGS,
  createChartSettings,
  renderChartSettings,
} from './generate-chart-settings.ts';

describe('charts/sallyport/files/settings.yaml', () => {
  it('is what "npm run docs" writes', () => {
    expect(readFileSync(CHART_SETTINGS, 'utf8')).toBe(renderChartSettings());
  });

  it('names each key that is withheld when it is printed, and each that holds a secret', () => {
    const settings = createChartSettings();
    const marked = Object.keys(settings).filter((key) =>
      ['secret', 'path', 'variable name'].includes(String(settings[key])),
    );
    const withheld = SETTINGS.filter(({ setting }) => setting.kind.isWithheld === true);
    expect(marked).toEqual(withheld.map(({ key }) => key));
    expect(Object.keys(settings).filter((key) => settings[key] === 'secret')).toEqual([
      'secrets.admin.clientSecret',
      'secrets.adminOauthClientCredentials.clientSecret',
    ]);
  });

  it('lists the names in a mapping of a list', () => {
    expect(createChartSettings()['bearer.issuers']).toContain('metadataUrl');
  });

  it('is not made where the schema has a new kind of withheld values', () => {
    const [placed] = SETTINGS;
    if (placed === undefined) throw new Error('the schema is empty');
    const kind = { ...placed.setting.kind, name: 'token', isWithheld: true } as const;
    expect(() =>
      createChartSettings([{ ...placed, setting: { ...placed.setting, kind } }]),
    ).toThrow('of the kind token');
  });
});
