import { describe, expect, it } from 'vitest';
import { formatConfigProblem } from '../problems.ts';
import { readConfigFile } from './read-config-file.ts';

const read = (text: string) => readConfigFile({ path: 'c.yaml', text });
const problemsOf = (text: string): string[] => read(text).problems.map(formatConfigProblem);

describe('readConfigFile', () => {
  it('gives each known key its value and line, and a list its entries lines', () => {
    const { entries, blockLines, problems } = read(
      '# c\nlisten:\n  port: 80\naccess:\n  groups:\n    - a\n    - b\n',
    );
    expect(problems).toEqual([]);
    expect([...entries]).toEqual([
      ['listen.port', { value: 80, line: 3, lineOfPart: expect.any(Function) }],
      ['access.groups', { value: ['a', 'b'], line: 5, lineOfPart: expect.any(Function) }],
    ]);
    expect([...blockLines]).toEqual([
      ['listen', 2],
      ['access', 4],
    ]);
  });

  it('reads flow style the same way', () => {
    expect([...read('listen: {port: 80,\n  host: "::"}\n').entries]).toEqual([
      ['listen.port', { value: 80, line: 1, lineOfPart: expect.any(Function) }],
      ['listen.host', { value: '::', line: 2, lineOfPart: expect.any(Function) }],
    ]);
  });

  it.each(['access:\n', 'access:\n  # groups: [a]\n', 'access: ~\n'])(
    'takes a block without keys as empty: %j',
    (text) => {
      expect(problemsOf(text)).toEqual([]);
    },
  );

  it.each([
    [
      'listen: {port: 1, port: 2}\n',
      'c.yaml:1: listen.port: found the key again, first on line 1, expected every key once',
    ],
    [
      'listen:\n  port: 1\nlisten:\n  host: a\n',
      'c.yaml:3: listen: found the key again, first on line 1, expected every key once',
    ],
    [
      'x: 1\n"x": 2\n',
      'c.yaml:2: x: found the key again, first on line 1, expected every key once',
    ],
    [
      'listen: hunter2\n',
      'c.yaml:1: listen: found a string of 7 characters, expected a mapping of host, port',
    ],
    ['listen: [hunter2]\n', 'c.yaml:1: listen: found a list, expected a mapping of host, port'],
    [
      'listen.port: 80\n',
      'c.yaml:1: listen.port: found an unknown key, expected one mapping inside the other, not a name with dots',
    ],
    [
      'listen:\n  porte: hunter2\n',
      'c.yaml:2: listen.porte: found an unknown key, expected listen.port (did you mean that?)',
    ],
    ['? [a]\n: 1\n', 'c.yaml:1: found a key that is no text, expected text as key'],
    ['<<: {port: 1}\n', 'c.yaml:1: "<<": found an unknown key, expected a documented key'],
    ['__proto__: 1\n', 'c.yaml:1: __proto__: found an unknown key, expected a documented key'],
    ['1: 1\n', 'c.yaml:1: 1: found an unknown key, expected a documented key'],
  ])('%j', (text, line) => {
    expect(problemsOf(text)).toContain(line);
  });

  it('keeps the first of a repeated key and reads on', () => {
    const { entries, problems } = read('publicUrl: a\npublicUrl: b\nemailTrusted: true\n');
    expect(problems).toHaveLength(1);
    expect(entries.get('publicUrl')?.value).toBe('a');
    expect(entries.get('emailTrusted')?.value).toBe(true);
  });

  it('knows that nothing is known under a block that is no mapping', () => {
    expect([...read('listen: 80\n').brokenBlocks]).toEqual(['listen']);
    expect(read('[\n').isReadable).toBe(false);
  });
});
