import {
  chownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CachedLogin,
  nameCachedLogin,
  readCachedLogin,
  writeCachedLogin,
} from './cached-login.ts';

const WHAT: CachedLogin = {
  key: {
    issuer: 'i',
    tokenEndpoint: 't',
    endpoint: 'e',
    clientId: 'c',
    scopes: ['all'],
    audience: '',
  },
  store: 'file',
  header: 'core-authorization',
  refreshWindowMs: 300_000,
  metadata: {
    issuer: 'i',
    isIssuerNamed: false,
    authorizationEndpoint: '',
    tokenEndpoint: 't',
    deviceAuthorizationEndpoint: '',
    revocationEndpoint: '',
    codeChallengeMethods: [],
    clientId: 'c',
    redirectUri: 'r',
    scopes: ['all'],
    audience: '',
    authorizationHeader: 'core-authorization',
  },
};
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cached-login-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('What was learned is found again', () => {
  it('under each name it was kept under, and under no other', () => {
    writeCachedLogin(folder, ['a', 'b'], WHAT);
    expect(readCachedLogin(folder, 'a')).toMatchObject(WHAT);
    expect(readCachedLogin(folder, 'b')).toMatchObject(WHAT);
    expect(readCachedLogin(folder, 'c')).toBeUndefined();
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it.each<[string, unknown]>([
    ['no JSON', 'x'],
    ['another version', { version: 2, ...WHAT }],
    ['a key without issuer', { version: 1, ...WHAT, key: { ...WHAT.key, issuer: 1 } }],
    ['scopes that are no list', { version: 1, ...WHAT, key: { ...WHAT.key, scopes: 'all' } }],
    ['an unknown store', { version: 1, ...WHAT, store: 'cloud' }],
    ['no metadata', { version: 1, ...WHAT, metadata: null }],
    ['metadata that lacks a field', { version: 1, ...WHAT, metadata: { issuer: 'i' } }],
    ['nothing', null],
  ])('%s counts as none', (_, content) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(folder, 'a.json'), text);
    expect(readCachedLogin(folder, 'a')).toBeUndefined();
  });

  it("one behind a link, one too large and another user's count as none", () => {
    writeCachedLogin(folder, ['a', 'b', 'c'], WHAT);
    symlinkSync(join(folder, 'a.json'), join(folder, 'link.json'));
    expect(readCachedLogin(folder, 'link')).toBeUndefined();
    writeFileSync(join(folder, 'b.json'), ' '.repeat(65_536), { flag: 'a' });
    expect(readCachedLogin(folder, 'b')).toBeUndefined();
    expect(readCachedLogin(folder, 'c')).toBeDefined();
    // Only root can give a file away.
    if (process.getuid?.() !== 0) return;
    chownSync(join(folder, 'c.json'), 65_534, 65_534);
    expect(readCachedLogin(folder, 'c')).toBeUndefined();
  });

  it('a folder that cannot be written does no harm', () => {
    writeFileSync(join(folder, 'file'), '');
    writeCachedLogin(join(folder, 'file', 'below'), ['a'], WHAT);
    expect(readCachedLogin(join(folder, 'file', 'below'), 'a')).toBeUndefined();
  });

  it('the oldest go when there are too many', () => {
    for (let index = 0; index < 70; index += 1) writeCachedLogin(folder, [`n${index}`], WHAT);
    expect(readdirSync(folder).length).toBeLessThanOrEqual(64);
    expect(readCachedLogin(folder, 'n69')).toBeDefined();
  });
});

describe('The name of a cached login', () => {
  it('is the same for the same, in any order, and another for anything else', () => {
    const given = fc.dictionary(fc.string(), fc.string(), { maxKeys: 5 });
    fc.assert(
      fc.property(given, given, (one, other) => {
        const reversed = Object.fromEntries(Object.entries(one).toReversed());
        expect(nameCachedLogin(reversed)).toBe(nameCachedLogin(one));
        const isSame = isDeepStrictEqual({ ...one }, { ...other });
        expect(nameCachedLogin(one) === nameCachedLogin(other)).toBe(isSame);
      }),
    );
  });

  it('does not hold what was given', () => {
    expect(nameCachedLogin({ secret: 'canary' })).toMatch(/^[0-9a-f]{64}$/);
  });
});
