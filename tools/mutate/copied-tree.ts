/**
 * A copy of the work tree to change files in, so that no mutant is ever left behind in the original.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A copied tree. */
export interface CopiedTree {
  readonly root: string;
  /** Runs work while a file has another content. */
  withFile<T>(file: string, content: string, work: () => Promise<T>): Promise<T>;
  remove(): void;
}

/**
 * Copies every file that Git knows or would add. Installed packages are linked, but for those of the
 * workspace, whose links lead into the copy.
 *
 * @param root - The repository.
 */
export function copyTree(root: string): CopiedTree {
  const copy = mkdtempSync(join(tmpdir(), 'sallyport-mutate-'));
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0')) {
    if (file === '' || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  linkPackages(join(root, 'node_modules'), join(copy, 'node_modules'));
  return {
    root: copy,
    async withFile(file, content, work) {
      const path = join(copy, file);
      const original = readFileSync(path);
      writeFileSync(path, content);
      try {
        return await work();
      } finally {
        writeFileSync(path, original);
      }
    },
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

function linkPackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    // Workspace packages are relative links: copied as they are, they lead into the copy.
    if (entry.isSymbolicLink() || entry.name === '@sallyport' || entry.name === '.bin')
      cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else if (!entry.name.startsWith('.')) symlinkSync(source, target);
  }
}
