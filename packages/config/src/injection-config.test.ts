import { describe, expect, it } from 'vitest';
import { readInjectionConfig } from './injection-config.ts';
import { formatConfigProblem } from './problems.ts';

const read = (text: string) =>
  readInjectionConfig({ file: { path: 'inject.yaml', text }, env: {}, flags: {} });

describe('What is injected into task pods', () => {
  it('is read from a file that holds nothing else, or nothing at all', () => {
    const fallback = {
      injectSecret: true,
      secretName: 'EAGER_API_KEY',
      podLabel: 'sallyport/inject-api-key',
      namespaceLabel: 'sallyport/api-key-injection',
    };
    expect(read('')).toEqual({ ok: true, value: fallback });
    expect(read('unionAuth: {injectSecret: false, secretName: TEAM_KEY}')).toEqual({
      ok: true,
      value: { ...fallback, injectSecret: false, secretName: 'TEAM_KEY' },
    });
  });

  it('is read from a file with a wrong value elsewhere', () => {
    const text = 'publicUrl: 7\nunionAuth: {podLabel: acme/key}\n';
    expect(read(text)).toMatchObject({ ok: true, value: { podLabel: 'acme/key' } });
  });

  it.each([
    [
      'a label that is none',
      'publicUrl: 7\nunionAuth: {podLabel: "no label"}',
      /^inject\.yaml:2: unionAuth\.podLabel: /,
    ],
    [
      'a name of no Secret',
      'publicUrl: 7\nunionAuth: {secretName: "-"}',
      /^inject\.yaml:2: unionAuth\.secretName: /,
    ],
    ['a file that is no YAML', '{', /^inject\.yaml:1: /],
  ])('is refused with its own problem alone: %s', (_, text, line) => {
    const result = read(text);
    expect(result.ok ? [] : result.error.map((problem) => formatConfigProblem(problem))).toEqual([
      expect.stringMatching(line),
    ]);
  });
});
