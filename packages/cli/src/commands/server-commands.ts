/**
 * The commands of operators, as the command line has them.
 *
 * @module
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { BLOCKS } from '../agent/blocks.ts';
import type { Stdio } from '../terminal/stdio.ts';
import { finish } from './finish.ts';

/** Time for the reader of the log to take the last lines, once the work has ended. */
const LAST_LINES_MS = 2_000;

/** Declares `up`. It loads its code when it runs. */
export function declareUp(command: Command, stdio: Stdio): void {
  command
    .option('--port <number>', 'port of the gateway; 0 takes a free one', parsePort, 8080)
    .option(
      '--idp-port <number>',
      'port of the identity provider (default: the next one after --port)',
      parsePort,
    )
    .option('--state <folder>', 'where secrets, passwords and sessions are kept', '.sallyport')
    .option(
      '--upstream <url>',
      'put the sign-in in front of this server instead of the built-in console',
      parseUpstream,
    )
    .option(
      '--https',
      'make the public URL https: browsers then have to trust the authority it prints',
    )
    .option(
      '--cli-refresh-tokens',
      'let the command line stay signed in: the native app gets refresh tokens and asks for them',
    )
    .addOption(
      new Option(
        '--platform',
        "run the platform's services, too: programs that call one another through the gateway",
      ).conflicts('upstream'),
    )
    .option('--sign-in-as <name>', 'INSECURE: sign everybody in as ada or grace, without a page')
    .option('--json', 'one JSON object when ready instead of text')
    .action(async (options) => {
      const { up } = await import('./up.ts');
      await finish(up(options, stdio), stdio);
    });
}

/** Declares `serve`. It loads its code when it runs. */
export function declareServe(command: Command, stdio: Stdio): void {
  command
    .option('--config <file>', 'YAML file; environment variables and options win over it')
    .option('--port <number>', 'port to listen on; 0 takes a free one', parsePort)
    .option('--host <address>', 'address to listen on')
    .option('--state <folder>', 'where sessions and the key ring are kept')
    .option(
      '--check',
      'validate the configuration, say where each setting that is not a default came from, and exit',
    )
    .addOption(
      new Option('--online', '--check, and ask the identity provider who it is').implies({
        check: true,
      }),
    )
    .option('--json', 'print as JSON; with --check every setting, without secrets')
    .action(async (options) => {
      const { serve } = await import('./serve.ts');
      await finish(serve(options, stdio), stdio);
      // Log lines that are not read must not keep the process.
      if (options.check !== true) setTimeout(() => process.exit(), LAST_LINES_MS).unref();
    });
}

/** Declares `agent`. It loads its code when it runs. */
export function declareAgent(command: Command, stdio: Stdio): void {
  command
    .requiredOption('--config <file>', 'YAML file of a client; environment variables win over it')
    .addOption(
      new Option('--block <block>', 'block of the file (default: union.auth)').choices(BLOCKS),
    )
    .option('--token-file <file>', 'keep the token in this file, of mode 0600')
    .option('--header', 'write it there as the header line the platform reads')
    .option('--socket <file>', 'answer on this Unix socket, of mode 0600 in a folder of 0700')
    .option('--listen <address>', 'answer on 127.0.0.1:PORT or [::1]:PORT; 0 takes a free port')
    .option('--capability-file <file>', 'write here what requests to --listen have to show')
    .option('--metrics <address>', 'serve metrics on HOST:PORT, path /metrics')
    .option('--json', 'one JSON object when ready instead of text')
    .action(async (options) => {
      const { agent } = await import('./agent.ts');
      await finish(agent(options, stdio), stdio);
      setTimeout(() => process.exit(), LAST_LINES_MS).unref();
    });
}

/** Declares `healthcheck`. It loads its code when it runs. */
export function declareHealthcheck(command: Command, stdio: Stdio): void {
  command
    .option('--config <file>', "the service's YAML file; environment variables win over it")
    .option(
      '--url <address>',
      'ask here, http://HOST:PORT or unix:/PATH (default: where the configuration says)',
      parseProbeAddress,
    )
    .option('--live', 'ask whether it answers at all, ready or not')
    .option('--json', 'print as JSON')
    .action(async (options) => {
      const { healthcheck } = await import('./healthcheck.ts');
      await finish(healthcheck(options, stdio), stdio);
    });
}

/** Declares `inject`. It loads its code when it runs. */
export function declareInject(command: Command, stdio: Stdio): void {
  command
    .option('--config <file>', 'YAML file; only its block unionAuth is read')
    .option('--listen <address>', 'HOST:PORT to answer on, with TLS', '0.0.0.0:8443')
    .requiredOption('--tls-cert <file>', 'certificate (PEM); used anew when the file changes')
    .requiredOption('--tls-key <file>', 'its private key (PEM)')
    .option('--metrics <address>', 'serve metrics on HOST:PORT, path /metrics')
    .option(
      '--drain-delay <duration>',
      'at the end, say so at /readyz and answer as before for so long',
      '0s',
    )
    .option('--json', 'one JSON object when ready instead of text')
    .action(async (options) => {
      const { inject } = await import('./inject.ts');
      await finish(inject(options, stdio), stdio);
      setTimeout(() => process.exit(), LAST_LINES_MS).unref();
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535');
  return port;
}

function parseProbeAddress(text: string): string {
  if (/^unix:\/./.test(text)) return text;
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' || url.href !== `${url.origin}/`)
    throw new InvalidArgumentError('an address is http://HOST:PORT or unix:/PATH');
  return url.origin;
}

function parseUpstream(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' || url.pathname !== '/' || url.search !== '') {
    throw new InvalidArgumentError('an upstream is an origin such as http://localhost:3000');
  }
  return url.origin;
}
