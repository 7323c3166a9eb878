/**
 * The published libraries: JavaScript, types and source maps, one file for each source file.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { CHECKOUT, LIBRARY_FOLDERS, readManifest } from './layout.ts';
import { preparePackageFolder, writeManifest } from './package-folder.ts';
import { packLibraryManifest } from './packed-manifest.ts';

const COMPILER = join(CHECKOUT, 'node_modules/typescript/bin/tsc');
const PROJECT = join(CHECKOUT, 'tools/build/tsconfig.json');
/** JavaScript with types that protoc wrote; the compiler reads it and does not copy it. */
const GENERATED = 'packages/protocol/src/gen';
/** A relative import in a declaration file, where the compiler leaves the extension of the source. */
const SOURCE_IMPORT = /((?:from|import\() ?['"]\.[^'"]*)\.ts(?=['"])/g;

/** Makes the folders of the libraries below `output`; what stood there before is gone. */
export function buildLibraries(output: string, gitHead: string | undefined): void {
  const compiled = mkdtempSync(join(output, 'compiled-'));
  try {
    const args = [COMPILER, '--project', PROJECT, '--outDir', compiled];
    execFileSync(process.execPath, args, {
      cwd: CHECKOUT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    for (const name of LIBRARY_FOLDERS) {
      const folder = preparePackageFolder(output, name);
      const dist = join(folder, 'dist');
      cpSync(join(compiled, posix.basename(name), 'src'), dist, { recursive: true });
      if (GENERATED.startsWith(`${name}/`))
        cpSync(join(CHECKOUT, GENERATED), join(dist, 'gen'), { recursive: true });
      for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
        finish(join(dist, file), file.replaceAll('\\', '/'));
      writeManifest(folder, packLibraryManifest(readManifest(name), gitHead));
    }
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

/** Takes out of a compiled file what is true in the checkout only. */
function finish(path: string, name: string): void {
  if (name.endsWith('.d.ts')) {
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(SOURCE_IMPORT, '$1.js'));
  } else if (name.endsWith('.js.map')) {
    // The map holds the source; its path is as if the sources stood beside `dist`.
    const map = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    const source = `src/${name.replace(/\.js\.map$/, '.ts')}`;
    const sources = [posix.relative(posix.join('dist', dirname(name)), source)];
    writeFileSync(path, JSON.stringify({ ...map, sources }));
  }
}
