/**
 * `sallyport serve --check`, which starts nothing.
 *
 * @module
 */

import {
  type Config,
  formatConfigProblem,
  type LoadedConfig,
  redactConfig,
} from '@sallyport/config';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import { createPinoLog } from '@sallyport/server';
import { createPlainFetch } from '@sallyport/server/issuer';
import { listAcceptedAudiences } from '../admin/bearer-settings.ts';
import { type ConfigurationReader, reportProblems } from '../admin/configuration.ts';
import { checkLocalStore } from '../admin/local-store-folder.ts';
import { listAddresses } from '../admin/registered-addresses.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { systemSchedule } from '../process/system-schedule.ts';
import { endFetchWith } from '../sign-in/ending-fetch.ts';
import { findProxy } from '../sign-in/network.ts';
import { type Failure, reportFailure, toThrownFailure } from '../terminal/report.ts';
import { formatSection, joinSections } from '../terminal/sections.ts';
import { showSlowRequests } from '../terminal/slow-requests.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { type AskedIssuer, askIssuers } from './ask-issuers.ts';
import { checkSocket } from './check-socket.ts';
import { openSecrets } from './server.ts';

/** How it is asked for. */
export interface CheckOptions {
  readonly isJson: boolean;
  /** Whether the identity providers are asked, too. */
  readonly isOnline: boolean;
}

/**
 * Reads the secrets, looks at the folders of sessions and socket, asks the issuers if that is wanted, and prints the
 * configuration without secrets.
 *
 * @returns 0; 1 for a secret that cannot be read or an issuer that is another one, 5 for one that cannot be asked, 130 when it is interrupted meanwhile.
 */
export async function checkConfiguration(
  loaded: LoadedConfig,
  { file }: Pick<ConfigurationReader, 'file'>,
  { isJson, isOnline }: CheckOptions,
  stdio: Stdio,
): Promise<number> {
  const { config, notUsedHere, origins } = loaded;
  const warnings = [
    ...loaded.warnings,
    ...checkLocalStore(loaded, file),
    ...checkSocket(loaded, file),
  ];
  const secrets = openSecrets(config, createPinoLog(config.observe.logLevel, process.stderr));
  if (!secrets.ok) {
    reportProblems(secrets.error, isJson, stdio);
    return EXIT.failure;
  }
  secrets.value?.close();
  const online = isOnline ? await askInterruptibly(config, isJson) : accept(undefined);
  if (!online.ok) return reportFailure(online.error, isJson, stdio);
  const asked = online.value;
  const exitCode = toExitCode(asked ?? []);
  if (isJson) {
    stdio.out(
      JSON.stringify(
        {
          ok: exitCode === EXIT.ok,
          config: redactConfig(config),
          origins: Object.fromEntries(origins),
          notUsedHere,
          register: listAddresses(config),
          acceptedAudiences: Object.fromEntries(listAcceptedAudiences(config)),
          issuers: asked,
          warnings,
        },
        null,
        2,
      ),
    );
    return exitCode;
  }
  for (const warning of warnings) stdio.error(`warning: ${formatConfigProblem(warning)}`);
  for (const line of describeConfiguration(loaded, asked ?? [])) stdio.out(line);
  for (const { configured, outcome, detail } of asked ?? []) {
    if (outcome === 'differs') stdio.error(`issuer: ${detail}`);
    if (outcome === 'unusable')
      stdio.error(`issuer: configured ${configured}, found none: ${detail}`);
  }
  if (exitCode === EXIT.ok) stdio.out(`ok: ${countSettings(origins)}`);
  return exitCode;
}

/** Asks the issuers as the service does. On a terminal one that takes long is named, and Ctrl-C ends the wait. */
async function askInterruptibly(
  config: Config,
  isJson: boolean,
): Promise<Result<readonly AskedIssuer[], Failure>> {
  const send = createPlainFetch(systemSchedule);
  if (isJson || !process.stderr.isTTY) return accept(await askIssuers(config, send));
  const interrupted = new AbortController();
  void stopSignal().then(() => interrupted.abort());
  const shown = showSlowRequests(endFetchWith(interrupted.signal, send), {
    output: process.stderr,
    schedule: systemSchedule,
    findProxy: findServiceProxy,
  });
  const asked = await askIssuers(config, shown);
  return interrupted.signal.aborted ? refuse(toThrownFailure(undefined, true)) : accept(asked);
}

/** A service goes through the proxy of the environment only where the runtime was told to. */
function findServiceProxy(url: URL): string | undefined {
  return process.env['NODE_USE_ENV_PROXY'] === '1' ? findProxy(url, process.env) : undefined;
}

/** Its sections, an empty line after them. */
function describeConfiguration(
  { config, notUsedHere, origins }: LoadedConfig,
  asked: readonly AskedIssuer[],
): readonly string[] {
  const audiences = [...listAcceptedAudiences(config)].flatMap(([issuer, list]) =>
    list.map((audience) => [withoutUnprintable(audience), `from ${issuer}`]),
  );
  const lines = joinSections([
    formatSection('Settings that are given', [
      ...[...origins]
        .filter(([, origin]) => origin !== 'default')
        .map(([key, origin]) => [key, `from ${origin}`]),
      ...notUsedHere.map((key) => [key, 'is checked, but not used by serve']),
    ]),
    formatSection('To register at the identity provider', Object.entries(listAddresses(config))),
    formatSection('Accepted as aud of a token', audiences),
    formatSection(
      'Issuers that answered as configured',
      asked.filter(({ outcome }) => outcome === 'same').map(({ configured }) => [configured]),
    ),
  ]);
  return lines.length === 0 ? lines : [...lines, ''];
}

function countSettings(origins: LoadedConfig['origins']): string {
  const given = [...origins.values()].filter((origin) => origin !== 'default').length;
  return `${origins.size} settings, ${given} given and the others default; --json prints all`;
}

function toExitCode(asked: readonly AskedIssuer[]): number {
  if (asked.some(({ outcome }) => outcome === 'differs')) return EXIT.failure;
  return asked.every(({ outcome }) => outcome === 'same') ? EXIT.ok : EXIT.unreachable;
}
