import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  API_KEY_VARIABLES,
  DEFAULT_BRAND,
  listSecretVariables,
  listVariables,
  POD_VARIABLE,
} from './variables.ts';

const page = readFileSync(new URL('../../../../docs/clients.md', import.meta.url), 'utf8');

describe('docs/clients.md', () => {
  it('names every variable of the default brand, beside its setting', () => {
    const rows = page.split('\n');
    for (const [key, variables] of listVariables(DEFAULT_BRAND)) {
      for (const { name } of variables.filter(({ name }) => name.startsWith(`${DEFAULT_BRAND}_`)))
        expect(rows.some((row) => row.includes(`\`${name}\``) && row.includes(`\`${key}\``))).toBe(
          true,
        );
    }
    for (const name of [listSecretVariables(DEFAULT_BRAND)[0], ...API_KEY_VARIABLES])
      expect(page).toContain(`\`${name}\``);
  });

  it('names no variable that is not read', () => {
    const read = [...listVariables(DEFAULT_BRAND).values()].flat().map(({ name }) => name);
    const secrets = [...listSecretVariables(DEFAULT_BRAND), ...API_KEY_VARIABLES];
    const known = new Set([...read, ...secrets, POD_VARIABLE]);
    const named = [...page.matchAll(/`(_?[A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(30);
  });
});
