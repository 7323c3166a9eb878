import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { honestDocument } from '@sallyport/testing/idp/metadata-server';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import type { AuthorizationServerDocument } from './authorization-server-document.ts';
import {
  type DocumentOrigin,
  KEPT_DOCUMENT_MAX_AGE_MS,
  readKeptDocument,
  writeKeptDocument,
} from './kept-document-file.ts';

const ISSUER = 'https://idp.example';
const ORIGIN: DocumentOrigin = { issuer: ISSUER, address: `${ISSUER}/.well-known/x` };
const KEPT = {
  document: honestDocument(ISSUER) as AuthorizationServerDocument,
  fetchedAt: NOON,
};

async function keep(): Promise<string> {
  const path = join(createTemporaryFolder(), 'metadata', 'kept.json');
  await writeKeptDocument(path, ORIGIN, KEPT);
  return path;
}

/** Changes the file as another program would. */
function edit(path: string, change: (file: Record<string, unknown>) => unknown): void {
  const file = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify(change(file)));
}

describe('a kept document', () => {
  it('is read back as it was', async () => {
    expect(readKeptDocument(await keep(), ORIGIN, NOON + 1)).toEqual({ ok: true, value: KEPT });
  });

  it('is the owner’s alone, and nothing else is left in the folder', async () => {
    const path = await keep();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(path, '..'))).toEqual(['kept.json']);
  });

  it('replaces the one before, whole', async () => {
    const path = await keep();
    await writeKeptDocument(path, ORIGIN, { ...KEPT, fetchedAt: NOON + 5 });
    expect(readKeptDocument(path, ORIGIN, NOON + 5)).toMatchObject({
      ok: true,
      value: { fetchedAt: NOON + 5 },
    });
  });

  it('leaves nothing behind when it cannot be put in place', async () => {
    const path = await keep();
    renameSync(path, `${path}.old`);
    mkdirSync(join(path, 'in the way'), { recursive: true });
    await expect(writeKeptDocument(path, ORIGIN, KEPT)).rejects.toThrow();
    expect(readdirSync(join(path, '..')).toSorted()).toEqual(['kept.json', 'kept.json.old']);
  });

  it.each([
    [0, true],
    [KEPT_DOCUMENT_MAX_AGE_MS, true],
    [KEPT_DOCUMENT_MAX_AGE_MS + 1, false],
    [-60_000, true],
    [-60_001, false],
  ])('%i ms after it was fetched: used %s', async (age, isUsed) => {
    const read = readKeptDocument(await keep(), ORIGIN, NOON + age);
    expect(read.ok ? true : read.error).toBe(isUsed ? true : 'old');
  });

  it.each([
    ['another issuer', { ...ORIGIN, issuer: 'https://idp.example/' }],
    ['another address', { ...ORIGIN, address: 'https://idp.example/meta' }],
  ])('is not used for %s', async (_, origin) => {
    expect(readKeptDocument(await keep(), origin, NOON)).toEqual({ ok: false, error: 'foreign' });
  });

  it.each<readonly [string, (file: Record<string, unknown>) => unknown, string]>([
    [
      'whose document names another issuer',
      (file) => ({ ...file, document: { ...KEPT.document, issuer: 'https://evil.example' } }),
      'foreign',
    ],
    [
      'with keys inlined',
      (file) => ({ ...file, document: { ...KEPT.document, jwks: { keys: [] } } }),
      'corrupt',
    ],
    [
      'with an endpoint off https',
      (file) => ({
        ...file,
        document: { ...KEPT.document, token_endpoint: 'http://evil.example' },
      }),
      'corrupt',
    ],
    ['without a document', (file) => ({ ...file, document: undefined }), 'corrupt'],
    ['of another version', (file) => ({ ...file, version: 2 }), 'corrupt'],
    ['without a time', (file) => ({ ...file, fetchedAt: undefined }), 'corrupt'],
    ['that is no object', () => [], 'corrupt'],
  ])('%s is not used', async (_, change, problem) => {
    const path = await keep();
    edit(path, change);
    expect(readKeptDocument(path, ORIGIN, NOON)).toEqual({ ok: false, error: problem });
  });

  it.each(['', '{', 'version', '\0'.repeat(100)])(
    'cut or damaged to %j is not used',
    async (text) => {
      const path = await keep();
      writeFileSync(path, text);
      expect(readKeptDocument(path, ORIGIN, NOON)).toEqual({ ok: false, error: 'corrupt' });
    },
  );

  it('that others can write is not used', async () => {
    const path = await keep();
    chmodSync(path, 0o666);
    expect(readKeptDocument(path, ORIGIN, NOON)).toEqual({ ok: false, error: 'unsafe' });
  });

  it('behind a link is not used', async () => {
    const path = await keep();
    symlinkSync(path, `${path}.link`);
    expect(readKeptDocument(`${path}.link`, ORIGIN, NOON)).toEqual({
      ok: false,
      error: 'unreadable',
    });
  });

  it('longer than any document is not read', async () => {
    const path = await keep();
    writeFileSync(path, ' '.repeat(1_048_577));
    expect(readKeptDocument(path, ORIGIN, NOON)).toEqual({ ok: false, error: 'unsafe' });
  });

  it('that is not there is nothing to report', () => {
    expect(readKeptDocument('/nowhere/kept.json', ORIGIN, NOON)).toEqual({
      ok: false,
      error: 'absent',
    });
  });
});
