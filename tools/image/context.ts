/**
 * The folder that the Containerfile copies from. Of the checkout it holds deploy/image alone.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../build/layout.ts';
import { unpackNode } from './node-binary.ts';
import type { Platform } from './platform.ts';

/** What an image is made from. */
export interface ImageParts {
  /** The command's tarball. */
  readonly tarball: string;
  readonly platform: Platform;
  /** Whether the base brings Node along. */
  readonly hasNode: boolean;
  /** Seconds: the time of every file. */
  readonly epoch: number;
}

const SOURCE = join(CHECKOUT, 'deploy/image');
/** User and group of the process: numbers that no distribution gives to a person or a service. */
const USER = 65_532;
const STATE_FOLDER = './var/lib/sallyport';

/** Fills an empty folder. @returns Its path, and that of Node's binary in it where there is one. */
export function fillContext(
  folder: string,
  { tarball, platform, hasNode, epoch }: ImageParts,
): { readonly folder: string; readonly node: string | undefined } {
  copyFileSync(join(SOURCE, 'Containerfile'), join(folder, 'Containerfile'));
  copyFileSync(tarball, join(folder, 'sallyport.tgz'));
  const node = join(folder, 'node');
  mkdirSync(node);
  if (!hasNode) unpackNode(node, platform);
  const archive = ['--file', join(folder, 'skeleton.tar')];
  const common = ['--sort=name', '--format=gnu', `--mtime=@${epoch}`];
  const asRoot = ['--owner=0', '--group=0', '--mode=u=rwX,go=rX'];
  const asUser = [`--owner=${USER}`, `--group=${USER}`, '--mode=0700', '--no-recursion'];
  const rootfs = ['--directory', join(SOURCE, 'rootfs')];
  const state = join(folder, 'state');
  mkdirSync(join(state, STATE_FOLDER), { recursive: true });
  tar('--create', ...archive, ...common, ...asRoot, ...rootfs, './etc', './usr');
  tar('--append', ...archive, ...common, ...asUser, '--directory', state, STATE_FOLDER);
  return { folder, node: hasNode ? undefined : join(node, 'bin/node') };
}

function tar(...args: readonly string[]): void {
  execFileSync('tar', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
