/**
 * The command with everything that it loads, in one folder of JavaScript.
 *
 * @module
 */

import { isBuiltin } from 'node:module';
import { type OutputChunk, rolldown } from 'rolldown';
import { CHECKOUT } from './layout.ts';

/**
 * Files that a process or a thread starts with. The code finds them by URL beside the chunk that starts
 * them (`new URL('./NAME.js', import.meta.url)`), so every chunk stands in the same folder.
 */
const ENTRIES: Readonly<Record<string, string>> = {
  main: 'packages/cli/src/main.ts',
  'keyring-process': 'packages/client/src/store/keyring-process.ts',
  'local-store-maintenance-thread':
    'packages/server/src/session/local/local-store-maintenance-thread.ts',
};

/**
 * Tried by a dependency, which carries on without. A tool of the checkout may bring one along; what is
 * published must not depend on that.
 */
const LEFT_OUT: readonly string[] = ['@node-rs/xxhash', 'supports-color'];

/** What a bundle is made of. */
export interface Bundle {
  /** Absolute paths of the modules in it, of this repository and of its dependencies. */
  readonly modules: readonly string[];
}

/**
 * Bundles the command into a folder. What the sources import dynamically stays a chunk of its own, loaded
 * where it is used.
 *
 * @throws When the bundle imports something that is neither part of Node nor of the bundle.
 */
export async function bundleCommand(folder: string): Promise<Bundle> {
  const bundle = await rolldown({
    cwd: CHECKOUT,
    input: { ...ENTRIES },
    platform: 'node',
    external: [...LEFT_OUT],
    resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
    // `depd` names the functions it wraps by `eval`.
    checks: { eval: false },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await bundle.close();
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');
  refuseForeignImports(chunks);
  return { modules: chunks.flatMap(({ moduleIds }) => moduleIds).toSorted() };
}

function refuseForeignImports(chunks: readonly OutputChunk[]): void {
  const own = new Set(chunks.map(({ fileName }) => fileName));
  const foreign = chunks.flatMap(({ fileName, imports, dynamicImports }) =>
    [...imports, ...dynamicImports]
      .filter((name) => !own.has(name) && !isBuiltin(name) && !LEFT_OUT.includes(name))
      .map((name) => `${fileName} imports ${name}`),
  );
  if (foreign.length > 0) throw new Error(`the bundle does not stand alone: ${foreign.join('; ')}`);
}
