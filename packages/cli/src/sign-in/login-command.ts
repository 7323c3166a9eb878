/**
 * The command line that signs in.
 *
 * @module
 */

import type { PlatformOptions } from '../profile/sources.ts';

/**
 * Writes the command that signs in to the platform of another command, with the options that selected it.
 */
export function writeLoginCommand({ profile, endpoint, caFile, config }: PlatformOptions): string {
  const options = [
    ['--config', config],
    ['--profile', profile],
    ['--endpoint', endpoint],
    ['--ca-file', caFile],
  ] as const;
  const given = options.flatMap(([name, value]) =>
    value === undefined ? [] : [name, quote(value)],
  );
  return ['sallyport login', ...given].join(' ');
}

/** For a POSIX shell, which needs it for few values. */
function quote(value: string): string {
  return /^[\w./:@%+=,-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
