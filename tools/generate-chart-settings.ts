/**
 * Writes charts/sallyport/files/settings.yaml from the configuration schema: `node --conditions=source
 * tools/generate-chart-settings.ts`.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { RecordListKind } from '../packages/config/src/kinds/record.ts';
import { pathKind, secretKind, variableNameKind } from '../packages/config/src/kinds/text.ts';
import { type PlacedSetting, SETTINGS } from '../packages/config/src/schema/schema.ts';

/** Where the file lies. */
export const CHART_SETTINGS: URL = new URL(
  '../charts/sallyport/files/settings.yaml',
  import.meta.url,
);

/** What a key holds, as far as the chart has to know: the names of its mappings for a list of them. */
export type ChartSetting = 'value' | 'secret' | 'path' | 'variable name' | readonly string[];

/** Every key that the chart takes below `config`, by its dotted name, and what it holds. */
export function createChartSettings(
  settings: readonly PlacedSetting[] = SETTINGS,
): Readonly<Record<string, ChartSetting>> {
  return Object.fromEntries(
    settings.map(({ key, setting: { kind } }) => [key, describeKind(kind)] as const),
  );
}

function describeKind(kind: PlacedSetting['setting']['kind']): ChartSetting {
  if ('fields' in kind) return Object.keys((kind as RecordListKind<object>).fields);
  const { name, isWithheld } = kind;
  if (isWithheld !== true) return 'value';
  if (name === pathKind.name) return 'path';
  if (name === variableNameKind.name) return 'variable name';
  if (name === secretKind.name) return 'secret';
  throw new TypeError(`the chart knows no values of the kind ${name}, which is withheld`);
}

/** Renders the whole file. */
export function renderChartSettings(): string {
  const head = '# Made by `npm run docs` from the schema of packages/config. Do not edit.\n';
  return head + stringify({ settings: createChartSettings() }, { lineWidth: 120 });
}

if (import.meta.main) writeFileSync(CHART_SETTINGS, renderChartSettings());
