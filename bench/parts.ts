/**
 * The programs a run is made with, as far as they are there.
 *
 * @module
 */

import { findPart } from '../interop/parts.ts';

/** Paths; `undefined` where a program is missing. */
export interface Parts {
  readonly taskset: string | undefined;
  readonly wrk: string | undefined;
  readonly nginx: string | undefined;
  readonly redis: string | undefined;
  readonly h2load: string | undefined;
  /** oauth2-proxy. */
  readonly peer: string | undefined;
}

/** Parts a case cannot do without. */
export type PartName = Exclude<keyof Parts, 'peer'>;

/** Where Debian has them. */
const PACKAGES: Readonly<Record<PartName, string>> = {
  taskset: 'util-linux',
  wrk: 'wrk',
  nginx: 'nginx',
  redis: 'redis-server',
  h2load: 'nghttp2-client',
};

/** Looks for them. @param peer - A path in place of what is on the PATH. */
export function findParts(peer: string | undefined): Parts {
  return {
    taskset: findPart('taskset').path,
    wrk: findPart('wrk').path,
    nginx: findPart('nginx').path,
    redis: findPart('redis-server').path,
    h2load: findPart('h2load').path,
    peer: peer ?? findPart('oauth2-proxy').path,
  };
}

/** Says which part a case lacks, in a sentence; `undefined` when it lacks none. */
export function describeMissing(parts: Parts, needed: readonly PartName[]): string | undefined {
  const missing = needed.filter((name) => parts[name] === undefined);
  if (missing.length === 0) return undefined;
  const packages = missing.map((name) => PACKAGES[name]).join(' ');
  return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed (apt-get install ${packages})`;
}
