import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRouteMatcher } from './match-route.ts';
import { ROUTE_GROUPS, type RouteGroup } from './route-groups.ts';

function group(name: string, isProtected: boolean, ...matches: string[]): RouteGroup {
  return {
    name,
    transport: matches[0]?.startsWith('/') === true ? 'http' : 'grpc',
    protected: isProtected,
    backend: name,
    matches,
    forwardCredential: 'none',
    streaming: false,
  };
}

/** Nested both ways, which the platform's own table is not. */
const NESTED = [
  group('console', true, '/'),
  group('open', false, '/config', '/public', '/api/open'),
  group('closed', true, '/config/secret', '/api'),
  group('open-again', false, '/config/secret/key.pub'),
  group('rpc', true, 'pkg.Service', 'pkg.Other/Watch*'),
  group('rpc-open', false, 'pkg.Service/Open', 'pkg.Other/WatchPublic*', 'pkg.Other'),
];
const match = createRouteMatcher(NESTED);

describe('createRouteMatcher', () => {
  it.each([
    ['/', 'console'],
    ['/config', 'open'],
    ['/config/', 'open'],
    ['/config/a/b/c/d/e', 'open'],
    ['/configs', 'console'],
    ['/confi', 'console'],
    ['/config/secret', 'closed'],
    ['/config/secret/deeper', 'closed'],
    ['/config/secrets', 'open'],
    ['/config/secret/key.pub', 'open-again'],
    ['/api/open/x', 'open'],
    ['/api/openly', 'closed'],
    ['/pkg.Service/Open', 'rpc-open'],
    ['/pkg.Service', 'console'],
  ])('longest match at segment boundaries: %s -> %s', (path, name) => {
    expect(match(path, 'http').name).toBe(name);
  });

  it.each([
    ['/pkg.Service/Any', 'rpc'],
    ['/pkg.Service/Open', 'rpc-open'],
    ['/pkg.Service/Opened', 'rpc'],
    ['/pkg.Other/WatchThis', 'rpc'],
    ['/pkg.Other/WatchPublicThis', 'rpc-open'],
    ['/pkg.Other/Get', 'rpc-open'],
    ['/pkg.Service', 'unmatched-grpc'],
    ['/pkg.Service/', 'unmatched-grpc'],
    ['/pkg.Service/Open/', 'unmatched-grpc'],
    ['/pkg.Service/Open?x', 'unmatched-grpc'],
    ['//pkg.Service/Open', 'unmatched-grpc'],
    ['/config', 'unmatched-grpc'],
  ])('gRPC: %s -> %s', (path, name) => {
    expect(match(path, 'grpc').name).toBe(name);
  });

  it.each(['http', 'grpc'] as const)('protects what no group names (%s)', (transport) => {
    expect(createRouteMatcher([])('/anything', transport).protected).toBe(true);
  });

  it.each([
    ['/public/../api', 'dot segment'],
    ['/public/./x', 'dot segment'],
    ['/public/..', 'dot segment'],
    ['/public/%2e%2e/api', 'escaped dots'],
    ['/public/..%2fapi', 'escaped slash'],
    ['/public/%5c..%5capi', 'escaped backslash'],
    ['/public/%252e%252e/api', 'escaped twice'],
    ['/config/%73ecret', 'escaped letter'],
    ['/public\\..\\api', 'backslash'],
    ['//public', 'empty segment'],
    ['/public//x', 'empty segment'],
    ['/public;/../api', 'path parameter'],
    ['/public;x=1', 'path parameter'],
    ['/public#/../api', 'raw #'],
    ['/public\t', 'control character'],
    ['/public\u0000', 'NUL'],
    ['/public/\u00e9', 'not ASCII'],
    ['/config/SECRET', 'another case of a protected route'],
    ['/config/secret.', 'trailing dot'],
  ])('never opens %s (%s)', (path) => {
    expect(match(path, 'http').protected).toBe(true);
  });

  it.each([
    ['/config/Other', 'open'],
    ['/public/a-b_c.d~e/F.1', 'open'],
  ])('opens the plain path %s', (path, name) => {
    expect(match(path, 'http').name).toBe(name);
  });

  it('keeps a route closed that differs from an open one in case alone', () => {
    const find = createRouteMatcher([
      group('a', true, '/Docs'),
      group('b', false, '/docs', '/doc'),
    ]);
    expect(find('/docs', 'http').protected).toBe(true);
    expect(find('/doc', 'http').protected).toBe(false);
  });

  it('matches a protected path that is not canonical to its own backend', () => {
    expect(match('/api/a%2Fb', 'http').name).toBe('closed');
  });

  it.each([
    ['a trailing slash', group('x', true, '/api/')],
    ['a path without a slash in front, which is no service either', group('x', true, 'a b')],
    ['an unprotected catch-all', group('x', false, '/')],
  ])('refuses a table with %s', (_what, broken) => {
    expect(() => createRouteMatcher([broken])).toThrow(TypeError);
  });

  it('refuses a table that gives one match to two groups', () => {
    expect(() => createRouteMatcher([group('a', true, '/x'), group('b', false, '/x')])).toThrow(
      'routes a and b both match /x',
    );
  });
});

