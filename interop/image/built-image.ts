/**
 * The image, built as `npm run image` does.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findPart, type Part, partAt } from '../parts.ts';

const IMAGE = new URL('../../tools/image.ts', import.meta.url).pathname;
/** Any time: that of the image and of its files. */
export const EPOCH = 1_790_000_000;

/** The programs that build, and root. */
export const BUILDERS: readonly Part[] = [
  ...['buildah', 'mmdebstrap', 'eu-strip'].map(findPart),
  partAt('root', process.getuid?.() === 0 ? '/' : undefined, 'this is another user'),
];

/** What the program printed. */
export interface PrintedImage {
  readonly ociArchive: string;
  readonly dockerArchive: string;
  /** Of the OCI manifest, then of the configuration in the docker format. */
  readonly digests: readonly string[];
  /** MB. */
  readonly sizes: Readonly<Record<'base' | 'Node' | 'Sallyport', number>>;
}

/** Builds. @throws With what the program wrote when it fails. */
export async function buildImage(
  tarball: string,
  output: string,
  ...options: readonly string[]
): Promise<PrintedImage> {
  const args = [IMAGE, '--tarball', tarball, '--out', output, ...options];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(EPOCH) },
  });
  const [ociArchive = '', dockerArchive = ''] = stdout.match(/^\/.*$/gm) ?? [];
  const size = (name: string) => Number(new RegExp(`\\b${name} (\\d+\\.\\d)`).exec(stdout)?.[1]);
  return {
    ociArchive,
    dockerArchive,
    digests: stdout.match(/sha256:[0-9a-f]{64}$/gm) ?? [],
    sizes: { base: size('base'), Node: size('Node'), Sallyport: size('Sallyport') },
  };
}
