import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Installation,
  installTarballs,
  type PackedPackages,
  packPackages,
} from './packed-packages.ts';

const execute = promisify(execFile);

describe('The command as it is published, with nothing beside it', () => {
  let packed: PackedPackages;
  let installed: Installation;

  beforeAll(async () => {
    packed = await packPackages();
    installed = await installTarballs([packed.tarballs.get('sallyport') ?? ''], '--offline');
  });
  afterAll(() => installed.remove());

  it('is one package, which npm installs without asking a registry', () => {
    expect(readdirSync(join(installed.folder, 'node_modules')).toSorted()).toEqual([
      '.bin',
      '.package-lock.json',
      'sallyport',
    ]);
  });

  it('says its version, that of Node and the commit it was built from, and no path', async () => {
    const command = join(installed.folder, 'node_modules/.bin/sallyport');
    const { stdout } = await execute(command, ['--version'], {
      env: { PATH: dirname(process.execPath) },
    });
    const { stdout: head } = await execute('git', ['rev-parse', 'HEAD']);
    const [version, node, commit] = stdout.split('\n');
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(node).toBe(`Node ${process.version}`);
    expect(commit?.replace(/-modified$/, '')).toBe(`built from ${head.trim()}`);
    expect(stdout).not.toContain('/');
  });
});
