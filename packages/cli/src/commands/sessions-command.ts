/**
 * `sallyport sessions` on the command line.
 *
 * @module
 */

import { type Command, InvalidArgumentError } from 'commander';
import type { Interruption } from '../process/interruption.ts';
import type { ExitCode } from '../terminal/report.ts';
import { runCommand } from '../terminal/run-command.ts';
import type { Stdio } from '../terminal/stdio.ts';

/** Help is wrapped down to this width of its second column. */
const MIN_HELP_COLUMNS = 24;
const LIMIT = 1_000;
const LIMIT_MAX = 100_000;
const EXIT_CODES_HELP = `
Exit codes:
  0  done, also when there was nothing to list or to end
  1  failed, not confirmed, or an id is of no session
  2  wrong usage     130  interrupted`;

/** Declares `sessions list` and `sessions revoke`. Their code is loaded when they run. */
export function declareSessions(group: Command, stdio: Stdio): void {
  const run = async (
    options: { readonly json?: boolean },
    command: (talk: Stdio, interruption: Interruption) => Promise<ExitCode>,
  ): Promise<void> => {
    process.exitCode = await runCommand(command, options.json === true, stdio);
  };
  group.configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS }).addHelpText('after', EXIT_CODES_HELP);
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS })
      .showHelpAfterError(`(sallyport sessions ${name} --help shows the options)`)
      .addHelpText('after', EXIT_CODES_HELP);

  const list = add('list', 'list sessions, the one used last first')
    .option('--subject <subject>', 'only those of this subject ("sub" at the identity provider)')
    .option('--limit <number>', 'list no more than this', parseLimit, LIMIT);
  withConfiguration(list).action(async (options) => {
    if (options.issuer !== undefined && options.subject === undefined)
      list.error('error: --issuer goes with --subject');
    const { listSessions } = await import('./sessions-list.ts');
    await run(options, (talk, interruption) => listSessions(options, talk, interruption));
  });

  const revoke = add('revoke', 'end sessions; running servers refuse them within a second')
    .argument('[ids...]', 'ids as "sallyport sessions list" shows them')
    .option('--subject <subject>', 'end every session of this subject')
    .option('--all', "end everybody's sessions")
    .option('--yes', 'do not ask whether --all is meant')
    // Ids that an earlier release issued may begin with "-". It also keeps a cookie value that was given by
    // mistake out of the error message: `parseIds` repeats no word.
    .allowUnknownOption();
  withConfiguration(revoke).action(async (words: readonly string[], options) => {
    const targets = [words.length > 0, options.subject !== undefined, options.all === true];
    if (targets.filter(Boolean).length !== 1)
      revoke.error('error: give ids, or --subject, or --all');
    if (options.issuer !== undefined && options.subject === undefined)
      revoke.error('error: --issuer goes with --subject');
    if (options.all === true && options.yes !== true && !stdio.isInteractive)
      revoke.error('error: --all needs --yes without a terminal');
    const { parseIds, revokeSessions } = await import('./sessions-revoke.ts');
    const ids = parseIds(words);
    if (!ids.ok) return revoke.error(`error: ${ids.error}`);
    const all = { ...options, ids: ids.value };
    await run(options, (talk, interruption) => revokeSessions(all, talk, interruption));
  });
}

function withConfiguration(command: Command): Command {
  return command
    .option('--issuer <url>', 'issuer of --subject (default: the one people sign in at)')
    .option('--config <file>', "the server's YAML file; environment and options win over it")
    .option('--state <folder>', 'where the server keeps sessions and the key ring')
    .option('--json', 'print as JSON, errors too');
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d{1,6}$/.test(text) || limit < 1 || limit > LIMIT_MAX)
    throw new InvalidArgumentError('a limit is a number from 1 to 100000');
  return limit;
}
