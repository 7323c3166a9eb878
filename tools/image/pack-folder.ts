/**
 * Tar archives that depend on names and contents alone.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** Packs what is in a folder; an archive that is there is replaced. @param epoch - Seconds: the time of every entry. */
export function packFolder(folder: string, archive: string, epoch: number): void {
  const place = ['--create', '--file', archive, '--directory', folder];
  const times = ['--sort=name', '--format=gnu', `--mtime=@${epoch}`];
  const owner = ['--owner=0', '--group=0', '--mode=u=rwX,go=rX'];
  execFileSync('tar', [...place, ...times, ...owner, ...readdirSync(folder).toSorted()]);
}
