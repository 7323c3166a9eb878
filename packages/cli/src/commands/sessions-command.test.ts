import { Command } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStdio } from '../terminal/stdio.ts';
import { addListedCommand } from './command-list.ts';
import { declareSessions } from './sessions-command.ts';
import { parseIds } from './sessions-revoke.ts';

const RUNS = process.env['CI'] === undefined ? 200 : 2_000;
const STDIO = createStdio();

interface ReadLine {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** Reads a command line as `sallyport` does; `sessions revoke` itself does not run. */
async function read(args: readonly string[]): Promise<ReadLine> {
  const program = new Command('sallyport').version('1').exitOverride();
  const sessions = addListedCommand(program, 'sessions');
  declareSessions(sessions, STDIO);
  const revoke = sessions.commands.find((command) => command.name() === 'revoke');
  let line: ReadLine | undefined;
  revoke?.action((words: readonly string[], options) => {
    line = { words, options };
  });
  await program.parseAsync(['sessions', 'revoke', ...args], { from: 'user' });
  if (line === undefined) throw new TypeError('revoke did not run');
  return line;
}

describe('The ids of sessions revoke', () => {
  it.each([
    ['-habcdef abcdefgh --json', ['-habcdef', 'abcdefgh'], { json: true }],
    ['--abcdef', ['--abcdef'], {}],
    ['abcdefgh -abcdefg --config file', ['abcdefgh', '-abcdefg'], { config: 'file' }],
    ['-- -Vabcdef', ['-Vabcdef'], {}],
    ['--json -- -habcdef --all', ['-habcdef', '--all'], { json: true }],
    ['--issuer -abcdefg --subject -hijklmn', [], { issuer: '-abcdefg', subject: '-hijklmn' }],
    ['--subject=-abcdefg', [], { subject: '-abcdefg' }],
  ])('may begin with a dash, and options stay options: %s', async (line, words, options) => {
    expect(await read(line.split(' '))).toEqual({ words, options });
  });

  it('are all read, in their order, whatever options stand between them', async () => {
    const id = fc
      .stringMatching(/^[\w-]{8}$/)
      .filter((each) => !/^-V|^--(?:config|issuer)$/.test(each));
    const option = fc.constantFrom(['--json'], ['--yes'], ['--config', '-xxxxxxx'], ['--all']);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(id, option)), async (parts) => {
        const { words } = await read(parts.flat());
        expect(words).toEqual(parts.filter((part) => typeof part === 'string'));
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['-abcdefg.AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE', 'neither an option nor a session id'],
    ['abcdefgh.AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE', 'no session id'],
    ['--dry-run', 'neither an option nor a session id'],
  ])('are eight characters: %s is refused and not repeated', async (word, found) => {
    const { words } = await read(['abcdefgh', word]);
    const ids = parseIds(words);
    expect(ids).toEqual({
      ok: false,
      error: `argument 2 is ${found}: give the eight characters of the ID column`,
    });
  });
});
