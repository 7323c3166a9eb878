/**
 * `sallyport serve --check`, which starts nothing.
 *
 * @module
 */

import { formatConfigProblem, type LoadedConfig, redactConfig } from '@sallyport/config';
import { withoutUnprintable } from '@sallyport/protocol';
import { createPinoLog } from '@sallyport/server';
import { listAcceptedAudiences } from '../admin/bearer-settings.ts';
import { type ConfigurationReader, reportProblems } from '../admin/configuration.ts';
import { checkLocalStore } from '../admin/local-store-folder.ts';
import { listAddresses } from '../admin/registered-addresses.ts';
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
 * @returns 0; 1 for a secret that cannot be read or an issuer that is another one, 5 for one that cannot be asked.
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
  const asked = isOnline ? await askIssuers(config, fetch) : undefined;
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
  const given = [...origins].filter(([, origin]) => origin !== 'default');
  stdio.out(
    `ok: ${origins.size} settings, ${given.length} given and the others default; --json prints all`,
  );
  for (const [key, origin] of given) stdio.out(`  ${key}  from ${origin}`);
  for (const key of notUsedHere) stdio.out(`  ${key}  is checked, but not used by serve`);
  for (const [name, address] of Object.entries(listAddresses(config)))
    stdio.out(`  ${name}  ${address}  is to be registered at the identity provider`);
  for (const [issuer, audiences] of listAcceptedAudiences(config))
    for (const audience of audiences)
      stdio.out(`  aud ${withoutUnprintable(audience)}  is accepted from ${issuer}`);
  for (const { configured, found, outcome, detail } of asked ?? []) {
    if (outcome === 'same') stdio.out(`  issuer  configured ${configured}, found ${found}`);
    else if (outcome === 'differs') stdio.error(`issuer: ${detail}`);
    else stdio.error(`issuer: configured ${configured}, found none: ${detail}`);
  }
  return exitCode;
}

function toExitCode(asked: readonly AskedIssuer[]): number {
  if (asked.some(({ outcome }) => outcome === 'differs')) return EXIT.failure;
  return asked.every(({ outcome }) => outcome === 'same') ? EXIT.ok : EXIT.unreachable;
}
