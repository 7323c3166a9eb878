import { describe, expect, it } from 'vitest';
import { findReleaseProblems, type ReleaseSources } from './release-problems.ts';

const GOOD: ReleaseSources = {
  manifests: [
    { name: 'sallyport', version: '0.1.0' },
    { name: '@sallyport/client', version: '0.1.0' },
  ],
  changelog: '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-23\n',
  gitHead: 'a'.repeat(40),
};

describe('findReleaseProblems', () => {
  it('finds none in one version that the changelog describes, from a commit', () => {
    expect(findReleaseProblems(GOOD)).toEqual([]);
  });

  it.each<[string, Partial<ReleaseSources>, string]>([
    [
      'two versions',
      { manifests: [...GOOD.manifests, { name: 'x', version: '0.2.0' }] },
      'different versions: 0.1.0, 0.2.0',
    ],
    ['a version without a section', { changelog: '## [0.1.0-rc.1]\n' }, 'no section for 0.1.0'],
    ['a version of another form', { manifests: [{ name: 'x', version: '01.0' }] }, 'no version'],
    ['an unknown commit', { gitHead: undefined }, 'commit is unknown'],
    ['changed files', { gitHead: `${'a'.repeat(40)}-modified` }, 'differ from the commit'],
  ])('refuses %s', (_, change, sentence) => {
    expect(findReleaseProblems({ ...GOOD, ...change }).join('\n')).toContain(sentence);
  });
});
