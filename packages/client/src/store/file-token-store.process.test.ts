import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createTokens, KEY } from '@sallyport/testing/client/tokens';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { testTokenStore } from '@sallyport/testing/store-contracts/token-store-contract';
import { describe, expect, it } from 'vitest';
import { createFileTokenStore } from './file-token-store.ts';
import { tokenKeyId } from './token-key-id.ts';

testTokenStore('file', () => {
  const folder = join(createTemporaryFolder(), 'tokens');
  return { open: () => createFileTokenStore(folder) };
});

/** A folder with tokens in it. */
async function withTokens() {
  const folder = join(createTemporaryFolder(), 'tokens');
  const store = createFileTokenStore(folder);
  await store.write(KEY, createTokens('1'));
  return { folder, store, path: join(folder, `${tokenKeyId(KEY)}.json`) };
}

function unusable(words: string): unknown {
  return expect.objectContaining({
    code: 'SP_TOKEN_STORE_UNUSABLE',
    message: expect.stringContaining(words),
  });
}

const isRoot = process.getuid?.() === 0;

describe('File token store', () => {
  it('makes files of mode 0600 in a folder of mode 0700, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      const { folder, path } = await withTokens();
      expect(lstatSync(folder).mode & 0o777).toBe(0o700);
      expect(lstatSync(path).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(before);
    }
  });

  it('leaves no draft behind', async () => {
    const { folder, path } = await withTokens();
    expect(readdirSync(folder).map((entry) => join(folder, entry))).toEqual([path]);
  });

  it('makes no folder before something is written', async () => {
    const folder = join(createTemporaryFolder(), 'tokens');
    const store = createFileTokenStore(folder);
    expect(await store.read(KEY)).toBeUndefined();
    await store.remove(KEY);
    expect(existsSync(folder)).toBe(false);
  });

  it.each([0o640, 0o604, 0o620, 0o660, 0o644])(
    'refuses a file of mode %o, and says what mends it',
    async (mode) => {
      const { store, path } = await withTokens();
      chmodSync(path, mode);
      await expect(store.read(KEY)).rejects.toEqual(unusable(`chmod 600 '${path}'`));
      chmodSync(path, 0o600);
      expect(await store.read(KEY)).toEqual(createTokens('1'));
    },
  );

  it.each([0o750, 0o705, 0o755, 0o770])(
    'refuses a folder of mode %o for reading and for writing',
    async (mode) => {
      const { store, folder } = await withTokens();
      chmodSync(folder, mode);
      const refusal = unusable(`chmod 700 '${folder}'`);
      await expect(store.read(KEY)).rejects.toEqual(refusal);
      await expect(store.write(KEY, createTokens('2'))).rejects.toEqual(refusal);
      await expect(store.remove(KEY)).rejects.toEqual(refusal);
      chmodSync(folder, 0o700);
      expect(await store.read(KEY)).toEqual(createTokens('1'));
    },
  );

  it('does not follow a symbolic link to read, and replaces it when it writes', async () => {
    const { store, folder, path } = await withTokens();
    const elsewhere = join(createTemporaryFolder(), 'elsewhere.json');
    writeFileSync(elsewhere, readFileSync(path), { mode: 0o600 });
    await store.remove(KEY);
    symlinkSync(elsewhere, path);
    await expect(store.read(KEY)).rejects.toEqual(unusable('symbolic link'));
    await store.write(KEY, createTokens('2'));
    expect(lstatSync(path).isSymbolicLink()).toBe(false);
    expect(readFileSync(elsewhere, 'utf8')).toContain('access-1');
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('does not follow a symbolic link that stands for the folder', async () => {
    const { folder } = await withTokens();
    const link = join(createTemporaryFolder(), 'link');
    symlinkSync(folder, link);
    await expect(createFileTokenStore(link).read(KEY)).rejects.toEqual(unusable('symbolic link'));
  });

  it.skipIf(!isRoot)(
    'refuses a file and a folder of another user (only root can make one)',
    async () => {
      const { store, folder, path } = await withTokens();
      chownSync(path, 12_345, 12_345);
      await expect(store.read(KEY)).rejects.toEqual(unusable('another user (uid 12345)'));
      chownSync(folder, 12_345, 12_345);
      await expect(store.write(KEY, createTokens('2'))).rejects.toEqual(unusable('another user'));
    },
  );

  it('refuses what is no file, without waiting for it', async () => {
    const { store, path } = await withTokens();
    await store.remove(KEY);
    execFileSync('mkfifo', ['-m', '600', path]);
    await expect(store.read(KEY)).rejects.toEqual(unusable('no regular file'));
  });

  it('a folder that cannot be made is an error, and no secret is in it', async () => {
    const blocked = join(createTemporaryFolder(), 'file');
    writeFileSync(blocked, '');
    const failure = await createFileTokenStore(join(blocked, 'tokens'))
      .write(KEY, createTokens('canary'))
      .catch((error: unknown) => error);
    expect(failure).toEqual(unusable('cannot be used'));
    expect(String(failure)).not.toContain('canary');
  });

  it('keeps what was there when the new tokens cannot be written', async () => {
    const { store, folder, path } = await withTokens();
    await store.remove(KEY);
    mkdirSync(join(path, 'in the way'), { recursive: true, mode: 0o700 });
    await expect(store.write(KEY, createTokens('2'))).rejects.toEqual(
      unusable('cannot be written'),
    );
    expect(readdirSync(folder)).toEqual([`${tokenKeyId(KEY)}.json`]);
  });

  it('a file that holds something else counts as none, and can be written again', async () => {
    const { store, path } = await withTokens();
    writeFileSync(path, '{"version":99}');
    expect(await store.read(KEY)).toBeUndefined();
    await store.write(KEY, createTokens('2'));
    expect(await store.read(KEY)).toEqual(createTokens('2'));
  });
});
