import { readFileSync } from 'node:fs';
import { createRouteMatcher, ROUTE_GROUPS } from '@sallyport/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CHART_ROUTES,
  type ChartPath,
  createChartRoutes,
  renderChartRoutes,
} from './generate-chart-routes.ts';

const { groups, identityHeaders, removedHeaders, removedOnOpenRoutes } = createChartRoutes();

/** The group whose path ingress-nginx would choose: an exact one, else the longest prefix. */
function chooseGroup(path: string): string | undefined {
  const matching = groups.flatMap(({ name, paths }) =>
    paths
      .filter((each) => matches(each, path))
      .map((each) => ({ name, length: each.path.length + (each.pathType === 'Exact' ? 0.5 : 0) })),
  );
  return matching.toSorted((one, other) => other.length - one.length)[0]?.name;
}

function matches({ path, pathType }: ChartPath, asked: string): boolean {
  if (pathType === 'Exact') return asked === path;
  if (pathType === 'ImplementationSpecific' || path === '/') return asked.startsWith(path);
  return asked === path || asked.startsWith(`${path}/`);
}

describe('charts/sallyport/files/routes.yaml', () => {
  it('is what "npm run docs" writes', () => {
    expect(readFileSync(CHART_ROUTES, 'utf8')).toBe(renderChartRoutes());
  });

  it('leads a path to the group that the gateway finds, for every plain path', () => {
    const match = createRouteMatcher(ROUTE_GROUPS);
    const spelt = ROUTE_GROUPS.flatMap(({ transport, matches: all }) =>
      all.map((each) => (transport === 'http' ? each : `/${each.replace('*', '')}`)),
    );
    const tail = fc.constantFrom('', '/', '/x', '/x/y', 'x', 'X/', '/Watch', '/WatchAll');
    fc.assert(
      fc.property(fc.constantFrom(...spelt), tail, (start, end) => {
        const path = start === '/' ? `/${end.replace(/^\//, '')}` : start + end;
        const { name } = match(path, 'http');
        // Of a service, the gateway takes methods alone; the bare name is a path behind the check.
        const isBare = /^\/[\w.]+\/?$/.test(path) && path.includes('.') && !path.startsWith('/.');
        const isBelowMethod = /^\/[\w.]+\.[\w.]+\/\w*\/.*$/.test(path);
        if (isBare || isBelowMethod) return;
        expect(chooseGroup(path)).toBe(name);
      }),
    );
  });

  it('has every path once', () => {
    const all = groups.flatMap(({ paths }) => paths.map(({ path }) => path));
    expect(new Set(all).size).toBe(all.length);
  });

  it('marks what browsers open: everything of the console, and nothing of the admin service', () => {
    const isPage = (backend: string) =>
      groups
        .filter((group) => group.backend === backend && group.protected)
        .filter(({ transport }) => transport === 'http')
        .flatMap(({ paths }) => paths.map(({ page }) => page));
    expect(new Set(isPage('console'))).toEqual(new Set([true]));
    expect(new Set(isPage('admin'))).toEqual(new Set([false]));
  });

  it('leaves the check its own question on open routes, and removes it everywhere else', () => {
    expect(removedHeaders).toEqual(expect.arrayContaining(['X-Original-Method', 'X-User-Token']));
    expect(removedOnOpenRoutes.http).not.toContain('X-Original-Method');
    expect(removedOnOpenRoutes.http).not.toContain('X-Original-Uri');
    for (const name of identityHeaders) {
      expect(removedOnOpenRoutes.http).toContain(name);
      expect(removedOnOpenRoutes.grpc).toContain(name);
    }
  });

  it('has no name that is too long for the tables of nginx', () => {
    // A name, its end and a pointer, in 64 bytes with one pointer more; sizes are rounded up to 8.
    for (const name of [...identityHeaders, ...removedHeaders, ...removedOnOpenRoutes.grpc])
      expect(name.length).toBeLessThanOrEqual(46);
  });
});
