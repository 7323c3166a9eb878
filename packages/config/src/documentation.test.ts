import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  CONFIGURATION_DOCS,
  renderConfigurationDocs,
} from '../../../tools/generate-configuration-docs.ts';
import { SECRET_FINDINGS } from './client-secret-file.ts';
import { loadConfig } from './load-config.ts';
import { SETTINGS } from './schema/schema.ts';

const page = renderConfigurationDocs();
const fenced = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';

describe('docs/configuration.md', () => {
  it('is what the schema says', () => {
    expect(readFileSync(CONFIGURATION_DOCS, 'utf8')).toBe(page);
  });

  it('has one row for every key, with its variable', () => {
    for (const { key, setting } of SETTINGS) {
      const rows = page.split('\n').filter((line) => line.startsWith(`| \`${key}\` |`));
      expect(rows).toHaveLength(1);
      if (setting.variable !== undefined) expect(rows[0]).toContain(`\`${setting.variable}\``);
    }
  });

  it('shows a shortest configuration that is one, as variables and as a file', () => {
    const env = Object.fromEntries(
      fenced('sh')
        .trim()
        .split('\n')
        .map((line) => line.split('=', 2)),
    );
    const text = fenced('yaml');
    expect(loadConfig({ env, flags: {} }, 'serve').ok).toBe(true);
    expect(loadConfig({ env: {}, flags: {}, file: { path: 'c', text } }, 'serve').ok).toBe(true);
    expect(loadConfig({ env: { ...env, PUBLIC_URL: '' }, flags: {} }, 'serve').ok).toBe(false);
  });
});

describe('docs/services.md', () => {
  const services = readFileSync(new URL('../../../docs/services.md', import.meta.url), 'utf8');

  it('names everything that can be wrong with the file of a client secret, in its own words', () => {
    const words = services.replaceAll('\n', ' ');
    for (const [code, { found, expected }] of Object.entries(SECRET_FINDINGS)) {
      if (code === 'unusable') continue;
      expect(words).toContain(found.replace(/ beside ….*$/, ' beside '));
      expect(words).toContain(expected);
    }
  });
});
