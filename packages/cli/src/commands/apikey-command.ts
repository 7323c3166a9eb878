/**
 * `sallyport apikey` on the command line.
 *
 * @module
 */

import { type Command, InvalidArgumentError } from 'commander';
import type { ExitCode } from '../terminal/report.ts';
import { runCommand } from '../terminal/run-command.ts';
import { EXIT_CODES_HELP, type Stdio } from '../terminal/stdio.ts';
import { withAdministrator } from './administrator-options.ts';

/** Help is wrapped down to this width of its second column. */
const MIN_HELP_COLUMNS = 24;
/** RFC 1123 section 2.1, which Kubernetes asks of a namespace. */
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Declares `apikey create`, `list`, `inspect` and `revoke`. Their code is loaded when they run. */
export function declareApiKey(group: Command, stdio: Stdio): void {
  const run = async (
    options: { readonly json?: boolean },
    command: (talk: Stdio) => Promise<ExitCode>,
  ): Promise<void> => {
    process.exitCode = await runCommand(command, options.json === true, stdio);
  };
  group.configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS }).addHelpText('after', EXIT_CODES_HELP);
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS })
      .showHelpAfterError(`(sallyport apikey ${name} --help shows the options)`)
      .addHelpText('after', EXIT_CODES_HELP);

  const create = withState(add('create', 'issue a key, with a client of its own; shown once'))
    .requiredOption('--organization <name>', 'organization that the key is for')
    .requiredOption('--cluster <name>', 'cluster whose task pods get it')
    .option(
      '--endpoint <host>',
      'host of the platform, without port (default: that of its public URL)',
    )
    .option('--out <file>', 'write to this new file, of mode 0600, instead of stdout')
    .option('--manifest', 'write a Kubernetes Secret that holds the key')
    .option(
      '--secret-name <name>',
      'with --manifest: the setting unionAuth.secretName',
      'EAGER_API_KEY',
    )
    .option('--namespace <name>', 'with --manifest: namespace of the Secret', parseNamespace);
  create.action(async (options) => {
    if (options.manifest !== true && options.namespace !== undefined)
      create.error('error: --namespace goes with --manifest');
    const { createApiKey } = await import('./apikey-create.ts');
    await run(options, (talk) => createApiKey(options, talk));
  });

  withState(add('list', 'list the keys, the oldest first; shows nothing secret')).action(
    async (options) => {
      const { listApiKeys } = await import('./apikey-list.ts');
      await run(options, (talk) => listApiKeys(options, talk));
    },
  );

  const inspect = add('inspect', 'decode a key from stdin or a file, without its secret')
    .option('--file <file>', 'read this file instead of stdin')
    .option('--json', 'print as JSON, errors too');
  inspect.action(async (options) => {
    if (options.file === undefined && process.stdin.isTTY)
      inspect.error('error: give the key on stdin, or its file with --file');
    const { inspectApiKey } = await import('./apikey-inspect.ts');
    await run(options, (talk) => inspectApiKey(options, process.stdin, talk));
  });

  withState(add('revoke', 'end one key; it gets no token from then on'))
    .argument('<client-id>', 'as "sallyport apikey list" shows it')
    .action(async (clientId: string, options) => {
      const { revokeApiKey } = await import('./apikey-revoke.ts');
      await run(options, (talk) => revokeApiKey(clientId, options, talk));
    });
}

function withState(command: Command): Command {
  return withAdministrator(
    command
      .option('--state <folder>', 'state folder of the running "sallyport up"', '.sallyport')
      .option('--issuer <url>', 'realm of a Keycloak in its place')
      .option('--public-url <url>', "with --issuer: the platform's public URL")
      .option('--ca-file <file>', 'certificates (PEM) to trust beside those of the system')
      .option(
        '--dangerously-allow-plain-http',
        'send secrets to an http issuer of another machine',
      ),
  ).option('--json', 'print as JSON, errors too');
}

function parseNamespace(text: string): string {
  if (!NAMESPACE.test(text))
    throw new InvalidArgumentError('a namespace is 1 to 63 lower-case letters, digits and "-"');
  return text;
}
