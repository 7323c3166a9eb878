import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type LoadedConfig, loadConfig } from './load-config.ts';
import { formatConfigProblem } from './problems.ts';
import { redactConfig } from './redact-config.ts';
import type { ConfigSources } from './resolve-settings.ts';
import { NAMES_BY_BLOCK, type PlacedSetting, SETTING_BY_KEY, SETTINGS } from './schema/schema.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
  INTERNAL_CLIENT_ID: 'service',
  AUTH_CLIENT_ID: 'service',
  AUTH_TOKEN_URL: 'https://idp.example.com/token',
};
const CANARY = 'c4n4ryV4lue';

/** Loads, and checks what holds of every outcome. */
function load(
  sources: Partial<ConfigSources> & { readonly text?: string },
): LoadedConfig | undefined {
  const { text, ...rest } = sources;
  const file = text === undefined ? {} : { file: { path: 'core.yaml', text } };
  const result = loadConfig({ env: ENV, flags: {}, ...file, ...rest }, 'serve');
  const said = result.ok ? result.value.warnings : result.error;
  if (!result.ok) expect(said.length).toBeGreaterThan(0);
  for (const problem of said) {
    expect(problem.found).not.toBe('');
    expect(problem.expected).not.toBe('');
    expect(formatConfigProblem(problem)).not.toMatch(/[\r\n]/);
  }
  return result.ok ? result.value : undefined;
}

/** Nests a value under a dotted key. */
function nest(key: string, value: unknown): Record<string, unknown> {
  const [first = '', ...rest] = key.split('.');
  return { [first]: rest.length === 0 ? value : nest(rest.join('.'), value) };
}

const WORDS = 'true 1h 7 ~ https://a.example # &a *a !t <<'.split(' ');
const settings = fc.constantFrom(...SETTINGS);
const blocks = fc.constantFrom(...NAMES_BY_BLOCK.keys());
const names = fc.constantFrom(...SETTINGS.flatMap(({ path }) => path));

/** The type a kind's values have in JSON, described independently of its parser. */
function hasJsonType({ setting: { kind } }: PlacedSetting, value: unknown): boolean {
  if (kind.name === 'boolean') return typeof value === 'boolean';
  if (kind.name === 'integer') return Number.isSafeInteger(value);
  if (kind.name === 'share') return typeof value === 'number' && value >= 0 && value <= 1;
  if (kind.name === 'integer or auto') return Number.isSafeInteger(value) || value === 'auto';
  if (kind.name === 'list of mappings')
    return Array.isArray(value) && value.every((entry) => typeof entry === 'object');
  if (kind.name.startsWith('list of '))
    return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  return typeof value === 'string';
}

