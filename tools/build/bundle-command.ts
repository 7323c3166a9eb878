/**
 * The command with everything that it loads, in one folder of JavaScript.
 *
 * @module
 */

import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { type OutputChunk, type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { askForBuiltInModules } from './built-in-modules.ts';
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
  // `up --platform` starts the example's programs.
  'platform-actor': 'examples/platform/actor.ts',
};

/**
 * Loaded by `main` where its time counts, so that it stands in one file with all that it loads: each further file
 * takes half a millisecond. What the other chunks load too is there twice.
 */
const ALONE: Readonly<Record<string, string>> = {
  'kept-token': 'packages/cli/src/commands/kept-token.ts',
};

/**
 * Loaded before the code of a command: the list of the commands, and what they take. Each stands in one file with all
 * that it loads at once and the one before does not have.
 */
const COMMAND_LINE: readonly {
  readonly name: string;
  readonly test: RegExp;
  readonly priority: number;
}[] = [
  { name: 'program', test: /\/packages\/cli\/src\/commands\/program\.ts$/, priority: 2 },
  { name: 'declarations', test: /\/packages\/cli\/src\/commands\/declarations\.ts$/, priority: 1 },
];

/**
 * Tried by a dependency, which carries on without. A tool of the checkout may bring one along; what is
 * published must not depend on that.
 */
const LEFT_OUT: readonly string[] = ['@node-rs/xxhash', 'supports-color'];

/**
 * Parts of Node that a package imports for what the command does not use: commander starts programs for commands that
 * are declared as programs. Loading this one takes a tenth of the time of `sallyport --help`.
 */
const UNUSED: readonly { readonly importer: RegExp; readonly module: string }[] = [
  { importer: /\/node_modules\/commander\//, module: 'node:child_process' },
];
const EMPTY = '\0unused';

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
  const chunks = [
    ...(await bundle(folder, ENTRIES, { codeSplitting: { groups: [...COMMAND_LINE] } })),
    ...(await bundle(folder, ALONE, { codeSplitting: false })),
  ];
  refuseForeignImports(chunks);
  return {
    modules: [...new Set(chunks.flatMap(({ moduleIds }) => moduleIds))]
      .filter((id) => id !== EMPTY)
      .toSorted(),
  };
}

async function bundle(
  folder: string,
  entries: Readonly<Record<string, string>>,
  splitting: Pick<OutputOptions, 'codeSplitting'>,
): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    cwd: CHECKOUT,
    input: { ...entries },
    platform: 'node',
    external: [...LEFT_OUT],
    plugins: [LEAD_ELSEWHERE],
    resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
    // `depd` names the functions it wraps by `eval`.
    checks: { eval: false },
  });
  const { output } = await build.write({
    ...splitting,
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    // The notices hold the licences. Each process keeps the text of what it loads.
    comments: false,
  });
  await build.close();
  return output.filter((file): file is OutputChunk => file.type === 'chunk');
}

const LEAD_ELSEWHERE: Plugin = {
  name: 'lead-elsewhere',
  resolveId(module, importer, { isEntry }) {
    if (UNUSED.some((unused) => unused.module === module && unused.importer.test(importer ?? '')))
      return EMPTY;
    if (isEntry || !module.startsWith('.') || importer === undefined) return undefined;
    const path = join(importer, '..', module);
    const [name] = Object.entries(ALONE).find(([, file]) => join(CHECKOUT, file) === path) ?? [];
    return name === undefined ? undefined : { id: `./${name}.js`, external: true };
  },
  load: (id) => (id === EMPTY ? 'export default {};' : undefined),
  // The last hook: what a bundler prints after the others decodes escapes again.
  generateBundle(_, files) {
    for (const file of Object.values(files))
      if (file.type === 'chunk') file.code = escapeNonAscii(askForBuiltInModules(file.code));
  },
};

/**
 * Writes every character beyond ASCII as an escape: the runtime keeps the text of a file that holds one in two bytes
 * a character. The chunk has them in strings and patterns alone, once the comments are gone.
 */
function escapeNonAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function refuseForeignImports(chunks: readonly OutputChunk[]): void {
  const own = new Set(chunks.flatMap(({ fileName }) => [fileName, `./${fileName}`]));
  const foreign = chunks.flatMap(({ fileName, imports, dynamicImports }) =>
    [...imports, ...dynamicImports]
      .filter((name) => !own.has(name) && !isBuiltin(name) && !LEFT_OUT.includes(name))
      .map((name) => `${fileName} imports ${name}`),
  );
  if (foreign.length > 0) throw new Error(`the bundle does not stand alone: ${foreign.join('; ')}`);
}
