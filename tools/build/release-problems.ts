/**
 * Reasons not to publish.
 *
 * @module
 */

import type { Manifest } from './packed-manifest.ts';

/** What a release is made from. */
export interface ReleaseSources {
  /** package.json of every published package. */
  readonly manifests: readonly Pick<Manifest, 'name' | 'version'>[];
  /** CHANGELOG.md. */
  readonly changelog: string;
  /** See `readGitHead`. */
  readonly gitHead: string | undefined;
}

/** A release of Semantic Versioning, with or without a pre-release. */
const VERSION = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?$/;

/** Finds them. @returns A sentence each; empty when the release may go out. */
export function findReleaseProblems({
  manifests,
  changelog,
  gitHead,
}: ReleaseSources): readonly string[] {
  const versions = [...new Set(manifests.map(({ version }) => version))];
  const problems: string[] = [];
  if (versions.length !== 1)
    problems.push(`The packages have different versions: ${versions.join(', ')}.`);
  for (const version of versions) {
    if (!VERSION.test(version)) problems.push(`"${version}" is no version of SemVer.`);
    if (!changelog.split('\n').some((line) => line.startsWith(`## [${version}]`)))
      problems.push(`CHANGELOG.md has no section for ${version}.`);
  }
  if (gitHead === undefined) problems.push('The commit is unknown.');
  else if (gitHead.endsWith('-modified')) problems.push('Tracked files differ from the commit.');
  return problems;
}
