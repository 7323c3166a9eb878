/**
 * The command line: all commands, and how a wrong one ends.
 *
 * @module
 */

import { Command } from 'commander';
import { describeVersion } from '../process/version.ts';
import { createStdio, EXIT, EXIT_CODES_HELP, type Stdio } from '../terminal/stdio.ts';
import { addApiKeyCommand } from './apikey-command.ts';
import { addClientCommands } from './client-commands.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addIdpCommand } from './idp-command.ts';
import { addInitCommand } from './init-command.ts';
import { addKeyCommands } from './key-commands.ts';
import { addRecipeCommand } from './recipe.ts';
import { addServerCommands } from './server-commands.ts';
import { addSessionsCommand } from './sessions-command.ts';

/** Width of help that no terminal shows. */
const COLUMNS = 80;

/** Runs the command that the words name. Each command loads its code when it runs. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const stdio = createStdio();
  const program = createProgram(stdio);
  addInitCommand(program, stdio);
  addServerCommands(program, stdio);
  addKeyCommands(program, stdio);
  addSessionsCommand(program, stdio);
  addApiKeyCommand(program, stdio);
  addIdpCommand(program, stdio);
  await addRecipeCommand(program, words, stdio);
  addDoctorCommand(program, stdio);
  addClientCommands(program, stdio);
  await program.parseAsync([...words], { from: 'user' });
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
