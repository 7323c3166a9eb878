/**
 * `sallyport idp` on the command line.
 *
 * @module
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { CONTROL_PLANE_SECRET, PROVIDERS } from '../idp/providers.ts';
import type { SetupOptions } from '../idp/setup-options.ts';
import type { Interruption } from '../process/interruption.ts';
import type { ExitCode } from '../terminal/report.ts';
import { runCommand } from '../terminal/run-command.ts';
import { EXIT_CODES_HELP, type Stdio } from '../terminal/stdio.ts';
import { CLIENT_IDS } from '../up/deployment.ts';
import { withAdministrator } from './administrator-options.ts';

/** Help is wrapped down to this width of its second column. */
const MIN_HELP_COLUMNS = 24;

/** Declares `idp plan`, `apply`, `check` and `destroy`. Their code is loaded when they run. */
export function declareIdp(group: Command, stdio: Stdio): void {
  group.configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS }).addHelpText('after', EXIT_CODES_HELP);
  const add = (name: string, description: string): Command =>
    withSetup(
      group
        .command(name)
        .description(description)
        .configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS })
        .showHelpAfterError(`(sallyport idp ${name} --help shows the options)`)
        .addHelpText('after', EXIT_CODES_HELP),
    );
  const run = async (
    options: { readonly json?: boolean },
    command: (talk: Stdio, interruption: Interruption) => Promise<ExitCode>,
  ): Promise<void> => {
    process.exitCode = await runCommand(command, options.json === true, stdio);
  };

  withRealm(add('plan', 'show what apply would do; changes nothing')).action(
    async (options: SetupOptions) => {
      const { planIdp } = await import('./idp-plan.ts');
      await run(options, (talk, interruption) => planIdp(options, talk, interruption));
    },
  );
  withRealm(add('apply', 'set the applications up, and write secrets and deployment variables'))
    .option('--yes', 'do not ask')
    .option('--manifests', 'write the secrets as one file of Kubernetes manifests')
    .option(
      '--control-plane-secret <name>',
      "name of the Secret of the control plane's services",
      parseSecretName,
      CONTROL_PLANE_SECRET,
    )
    .action(async (options) => {
      const { applyIdp } = await import('./idp-apply.ts');
      await run(options, (talk, interruption) => applyIdp(options, talk, interruption));
    });
  withAdministrator(add('check', 'prove by use that each application has its grants and no other'))
    .option('--service-scope <scope>', 'scope of service tokens (default: all)')
    .option('--state <folder>', 'with embedded: state folder of "sallyport up"', '.sallyport')
    .action(async (options) => {
      const { checkIdp } = await import('./idp-check.ts');
      await run(options, (talk, interruption) => checkIdp(options, talk, interruption));
    });
  withAdministrator(add('destroy', 'remove what apply made, and nothing else'))
    .option('--yes', 'do not ask')
    .action(async (options) => {
      const { destroyIdp } = await import('./idp-destroy.ts');
      await run(options, (talk, interruption) => destroyIdp(options, talk, interruption));
    });
}

function withSetup(command: Command): Command {
  return command
    .addOption(
      new Option('--provider <name>', 'identity provider')
        .choices(PROVIDERS)
        .makeOptionMandatory(true),
    )
    .option('--public-url <url>', "the platform's public URL (needed but with embedded)")
    .option('--issuer <url>', 'issuer; of Keycloak the address of the realm')
    .option('--web-client-id <id>', 'client ID of the web app', CLIENT_IDS.web)
    .option('--native-client-id <id>', 'client ID of the native app', CLIENT_IDS.native)
    .option('--service-client-id <id>', 'client ID of the service app', CLIENT_IDS.service)
    .option(
      '--further-service <id>',
      'client ID of a service app for one component; may be repeated',
      (id: string, before: readonly string[] | undefined) => [...(before ?? []), id],
    )
    .option('--cli-refresh-tokens', 'let the native app have refresh tokens (offline_access)')
    .option('--out <folder>', 'folder of secrets and deployment variables', 'idp')
    .option('--ca-file <file>', 'certificates (PEM) to trust beside those of the system')
    .option('--dangerously-allow-plain-http', 'send secrets to an http issuer of another machine')
    .option('--json', 'print as JSON, errors too');
}

function withRealm(command: Command): Command {
  return withAdministrator(command)
    .option('--create-realm', 'make the Keycloak realm if it is not there')
    .option(
      '--rotate-refresh-tokens',
      'make every refresh token of the Keycloak realm good for one use, of other clients too',
    );
}

function parseSecretName(text: string): string {
  if (!/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(text))
    throw new InvalidArgumentError('a Secret is named in lower-case letters, digits, "-" and "."');
  return text;
}