/** What the most lenient backend imaginable makes of a path. */
function normalizeLeniently(path: string): string {
  let text = path;
  for (let round = 0; round < 3; round += 1)
    text = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  text = text.split(/[?#]/, 1)[0] ?? '';
  const segments: string[] = [];
  for (const raw of text.replaceAll('\\', '/').split('/')) {
    const segment = (raw.split(';', 1)[0] ?? '')
      // oxlint-disable-next-line no-control-regex -- the point of the test
      .replaceAll(/[\u0000-\u0020\u007f-\uffff]/g, '')
      .toLowerCase();
    if (segment === '..') segments.pop();
    else if (segment.replace(/\.+$/, '') !== '') segments.push(segment.replace(/\.+$/, ''));
  }
  return `/${segments.join('/')}`;
}

describe('unprotected routes and lenient backends', () => {
  const tables = [
    ['the platform', createRouteMatcher(ROUTE_GROUPS), ROUTE_GROUPS],
    ['a nested table', match, NESTED],
  ] as const;

  const piece = fc.oneof(
    fc.constantFrom('..', '.', '', '%2e%2e', '%2E', '%252e', '%2f', '%5c', '\\', ';', ';a=b', '#'),
    fc.constantFrom('config', 'secret', 'SECRET', '%73ecret', 'api', 'me', 'login', 'auth', 'v1'),
    fc.string({ unit: 'binary-ascii', maxLength: 4 }),
    fc.string({ unit: 'binary', maxLength: 2 }),
  );
  const anyPath = fc
    .array(fc.tuple(fc.constantFrom('/', '/', '/', '\\', '%2f', ''), piece), { maxLength: 8 })
    .map((parts) => `/${parts.flat().join('')}`);

  it.each(tables)('CVE-2026-33494: no spelling opens a protected route of %s', (_name, find) => {
    fc.assert(
      fc.property(anyPath, (path) => {
        fc.pre(find(normalizeLeniently(path), 'http').protected);
        expect(find(path, 'http').protected).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  it.each(tables)('no disguise of a route of %s opens it', (_name, find, routes) => {
    const closed = routes
      .filter((route) => route.protected)
      .flatMap((route) => route.matches)
      .map((name) => (name.startsWith('/') ? name : `/${name.replace('*', 'X')}`));
    const disguised = fc
      .tuple(
        fc.constantFrom(...closed),
        fc.constantFrom('', '/login/..', '/me/../..', '/config/.', '/auth%2f..', '/'),
        fc.array(fc.tuple(fc.nat(), fc.constantFrom('%', '%25', 'upper', ';x', '/.', '\\')), {
          maxLength: 4,
        }),
      )
      .map(([path, before, changes]) => before + changes.reduce(disguise, path));
    fc.assert(
      fc.property(disguised, (path) => {
        fc.pre(find(normalizeLeniently(path), 'http').protected);
        expect(find(path, 'http').protected).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });
});

function disguise(path: string, [position, how]: readonly [number, string]): string {
  const at = position % path.length;
  const [before, char, after] = [path.slice(0, at), path.charAt(at), path.slice(at + 1)];
  if (how.startsWith('%')) return `${before}${how}${char.charCodeAt(0).toString(16)}${after}`;
  if (how === 'upper') return before + char.toUpperCase() + after;
  if (how === '\\') return before + char.replace('/', '\\') + after;
  return before + char + how + after;
}
