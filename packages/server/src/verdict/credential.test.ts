import { describe, expect, it } from 'vitest';
import type { CheckRequest } from './check-request.ts';
import { type CredentialSettings, readCredential, selectBearerHeaders } from './credential.ts';

const HEADERS = {
  httpAuthorizationHeader: 'core-authorization',
  grpcAuthorizationHeader: 'core-authorization',
};
const SETTINGS: CredentialSettings = {
  sessionCookieName: 'core_session',
  bearerHeaders: selectBearerHeaders({ ...HEADERS, onlyConfiguredHeader: false }),
};
const STRICT: CredentialSettings = {
  ...SETTINGS,
  bearerHeaders: selectBearerHeaders({ ...HEADERS, onlyConfiguredHeader: true }),
};

/** A request as node:http shows it: `authorization` keeps the first of several, other names are joined. */
function request(
  pairs: readonly (readonly [string, string])[],
  transport: 'http' | 'grpc' = 'http',
): CheckRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const before = headers[key];
    if (before === undefined) headers[key] = value;
    else if (key !== 'authorization')
      headers[key] = before + (key === 'cookie' ? '; ' : ', ') + value;
  }
  return { method: 'GET', headers, rawHeaders: pairs.flat(), transport };
}

function read(
  pairs: readonly (readonly [string, string])[],
  settings: CredentialSettings = SETTINGS,
) {
  return readCredential(request(pairs), settings);
}

describe('selectBearerHeaders', () => {
  it('reads authorization beside the configured header, because released clients send it', () => {
    expect(SETTINGS.bearerHeaders).toEqual({
      http: ['core-authorization', 'authorization'],
      grpc: ['core-authorization', 'authorization'],
    });
  });

  it('reads the configured header alone when configured so', () => {
    expect(STRICT.bearerHeaders).toEqual({
      http: ['core-authorization'],
      grpc: ['core-authorization'],
    });
  });

  it('keeps the two transports apart, and names no header twice', () => {
    const names = { httpAuthorizationHeader: 'authorization', grpcAuthorizationHeader: 'x-grpc' };
    expect(selectBearerHeaders({ ...names, onlyConfiguredHeader: false })).toEqual({
      http: ['authorization'],
      grpc: ['x-grpc', 'authorization'],
    });
  });
});

describe('a bearer token', () => {
  it.each([
    ['Bearer token'],
    ['bearer token'],
    ['BEARER token'],
    ['Bearer   token'],
    ['Bearer token  '],
    ['  Bearer token'],
  ])('Bearer header, rule 1: is read from core-authorization: %j', (value) => {
    expect(read([['core-authorization', value]])).toEqual({ kind: 'bearer', token: 'token' });
    expect(read([['Core-Authorization', value]])).toEqual({ kind: 'bearer', token: 'token' });
    expect(read([['authorization', value]])).toEqual({ kind: 'bearer', token: 'token' });
  });

  it('is not read from authorization when only the configured header counts', () => {
    expect(read([['authorization', 'Bearer token']], STRICT)).toEqual({ kind: 'none' });
    expect(read([['core-authorization', 'Bearer token']], STRICT)).toEqual({
      kind: 'bearer',
      token: 'token',
    });
  });

  it('is read from the header of its own transport alone', () => {
    const settings = {
      ...SETTINGS,
      bearerHeaders: { http: ['x-http'], grpc: ['x-grpc'] },
    };
    const pairs = [['x-grpc', 'Bearer token']] as const;
    expect(readCredential(request(pairs, 'grpc'), settings)).toEqual({
      kind: 'bearer',
      token: 'token',
    });
    expect(readCredential(request(pairs, 'http'), settings)).toEqual({ kind: 'none' });
  });

  it('decides alone: a session cookie beside it counts for nothing', () => {
    const cookie = ['cookie', 'core_session=value'] as const;
    expect(read([cookie, ['authorization', 'Bearer bad']])).toEqual({
      kind: 'bearer',
      token: 'bad',
    });
    expect(read([cookie, ['authorization', 'Bearer bad']], STRICT)).toEqual({
      kind: 'session',
      values: ['value'],
    });
  });

  it('counts once when both headers carry the same', () => {
    expect(
      read([
        ['core-authorization', 'Bearer token'],
        ['authorization', 'bearer token'],
      ]),
    ).toEqual({ kind: 'bearer', token: 'token' });
  });

  it('is read in linear time, however many blanks are sent', { timeout: 1_000 }, () => {
    const value = `Bearer a${' '.repeat(300_000)}b`;
    expect(read([['core-authorization', value]])).toEqual({
      kind: 'bearer',
      token: value.slice(7),
    });
  });
});

