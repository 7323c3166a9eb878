import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStateDirectory } from './state-directory.ts';

let parent: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'idp-state-'));
});

afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8);

describe('openStateDirectory', () => {
  it('creates the directory for its owner only, parents included', async () => {
    await openStateDirectory(join(parent, 'a', 'b'));
    expect(await modeOf(join(parent, 'a', 'b'))).toBe('700');
  });

  it('stores what is made once, for its owner only, and nothing beside it', async () => {
    const path = join(parent, 'state');
    const directory = await openStateDirectory(path);
    expect(await directory.keep('secret', () => 'first')).toBe('first');
    expect(await directory.keep('secret', () => 'second')).toBe('first');
    expect(await modeOf(join(path, 'secret'))).toBe('600');
    expect(await readdir(path)).toEqual(['secret']);
  });

  it('reads a file byte for byte: nothing is trimmed', async () => {
    const directory = await openStateDirectory(parent);
    await writeFile(directory.pathOf('secret'), ' spaced \n', { mode: 0o600 });
    expect(await directory.keep('secret', () => 'other')).toBe(' spaced \n');
  });

  it('closes a file that others can read, without changing it', async () => {
    const directory = await openStateDirectory(parent);
    await writeFile(directory.pathOf('secret'), 'known');
    await chmod(directory.pathOf('secret'), 0o644);
    await directory.keep('secret', () => 'other');
    expect(await modeOf(directory.pathOf('secret'))).toBe('600');
    expect(await readFile(directory.pathOf('secret'), 'utf8')).toBe('known');
  });

  it('refuses an empty file instead of using an empty secret', async () => {
    const directory = await openStateDirectory(parent);
    await writeFile(directory.pathOf('secret'), '');
    await expect(directory.keep('secret', () => 'other')).rejects.toThrow('SP_CONFIG_INVALID');
  });

  it('fails when the directory cannot be made', async () => {
    await writeFile(join(parent, 'file'), '');
    await expect(openStateDirectory(join(parent, 'file', 'state'))).rejects.toThrow(
      'SP_STORE_UNAVAILABLE',
    );
  });

  it('fails when a file cannot be read, and does not make a new one', async () => {
    const directory = await openStateDirectory(parent);
    await openStateDirectory(directory.pathOf('secret'));
    await expect(directory.keep('secret', () => 'new')).rejects.toThrow('SP_STORE_UNAVAILABLE');
  });
});
