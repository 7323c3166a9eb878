/**
 * Which programs and which machine a run was made with. Holds no path and no name of the machine.
 *
 * @module
 */

import { spawnSync } from 'node:child_process';
import { cpus, release } from 'node:os';
import type { Parts } from '../parts.ts';
import type { Environment } from './report.ts';

/** Asks every program that is there for its version. */
export function describeEnvironment(parts: Parts, peerVersion: string | undefined): Environment {
  const all: readonly (readonly [string, string | undefined])[] = [
    ['Node', process.version.slice(1)],
    ['wrk', ask(parts.wrk, ['-v'], /(\d+\.\d+\.\d+)/)],
    ['nginx', ask(parts.nginx, ['-v'], /nginx\/(\S+)/)],
    ['Redis', ask(parts.redis, ['--version'], /v=(\S+)/)],
    ['h2load', ask(parts.h2load, ['--version'], /nghttp2\/(\S+)/)],
    [
      'oauth2-proxy',
      peerVersion ?? ask(parts.peer, ['--version'], /v?(\d+\.\d+\.\d+\b[^(]*?) *\(/),
    ],
  ];
  return {
    versions: Object.fromEntries(
      all.flatMap(([name, version]) => (version === undefined ? [] : [[name, version]])),
    ),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    kernel: `${process.platform === 'linux' ? 'Linux' : process.platform} ${release()}`,
  };
}

function ask(
  path: string | undefined,
  args: readonly string[],
  pattern: RegExp,
): string | undefined {
  if (path === undefined) return undefined;
  const { stdout, stderr } = spawnSync(path, args, { encoding: 'utf8' });
  return pattern.exec(`${stdout}\n${stderr}`)?.[1] ?? 'of an unknown version';
}
