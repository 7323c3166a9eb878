import { Command } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addSessionsCommand } from '../commands/sessions-command.ts';
import { createStdio } from '../terminal/stdio.ts';
import { separateIds } from './separate-ids.ts';

const RUNS = process.env['CI'] === undefined ? 500 : 5_000;
const program = new Command('sallyport').version('1');
addSessionsCommand(program, createStdio());

const separate = (line: string): string => separateIds(program, line.split(' ')).join(' ');

describe('ids of sessions revoke that begin with a dash', () => {
  it.each([
    ['sessions revoke -Vabcdef', 'sessions revoke -- -Vabcdef'],
    ['sessions revoke -habcdef abcdefgh --json', 'sessions revoke abcdefgh --json -- -habcdef'],
    ['sessions revoke --abcdef', 'sessions revoke -- --abcdef'],
    ['sessions revoke --json -- -habcdef --all', 'sessions revoke --json -- -habcdef --all'],
    ['sessions revoke -abcdefg.secret', 'sessions revoke -- -abcdefg.secret'],
  ])('%s is read as %s', (given, read) => {
    expect(separate(given)).toBe(read);
  });

  it.each([
    'sessions revoke --config file',
    'sessions revoke --issuer -abcdefg --subject -hijklmn',
    'sessions revoke --subject=-abcdefg',
    'sessions revoke -h',
    'sessions revoke --help',
    'sessions revoke abcdefgh',
    'sessions list -Vabcdef',
    'sessions',
    'login -Vabcdef',
    'revoke -Vabcdef',
  ])('%s stays as it is', (line) => {
    expect(separate(line)).toBe(line);
  });

  it('are all there afterwards, as ids, whatever stands around them', () => {
    const id = fc
      .stringMatching(/^-[\w-]{7}$/)
      .filter((each) => !/^--(?:config|issuer)$/.test(each));
    const option = fc.constantFrom(['--json'], ['--yes'], ['--config', '-xxxxxxx'], ['--all']);
    fc.assert(
      fc.property(fc.array(fc.oneof(id, option)), (parts) => {
        const read = separateIds(program, ['sessions', 'revoke', ...parts.flat()]);
        const end = read.indexOf('--');
        const ids = parts.filter((part) => typeof part === 'string');
        expect(end < 0 ? [] : read.slice(end + 1)).toEqual(ids);
        expect(read.slice(2, end < 0 ? undefined : end)).toEqual(
          parts.filter((part) => typeof part !== 'string').flat(),
        );
      }),
      { numRuns: RUNS },
    );
  });
});
