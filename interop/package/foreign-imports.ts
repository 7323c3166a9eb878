/**
 * What the files of a library import, held against what an installation has.
 *
 * @module
 */

import { posix } from 'node:path';

/** Text by the path below the package's folder. */
export type PackageFiles = ReadonlyMap<string, string>;

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** Imports, exports, types by `import()`, and modules that a declaration file adds to or refers to. */
const SPECIFIER =
  /(?:\bfrom\s*|\bimport\s*\(\s*|^\s*import\s+|^\s*declare module\s+|^\/\/\/ <reference (?:types|path)=)["']([^"'\s]+)["']/gm;
const CODE = /\.(?:js|d\.ts)$/;

/**
 * Finds the imports of public code and public types that lead to nothing once the packages are installed: a file that
 * is not in the tarball, a package that is no dependency, or a module of a package of this repository that it does
 * not export.
 *
 * Names of modules that only come about at run time are not seen.
 *
 * @returns `PATH imports MODULE`, in the order of the files.
 */
export function findForeignImports(
  files: PackageFiles,
  published: Iterable<PackageFiles>,
): readonly string[] {
  const manifest = manifestOf(files);
  const known = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((member) =>
    Object.keys((manifest[member] as object | undefined) ?? {}),
  );
  const own = new Map([...published].map((each) => [manifestOf(each).name, manifestOf(each)]));
  const isThere = (from: string, specifier: string): boolean => {
    if (specifier.startsWith('node:')) return true;
    if (specifier.startsWith('.')) {
      const target = posix.join(posix.dirname(from), specifier);
      return from.endsWith('.d.ts')
        ? files.has(target.replace(/\.js$/, '.d.ts'))
        : files.has(target);
    }
    const [name, subpath] = splitSpecifier(specifier);
    if (name !== manifest.name && !known.includes(name)) return false;
    const exported = own.get(name)?.exports;
    return exported === undefined
      ? !name.startsWith('@sallyport/')
      : Object.hasOwn(exported, subpath);
  };
  return [...files]
    .filter(([path]) => CODE.test(path))
    .flatMap(([path, text]) =>
      [...text.matchAll(SPECIFIER)]
        .map(([, specifier = '']) => specifier)
        .filter((specifier) => !isThere(path, specifier))
        .map((specifier) => `${path} imports ${specifier}`),
    );
}

/** `@scope/name/a/b` is the subpath `./a/b` of `@scope/name`. */
function splitSpecifier(specifier: string): readonly [name: string, subpath: string] {
  const parts = specifier.split('/');
  const length = specifier.startsWith('@') ? 2 : 1;
  return [parts.slice(0, length).join('/'), ['.', ...parts.slice(length)].join('/')];
}

function manifestOf(files: PackageFiles): Manifest {
  return JSON.parse(files.get('package.json') ?? '{}') as Manifest;
}
