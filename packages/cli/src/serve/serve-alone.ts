/**
 * `sallyport serve` in one process, and `--check`, which starts nothing.
 *
 * @module
 */

import { formatConfigProblem, type LoadedConfig, redactConfig } from '@sallyport/config';
import { createPinoLog } from '@sallyport/server';
import { reportProblems } from '../commands/configuration.ts';
import { stopSignal } from '../commands/stop-signal.ts';
import { EXIT, type Stdio } from '../stdio.ts';
import { announceReady } from './announce-ready.ts';
import { openSecrets, startServer } from './server.ts';

/** Serves until the process is told to stop; returns the exit code. */
export async function serveAlone(
  { config, warnings }: LoadedConfig,
  isJson: boolean,
  stdio: Stdio,
): Promise<number> {
  const log = createPinoLog(config.observe.logLevel, process.stderr);
  const secrets = openSecrets(config, log);
  if (!secrets.ok) {
    reportProblems(secrets.error, isJson, stdio);
    return EXIT.failure;
  }
  for (const warning of warnings)
    log('warn', 'configuration', { problem: formatConfigProblem(warning) });
  const { port, stop } = await startServer(config, secrets.value, log);
  // Whoever reads the line may want it to stop at once.
  const stopRequested = stopSignal();
  announceReady(config.listen.host, port, stdio);

  const signal = await stopRequested;
  log('info', 'stopping', { signal });
  await stop();
  return EXIT.ok;
}

/** Reads the secrets, prints the configuration without them, and returns the exit code. */
export function checkConfiguration(loaded: LoadedConfig, isJson: boolean, stdio: Stdio): number {
  const { config, warnings, notUsedHere, origins } = loaded;
  const secrets = openSecrets(config, createPinoLog(config.observe.logLevel, process.stderr));
  if (!secrets.ok) {
    reportProblems(secrets.error, isJson, stdio);
    return EXIT.failure;
  }
  secrets.value?.close();
  if (isJson) {
    stdio.out(
      JSON.stringify(
        {
          ok: true,
          config: redactConfig(config),
          origins: Object.fromEntries(origins),
          notUsedHere,
          warnings,
        },
        null,
        2,
      ),
    );
    return EXIT.ok;
  }
  for (const warning of warnings) stdio.error(`warning: ${formatConfigProblem(warning)}`);
  stdio.out(`ok: ${origins.size} settings read`);
  for (const [key, origin] of origins)
    if (origin !== 'default') stdio.out(`  ${key}  from ${origin}`);
  for (const key of notUsedHere) stdio.out(`  ${key}  is checked, but not used by serve`);
  return EXIT.ok;
}