describe('any file', () => {
  it('of JSON is taken or reported with what is wrong with it, and never throws', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        load({ text });
      }),
      { numRuns: 300 },
    );
  });

  it('of YAML-like text is taken or reported with what is wrong with it, and never throws', () => {
    const piece = fc.oneof(
      names,
      fc.constantFrom(
        ': ',
        ':\n  ',
        '\n',
        '\n  ',
        '- ',
        '{',
        '}',
        '[',
        ']',
        ',',
        '"',
        '|\n',
        ...WORDS,
      ),
      fc.string({ maxLength: 4, unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        load({ text: pieces.join('') });
      }),
      { numRuns: 400 },
    );
  });

  it('with any value at a known key gives it as it is, or refuses it', () => {
    fc.assert(
      fc.property(settings, fc.jsonValue({ maxDepth: 2 }), (placed, value) => {
        const loaded = load({ text: JSON.stringify(nest(placed.key, value)) });
        if (loaded === undefined) return;
        expect(hasJsonType(placed, value)).toBe(true);
        expect(['file', 'env']).toContain(loaded.origins.get(placed.key));
      }),
      { numRuns: 400 },
    );
  });

  it('with any unknown key is refused, wherever it stands', () => {
    fc.assert(
      fc.property(blocks, fc.string({ unit: 'binary' }), fc.jsonValue(), (block, name, value) => {
        const key = block === '' ? name : `${block}.${name}`;
        fc.pre(name.isWellFormed() && !SETTING_BY_KEY.has(key) && !NAMES_BY_BLOCK.has(key));
        const inner = Object.fromEntries([[name, value]]);
        const text = stringify(block === '' ? inner : nest(block, inner));
        expect(load({ text })).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});

describe('any flags and environment', () => {
  it('are taken or reported with what is wrong with them, and never throw', () => {
    const variables = SETTINGS.flatMap(({ setting }) => setting.variable ?? []);
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(names, fc.constantFrom(...SETTING_BY_KEY.keys())), fc.anything()),
        fc.dictionary(fc.constantFrom(...variables), fc.string({ unit: 'binary' })),
        (flags, env) => {
          load({ flags, env: { ...ENV, ...env } });
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** Kinds of free text, where a URL is as good as any other and is no secret's place. */
function isFreeText({ setting: { kind } }: PlacedSetting): boolean {
  return /^(?:list of )?(?:string|secret)$/.test(kind.name);
}

function printedOf(sources: ConfigSources): string {
  const result = loadConfig(sources, 'serve');
  if (!result.ok)
    return JSON.stringify(result.error) + result.error.map(formatConfigProblem).join();
  const { config, warnings, notUsedHere, origins } = result.value;
  return [
    JSON.stringify([redactConfig(config), config, warnings, notUsedHere, [...origins]]),
    inspect(config, { depth: 9, showHidden: true }),
  ].join();
}

describe('a secret in any place', () => {
  const shapes: readonly ((placed: PlacedSetting) => unknown)[] = [
    () => ({ password: CANARY }),
    () => [[CANARY]],
    () => [{ password: CANARY }],
    () => [`https://ada:${CANARY}@idp.example.com`],
    () => `https://ada:${CANARY}@idp.example.com`,
    () => `https://idp.example.com/#${CANARY}`,
    ({ setting }) => (setting.kind.isWithheld === true ? CANARY : { [CANARY.slice(0, 3)]: CANARY }),
    ({ setting }) => (setting.kind.isWithheld === true ? `${CANARY}\n` : [null, [CANARY]]),
  ];
  it.each(SETTINGS.map((placed) => [placed.key, placed] as const))(
    'at %s is never shown',
    (key, placed) => {
      for (const shape of shapes) {
        const value = shape(placed);
        const isText = JSON.stringify(value).includes('://');
        if (isText && isFreeText(placed) && placed.setting.kind.isWithheld !== true) continue;
        const text = JSON.stringify(nest(key, value));
        expect(printedOf({ env: ENV, flags: { [key]: value } })).not.toContain(CANARY);
        expect(printedOf({ env: ENV, flags: {}, file: { path: 'c', text } })).not.toContain(CANARY);
        const { variable } = placed.setting;
        if (variable !== undefined && typeof value === 'string')
          expect(printedOf({ env: { ...ENV, [variable]: value }, flags: {} })).not.toContain(
            CANARY,
          );
      }
    },
  );

  it.each([...NAMES_BY_BLOCK.keys()])(
    'at an unknown key or in place of block "%s" is never shown',
    (block) => {
      const shown = (value: unknown): string => {
        const text = JSON.stringify(block === '' ? value : nest(block, value));
        return printedOf({ env: ENV, flags: {}, file: { path: 'c', text } });
      };
      for (const value of [CANARY, [CANARY], { clientSecretValue: CANARY }, { password: [CANARY] }])
        expect(shown(value)).not.toContain(CANARY);
    },
  );

  it('in a comment, a broken file, or a variable of another program is never shown', () => {
    for (const text of [
      `# ${CANARY}\n`,
      `a: "${CANARY}\n`,
      `a: *${CANARY}\n`,
      `a: !${CANARY} x\n`,
      `a: |${CANARY}\n`,
      `%${CANARY}\n---\n`,
      CANARY,
    ])
      expect(printedOf({ env: ENV, flags: {}, file: { path: 'c', text } })).not.toContain(CANARY);
    expect(printedOf({ env: { ...ENV, OIDC_CLIENT_SECRET: CANARY }, flags: {} })).not.toContain(
      CANARY,
    );
  });

  it('and the test itself would see one: a client ID is shown', () => {
    expect(printedOf({ env: { ...ENV, OIDC_CLIENT_ID: CANARY }, flags: {} })).toContain(CANARY);
  });
});
