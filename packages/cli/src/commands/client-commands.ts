/**
 * The commands of people and scripts, as the command line has them.
 *
 * @module
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Interruption } from '../process/interruption.ts';
import type { ExitCode } from '../terminal/report.ts';
import { runCommand } from '../terminal/run-command.ts';
import { EXIT, EXIT_CODES_HELP, type Stdio } from '../terminal/stdio.ts';
import { SHELLS, type Shell } from './shells.ts';
import { isDurationOption, PLATFORM_OPTIONS, TOKEN_OPTIONS } from './token-options.ts';

/** Help is wrapped down to this width of its second column. */
const MIN_HELP_COLUMNS = 24;

/** Declares `login`. It loads its code when it runs. */
export function declareLogin(command: Command, stdio: Stdio): void {
  withPlatform(command, 'address of the platform; needed once, then it is in a profile')
    .addOption(
      new Option('--flow <flow>', 'how to sign in')
        .choices(['auto', 'pkce', 'device'])
        .default('auto'),
    )
    .option('--no-browser', 'open no browser; the address is printed anyway')
    .option('--browser <command>', 'open the address with this command; %s stands for it')
    .option('--timeout <duration>', 'give up after this time (default: 180s)', checkDuration)
    .option('--qr', 'also show the address as a QR code, on a terminal')
    .action(async (options) => {
      const { login } = await import('./login.ts');
      await run(options, stdio, (talk, interruption) => login(options, talk, interruption));
    });
}

/** Declares `logout`. It loads its code when it runs. */
export function declareLogout(command: Command, stdio: Stdio): void {
  withPlatform(command)
    .option('--local', 'only delete them here')
    .option('--all', 'for every profile')
    .action(async (options) => {
      const { logout } = await import('./logout.ts');
      await run(options, stdio, (talk, interruption) => logout(options, talk, interruption));
    });
}

/** Declares `whoami`. It loads its code when it runs. */
export function declareWhoami(command: Command, stdio: Stdio): void {
  withPlatform(command).action(async (options) => {
    const { whoami } = await import('./whoami.ts');
    await run(options, stdio, (talk, interruption) => whoami(options, talk, interruption));
  });
}

/** Declares `status`. It loads its code when it runs. */
export function declareStatus(command: Command, stdio: Stdio): void {
  withPlatform(command)
    .option('--offline', 'send no request')
    .action(async (options) => {
      const { status } = await import('./status.ts');
      await run(options, stdio, (talk, interruption) => status(options, talk, interruption));
    });
}

/** Declares `token`. It loads its code when it runs. */
export function declareToken(command: Command, stdio: Stdio): void {
  withPlatform(command);
  for (const [flags, description] of TOKEN_OPTIONS)
    if (flags.includes('<duration>')) command.option(flags, description, checkDuration);
    else command.option(flags, description);
  command.action(async (options) => {
    const { token } = await import('./token.ts');
    await run(options, stdio, (talk, interruption) => token(options, talk, interruption));
  });
}

/** Declares `completion`, whose script has all commands of the program that are declared by then. */
export function declareCompletion(command: Command, stdio: Stdio): void {
  command.registeredArguments[0]?.argParser(checkShell);
  withHelp(command)
    .option('--json', 'print as JSON')
    .action(async (shell: Shell, options: { readonly json?: boolean }) => {
      const { writeCompletion } = await import('./completion.ts');
      const script = writeCompletion(command.parent ?? command, shell);
      stdio.out(options.json === true ? JSON.stringify({ shell, script }) : script.trimEnd());
      process.exitCode = EXIT.ok;
    });
}

async function run(
  options: { readonly json?: boolean },
  stdio: Stdio,
  command: (talk: Stdio, interruption: Interruption) => Promise<ExitCode>,
): Promise<void> {
  process.exitCode = await runCommand(command, options.json === true, stdio);
}

function withHelp(command: Command): Command {
  return command
    .configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS })
    .showHelpAfterError(`(sallyport ${command.name()} --help shows the options)`)
    .addHelpText('after', EXIT_CODES_HELP);
}

function withPlatform(command: Command, endpoint?: string): Command {
  withHelp(command);
  for (const [flags, description] of PLATFORM_OPTIONS)
    command.option(
      flags,
      flags.startsWith('--endpoint ') ? (endpoint ?? description) : description,
    );
  return command;
}

/** Only looks at the form; the value is read where it is used. */
function checkDuration(text: string): string {
  if (!isDurationOption(text))
    throw new InvalidArgumentError('a duration is written like 90s, 5m or 1h30m');
  return text;
}

function checkShell(text: string): Shell {
  const shell = SHELLS.find((known) => known === text);
  if (shell === undefined) throw new InvalidArgumentError(`one of ${SHELLS.join(', ')}`);
  return shell;
}