describe('ambiguous credentials', () => {
  it.each([
    [
      'two different bearers in two headers',
      [
        ['core-authorization', 'Bearer a'],
        ['authorization', 'Bearer b'],
      ],
    ],
    [
      'the configured header twice',
      [
        ['core-authorization', 'Bearer a'],
        ['core-authorization', 'Bearer b'],
      ],
    ],
    [
      'the configured header twice, the same',
      [
        ['core-authorization', 'Bearer a'],
        ['core-authorization', 'Bearer a'],
      ],
    ],
    [
      'in another case',
      [
        ['core-authorization', 'Bearer a'],
        ['CORE-AUTHORIZATION', 'Bearer b'],
      ],
    ],
    [
      'authorization twice',
      [
        ['authorization', 'Bearer a'],
        ['Authorization', 'Bearer b'],
      ],
    ],
    [
      'a second one of another scheme',
      [
        ['authorization', 'Bearer a'],
        ['authorization', 'Basic b'],
      ],
    ],
    [
      'two of other schemes',
      [
        ['authorization', 'Basic a'],
        ['authorization', 'Basic b'],
      ],
    ],
    [
      'an empty second one',
      [
        ['authorization', 'Bearer a'],
        ['authorization', ''],
      ],
    ],
    [
      'beside a cookie',
      [
        ['cookie', 'core_session=v'],
        ['authorization', 'Bearer a'],
        ['authorization', 'Bearer a'],
      ],
    ],
  ] as const)('is refused as ambiguous: %s', (_, pairs) => {
    expect(read(pairs)).toEqual({ kind: 'ambiguous' });
  });

  it('are none where the repeated header is not read', () => {
    expect(
      read(
        [
          ['authorization', 'Bearer a'],
          ['authorization', 'Bearer b'],
        ],
        STRICT,
      ),
    ).toEqual({ kind: 'none' });
  });
});

describe('no bearer', () => {
  it.each([
    '',
    '   ',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    'Bearertoken',
    'Token x',
    'DPoP x',
    'xBearer y',
  ])('an empty value or another scheme counts as absent: %j', (value) => {
    expect(read([['core-authorization', value]])).toEqual({ kind: 'none' });
    expect(
      read([
        ['core-authorization', value],
        ['authorization', 'Bearer token'],
      ]),
    ).toEqual({ kind: 'bearer', token: 'token' });
    expect(
      read([
        ['core-authorization', value],
        ['cookie', 'core_session=v'],
      ]),
    ).toEqual({ kind: 'session', values: ['v'] });
  });

  it('without any header there is none', () => {
    expect(read([])).toEqual({ kind: 'none' });
    expect(
      read([
        ['x-core-authorization', 'Bearer x'],
        ['core_authorization', 'Bearer x'],
        ['proxy-authorization', 'Bearer x'],
      ]),
    ).toEqual({ kind: 'none' });
  });
});

describe('a session cookie', () => {
  it('is found by its exact name', () => {
    expect(read([['cookie', 'a=1; core_session=value; b=2']])).toEqual({
      kind: 'session',
      values: ['value'],
    });
    expect(read([['cookie', 'xcore_session=v; Core_Session=v; core_session_=v']])).toEqual({
      kind: 'none',
    });
  });

  it('may be planted several times: each value that could be a session is tried, each once, none is joined, and 256 are enough', () => {
    const possible = Array.from(
      { length: 300 },
      (_, index) => `AAAAA${String(index).padStart(3, '0')}.${'A'.repeat(43)}`,
    );
    const shown = (values: readonly string[]) =>
      read([['cookie', values.map((value) => `core_session=${value}`).join('; ')]]);
    expect(shown(possible.slice(0, 2))).toEqual({ kind: 'session', values: possible.slice(0, 2) });
    expect(shown(possible)).toEqual({ kind: 'session', values: possible.slice(0, 256) });
    const twice = possible.slice(0, 2).flatMap((value) => [value, value]);
    expect(shown(twice)).toEqual({ kind: 'session', values: possible.slice(0, 2) });
    expect(shown(['x', '', ...possible.slice(0, 1)])).toEqual({
      kind: 'session',
      values: possible.slice(0, 1),
    });
    expect(shown(['x', 'y'])).toEqual({ kind: 'session', values: ['x'] });
  });

  it('is found in any of several Cookie headers', () => {
    expect(
      read([
        ['cookie', 'a=1'],
        ['cookie', 'core_session=v'],
      ]),
    ).toEqual({ kind: 'session', values: ['v'] });
  });
});

describe('a service without sessions', () => {
  const settings: CredentialSettings = { ...SETTINGS, sessionCookieName: undefined };

  it('finds no credential in any cookie, and a bearer all the same', () => {
    for (const cookie of ['core_session=x', 'undefined=x', '=x', '__Host-core_session=x'])
      expect(read([['Cookie', cookie]], settings)).toEqual({ kind: 'none' });
    expect(read([['Authorization', 'Bearer x']], settings)).toEqual({ kind: 'bearer', token: 'x' });
  });
});
