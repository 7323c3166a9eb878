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

/** Adds `login`, `logout`, `whoami`, `status`, `token` and `completion`. Each loads its code when it runs. */
export function addClientCommands(program: Command, stdio: Stdio): void {
  const add = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS })
      .showHelpAfterError(`(sallyport ${name} --help shows the options)`)
      .addHelpText('after', EXIT_CODES_HELP);
  const run = async (
    options: { readonly json?: boolean },
    command: (talk: Stdio, interruption: Interruption) => Promise<ExitCode>,
  ): Promise<void> => {
    process.exitCode = await runCommand(command, options.json === true, stdio);
  };

  withPlatform(
    add('login', 'sign in to a platform and keep the tokens'),
    'address of the platform; needed once, then it is in a profile',
  )
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
      await run(options, (talk, interruption) => login(options, talk, interruption));
    });

  withPlatform(add('logout', 'revoke and delete the tokens'))
    .option('--local', 'only delete them here')
    .option('--all', 'for every profile')
    .action(async (options) => {
      const { logout } = await import('./logout.ts');
      await run(options, (talk, interruption) => logout(options, talk, interruption));
    });

  withPlatform(add('whoami', 'ask the platform who is signed in')).action(async (options) => {
    const { whoami } = await import('./whoami.ts');
    await run(options, (talk, interruption) => whoami(options, talk, interruption));
  });

  withPlatform(
    add('status', 'show profiles, where settings come from, and whether tokens are usable'),
  )
    .option('--offline', 'send no request')
    .action(async (options) => {
      const { status } = await import('./status.ts');
      await run(options, (talk, interruption) => status(options, talk, interruption));
    });

  const token = withPlatform(add('token', 'print an access token and nothing else'));
  for (const [flags, description] of TOKEN_OPTIONS)
    if (flags.includes('<duration>')) token.option(flags, description, checkDuration);
    else token.option(flags, description);
  token.action(async (options) => {
    const { token } = await import('./token.ts');
    await run(options, (talk, interruption) => token(options, talk, interruption));
  });

  add('completion', 'print a script that completes commands and options')
    .argument('<shell>', SHELLS.join(', '), checkShell)
    .option('--json', 'print as JSON')
    .action(async (shell: Shell, options: { readonly json?: boolean }) => {
      const { writeCompletion } = await import('./completion.ts');
      const script = writeCompletion(program, shell);
      stdio.out(options.json === true ? JSON.stringify({ shell, script }) : script.trimEnd());
      process.exitCode = EXIT.ok;
    });
}

function withPlatform(command: Command, endpoint?: string): Command {
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
