import { Command } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStdio } from '../terminal/stdio.ts';
import { declareToken } from './client-commands.ts';
import { addListedCommand } from './command-list.ts';
import {
  isDurationOption,
  PLATFORM_OPTIONS,
  readTokenOptions,
  TOKEN_OPTIONS,
} from './token-options.ts';

const STDIO = createStdio();

/** What the command line makes of the words; `undefined` where it refuses them. */
function readByCommandLine(words: readonly string[]): Record<string, unknown> | undefined {
  const program = new Command('sallyport').exitOverride();
  const token = addListedCommand(program, 'token');
  declareToken(token, STDIO);
  let read: Record<string, unknown> | undefined;
  token.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  token.action((options: Record<string, unknown>) => {
    read = options;
  });
  try {
    program.parse(['token', ...words], { from: 'user' });
  } catch {
    return undefined;
  }
  return read;
}

const FLAGS = [...PLATFORM_OPTIONS, ...TOKEN_OPTIONS].map(([flags]) => flags.split(' ')[0] ?? '');
const ANY_WORD = fc.oneof(
  fc.constantFrom(...FLAGS),
  fc.constantFrom(
    '5m',
    '1h30m',
    '1d',
    '-',
    '--',
    '--help',
    '-h',
    '--profile=x',
    '--head',
    '',
    'word',
  ),
);

describe('The short way of `sallyport token`', () => {
  it('reads options as the command line does, or leaves them to it', () => {
    fc.assert(
      fc.property(fc.array(ANY_WORD, { maxLength: 6 }), (words) => {
        const short = readTokenOptions(words);
        if (short === undefined) return;
        const full = readByCommandLine(words);
        // A duration of the wrong form is refused there, and left to it here, once it is read.
        if (short.minTtl !== undefined && !isDurationOption(short.minTtl))
          expect(full).toBeUndefined();
        else expect({ login: true, ...short }).toEqual(full);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [[]],
    [['--header']],
    [['--min-ttl', '30m', '--json']],
    [['--no-login', '--profile', 'p']],
  ])('takes %j', (words) => {
    expect(readTokenOptions(words)).toBeDefined();
  });

  it.each([
    [['--help']],
    [['--header=x']],
    [['--profile']],
    [['--profile', '--json']],
    [['--profile', '']],
    [['word']],
    [['--']],
    [['__proto__']],
  ])('leaves %j to the command line', (words) => {
    expect(readTokenOptions(words)).toBeUndefined();
  });
});
