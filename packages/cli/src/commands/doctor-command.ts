/**
 * `sallyport doctor`, as the command line has it.
 *
 * @module
 */

import type { ProbeGroup } from '@sallyport/doctor';
import { isLoopbackHost } from '@sallyport/protocol';
import { type Command, InvalidArgumentError } from 'commander';
import { runCommand } from '../terminal/run-command.ts';
import { EXIT_CODES_HELP, type Stdio } from '../terminal/stdio.ts';
import { isDurationOption } from './token-options.ts';

/** Declares it. It loads its code when it runs. */
export function declareDoctor(command: Command, stdio: Stdio): void {
  command.registeredArguments[0]?.argParser(parseUrl);
  command
    .option('--config <file>', "the admin service's YAML file; environment variables win over it")
    .option(
      '--client-config <file>',
      'YAML file of a client or an internal service; may be given several times',
      (file: string, files: readonly string[] | undefined): readonly string[] => [
        ...(files ?? []),
        file,
      ],
    )
    .option('--cluster', 'look at the Secrets of a cluster as well, through kubectl')
    .option('--context <name>', 'the context of kubectl; implies --cluster')
    .option('--manifests <file>', 'look at manifests in a file (YAML), in place of a cluster')
    .option('--nginx <file>', 'look at a configuration of nginx, or at what nginx -T writes')
    .option('--control-plane-namespace <name>', 'namespace (default: cloud-cp)')
    .option('--data-plane-namespace <name>', 'namespace (default: cloud)')
    .option('--only <groups>', 'report these groups alone, joined by commas')
    .option('--skip <groups>', 'leave these groups out')
    .option('--timeout <duration>', 'end after this time (default: 60s)', checkDuration)
    .option('--ca-file <file>', 'certificates (PEM) to trust beside those of the system')
    .option('--offline', 'look at files alone; send no request')
    .option('--strict', 'a warning is a fault, too')
    .option('--json', 'print as JSON')
    .addHelpText('after', EXIT_CODES_HELP)
    .action(async (url: string | undefined, { only, skip, ...options }) => {
      const { doctor, parseGroups } = await import('./doctor.ts');
      const groups = (flag: string, text: string | undefined): readonly ProbeGroup[] => {
        if (text === undefined) return [];
        const parsed = parseGroups(text);
        return parsed.ok
          ? parsed.value
          : command.error(`error: ${flag} takes some of ${parsed.error}`);
      };
      const chosen = { ...options, only: groups('--only', only), skip: groups('--skip', skip) };
      process.exitCode = await runCommand(
        (talk, interruption) => doctor(url ?? '', chosen, talk, interruption),
        options.json === true,
        stdio,
      );
    });
}

/** Without a scheme it is https, and on this machine http. */
function parseUrl(text: string): string {
  const hasScheme = /^https?:\/\//i.test(text);
  // Another scheme would be taken for a host; behind the colon of a host stands its port.
  const isBare = !/^[a-z][a-z0-9+.-]*:(?!\d+(?:\/|$))/i.test(text);
  const url = hasScheme || isBare ? URL.parse(hasScheme ? text : `https://${text}`) : null;
  if (!hasScheme && url !== null && isLoopbackHost(url.hostname)) return parseUrl(`http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('an address is written like https://platform.example.com');
  return url.origin;
}

function checkDuration(text: string): string {
  if (!isDurationOption(text) || !/[1-9]/.test(text))
    throw new InvalidArgumentError(
      'a duration longer than nothing is written like 90s, 5m or 1h30m',
    );
  return text;
}
