/**
 * The command line: all commands, and how a wrong one ends.
 *
 * @module
 */

import { Command } from 'commander';
import { describeVersion } from '../process/version.ts';
import { createStdio, EXIT, EXIT_CODES_HELP, type Stdio } from '../terminal/stdio.ts';
import { addListedCommand, COMMAND_NAMES, formatTerm } from './command-list.ts';

/** Width of help that no terminal shows. */
const COLUMNS = 80;

/** Runs the command that the words name. Each command loads its code when it runs. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const stdio = createStdio();
  const program = createProgram(stdio);
  await addCommands(program, words, stdio);
  await program.parseAsync([...words], { from: 'user' });
}

/**
 * Adds every command of the list, and declares those that a word of the command line names: no other one can be run
 * or asked for its help.
 *
 * @param words - The command line.
 */
export async function addCommands(
  program: Command,
  words: readonly string[],
  stdio: Stdio,
): Promise<void> {
  // A script that completes has the options of all.
  const isAll = words.includes('completion');
  const commands = COMMAND_NAMES.map((name) => ({
    name,
    command: addListedCommand(program, name),
  }));
  // Set after they were added: a command takes its parent's settings over when it is added, and below it all is declared.
  program.configureHelp({ subcommandTerm: formatTerm });
  const named = commands.filter(({ name }) => isAll || words.includes(name));
  if (named.length === 0) return;
  const { DECLARATIONS } = await import('./declarations.ts');
  for (const { name, command } of named) await DECLARATIONS[name](command, stdio);
}

function createProgram(stdio: Stdio): Command {
  const program = new Command('sallyport');
  return (
    program
      .description('Sign-in in front of a self-hosted workflow platform')
      // Not `version()`, which takes the text: that is put together from files.
      .option('-V, --version', 'output the version number')
      .on('option:version', () => {
        refuseJoinedVersion(program);
        stdio.out(describeVersion());
        process.exit(EXIT.ok);
      })
      .configureOutput({
        writeOut: (text) => stdio.out(text.replace(/\n$/, '')),
        getOutHelpWidth: () => (stdio.isTerminal ? process.stdout.columns : COLUMNS),
        // No text has colours.
        getOutHasColors: () => false,
      })
      .showHelpAfterError()
      .addHelpText('after', EXIT_CODES_HELP)
      .exitOverride((error) => {
        if (error.exitCode === 0) process.exit(EXIT.ok);
        if (process.argv.includes('--json'))
          stdio.out(JSON.stringify({ ok: false, error: 'usage', description: error.message }));
        process.exit(EXIT.usage);
      })
  );
}

/**
 * Ends the process with a usage error where the version was asked for by a joined flag such as `-Vabcdef`: that
 * may be a session id that an earlier release issued, and a script would take exit code 0 for "revoked".
 */
function refuseJoinedVersion(program: Command): void {
  if (!process.argv.some((word) => word === '-V' || word === '--version'))
    program.error('error: put "--" before a session id that begins with "-V"');
}
