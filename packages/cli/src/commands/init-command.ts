/**
 * `sallyport init`, as the command line has it.
 *
 * @module
 */

import { type Command, InvalidArgumentError } from 'commander';
import { runCommand } from '../terminal/run-command.ts';
import { EXIT_CODES_HELP, type Stdio } from '../terminal/stdio.ts';
import { CLIENT_IDS } from '../up/deployment.ts';

/** Declares it. It loads its code when it runs. */
export function declareInit(command: Command, stdio: Stdio): void {
  command
    .option('--public-url <url>', "the platform's public URL, or its domain")
    .option('--issuer <url>', 'issuer of the identity provider, exactly as it names itself')
    .option('--proxy <name>', 'reverse proxy to write the recipe for, or none (default: nginx)')
    .option(
      '--proxy-folder <folder>',
      'write recipe and site into this folder of the proxy, such as /etc/nginx',
    )
    .option('--port <number>', 'where serve listens on 127.0.0.1', parsePort, 8080)
    .option('--web-client-id <id>', 'client ID of the web app', CLIENT_IDS.web)
    .option('--native-client-id <id>', 'client ID of the native app', CLIENT_IDS.native)
    .option('--service-client-id <id>', 'client ID of the service app', CLIENT_IDS.service)
    .option('--client-secret-file <file>', "file that holds the web app's secret, to be copied")
    .option('--ca-file <file>', 'certificates (PEM) that the doctor is to trust, too')
    .option('--offline', 'have the doctor look at files alone')
    .option('--json', 'print as JSON, errors too')
    .addHelpText('after', `\nWhat is not given is asked for on a terminal.\n${EXIT_CODES_HELP}`)
    .action(async (folder: string, options) => {
      const { init } = await import('./init.ts');
      process.exitCode = await runCommand(
        (talk, interruption) => init(folder, options, talk, interruption),
        options.json === true,
        stdio,
      );
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port === 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 1 to 65535');
  return port;
}
