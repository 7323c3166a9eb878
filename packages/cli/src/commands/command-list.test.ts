import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createStdio } from '../terminal/stdio.ts';
import { addListedCommand, COMMAND_NAMES, type CommandName, formatTerm } from './command-list.ts';
import { DECLARATIONS } from './declarations.ts';
import { addCommands } from './program.ts';

const STDIO = createStdio();

const createProgram = (width: number): Command =>
  new Command('sallyport').configureOutput({ getOutHelpWidth: () => width });

/** The list of commands as `--help` has it before any of them is declared. */
function listUndeclared(width: number): string {
  const program = createProgram(width);
  for (const name of COMMAND_NAMES) addListedCommand(program, name);
  return program.configureHelp({ subcommandTerm: formatTerm }).helpInformation();
}

/** The list of commands as commander makes it from their declarations. */
async function listDeclared(
  width: number,
  change: (name: CommandName, command: Command) => void = () => {},
): Promise<string> {
  const program = createProgram(width);
  for (const name of COMMAND_NAMES) {
    const command = addListedCommand(program, name);
    await DECLARATIONS[name](command, STDIO);
    change(name, command);
  }
  return program.helpInformation();
}

/** Names of the commands that have options or commands below them once a command line was read. */
async function findDeclared(...words: readonly string[]): Promise<readonly string[]> {
  const program = createProgram(80);
  await addCommands(program, words, STDIO);
  return program.commands
    .filter(({ options, commands }) => options.length + commands.length > 0)
    .map((command) => command.name());
}

describe('The list of commands', () => {
  it.each([40, 80, 200])(
    'says of each the same as its declaration, %d columns wide',
    async (width) => {
      expect(listUndeclared(width)).toBe(await listDeclared(width));
    },
  );

  it.each<[string, CommandName, (command: Command) => void]>([
    ['an argument', 'up', (command) => command.argument('[folder]')],
    ['options of a group', 'sessions', (command) => command.option('--json')],
    ['another text', 'token', (command) => command.description('print a token')],
  ])('differs from declarations with %s more', async (_, changed, change) => {
    const list = await listDeclared(80, (name, command) => {
      if (name === changed) change(command);
    });
    expect(listUndeclared(80)).not.toBe(list);
  });
});

describe('The command line', () => {
  it.each([[[]], [['--help']], [['help']], [['bogus', '--help']], [['--version']]])(
    'declares no command for %j',
    async (words) => {
      expect(await findDeclared(...words)).toEqual([]);
    },
  );

  it.each(COMMAND_NAMES.filter((name) => name !== 'completion'))(
    'declares of all commands %s alone where a word names it, wherever that stands',
    async (name) => {
      expect(await findDeclared(name, '--help')).toEqual([name]);
      expect(await findDeclared('help', name)).toEqual([name]);
      expect(await findDeclared('--', name)).toEqual([name]);
    },
  );

  it('declares every command for completion, whose script has the options of all', async () => {
    expect(await findDeclared('completion', 'bash')).toEqual(COMMAND_NAMES);
  });
});
