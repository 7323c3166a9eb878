/**
 * Threads and processes that are started beside the command load without it: what leads the command from a
 * package's name to its sources need not reach them.
 *
 * Reads the source as text: nothing is imported.
 *
 * @module
 */

import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('..', import.meta.url).pathname;
const SOURCES = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).filter(
  (file) => !/\.test\.ts$|\/testing\//.test(file),
);
/** Programs of their own. Workers are the command itself. */
const PROGRAMS = [
  'packages/client/src/store/keyring-process.ts',
  'packages/server/src/session/local/local-store-maintenance-thread.ts',
];
/** What it starts loads packages: it gives the condition along by which a checkout finds their sources. */
const WITH_CONDITION = 'packages/cli/src/up/platform/supervise-actor.ts';

/** What a file loads when it runs: types are gone by then. */
function loadedBy(source: string): readonly string[] {
  const statements = source.matchAll(
    /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\bfrom\s+)?'([^']+)'/gm,
  );
  return [...statements].map(([, specifier = '']) => specifier);
}

/** Packages that a program loads, itself or through what it loads. */
function packagesOf(program: string): readonly string[] {
  const packages: string[] = [];
  const seen = new Set<string>();
  const look = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const specifier of loadedBy(readFileSync(join(ROOT, file), 'utf8'))) {
      if (specifier.startsWith('.')) look(join(dirname(file), specifier));
      else if (!specifier.startsWith('node:')) packages.push(`${file}: ${specifier}`);
    }
  };
  look(program);
  return packages;
}

describe('Programs beside the command', () => {
  it.each(PROGRAMS)('%s loads no package, itself or through what it loads', (file) => {
    expect(packagesOf(file)).toEqual([]);
  });

  it('a package that is loaded further down is found', () => {
    const file = 'packages/server/src/session/local/local-store-maintenance.ts';
    expect(packagesOf(file)).toContain(`${file}: @sallyport/protocol`);
    const through = 'packages/server/src/session/local/local-store-connection.ts';
    expect(packagesOf(through)).toContain(
      'packages/server/src/session/local/local-store-error.ts: @sallyport/protocol',
    );
  });

  it('are all known here: nothing else starts a thread, or a process on a program of ours', () => {
    const starts = SOURCES.filter((file) =>
      /new Worker\(|(?<![.\w])fork\(/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    const starting = PROGRAMS.map((program) =>
      SOURCES.find((file) =>
        readFileSync(join(ROOT, file), 'utf8').includes(`./${basename(program, '.ts')}$`),
      ),
    );
    expect(new Set(starts)).toEqual(new Set([...starting, WITH_CONDITION]));
    expect(starts).toHaveLength(PROGRAMS.length + 1);
    expect(readFileSync(join(ROOT, WITH_CONDITION), 'utf8')).toContain("['--conditions=source']");
  });
});
