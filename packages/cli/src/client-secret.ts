/**
 * Secrets from their files, as the relying party and the introspection of tokens need them.
 *
 * @module
 */

import {
  type Config,
  type ConfigProblem,
  formatConfigProblem,
  openSecretFile,
  rereadEvery,
  type SecretFile,
} from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Log } from '@sallyport/server';

/** A changed file is used within this time; a mounted Kubernetes Secret takes longer itself. */
const REREAD_MS = 2_000;

/** The secrets of a running admin service, each current at every reading. */
export interface ServerSecrets {
  readonly webClient: () => string;
  /** Absent where no introspection endpoint is configured. */
  readonly introspection: (() => string) | undefined;
  close(): void;
}

/** Opens every secret that a configuration names; tells of all that cannot be. */
export function openServerSecrets(
  config: Config,
  log: Log,
): Result<ServerSecrets, readonly ConfigProblem[]> {
  const { endpoint, clientSecretFile } = config.bearer.introspection;
  const webClient = openClientSecret(config.auth.userAuth.openId.clientSecretFile, log);
  const introspection =
    endpoint === ''
      ? accept(undefined)
      : open(clientSecretFile, 'bearer.introspection.clientSecretFile', 'client_secret', log);
  if (webClient.ok && introspection.ok) {
    const introspectionFile = introspection.value;
    return accept({
      webClient: () => webClient.value.current(),
      introspection:
        introspectionFile === undefined ? undefined : () => introspectionFile.current(),
      close() {
        webClient.value.close();
        introspectionFile?.close();
      },
    });
  }
  const problems: ConfigProblem[] = [];
  for (const each of [webClient, introspection]) {
    if (each.ok) each.value?.close();
    else problems.push(each.error);
  }
  return refuse(problems);
}

/** Opens the web application's; what goes wrong later is logged, and the last good value stays. */
export function openClientSecret(path: string, log: Log): Result<SecretFile, ConfigProblem> {
  return open(path, 'auth.userAuth.openId.clientSecretFile', 'oidc_client_secret', log);
}

function open(
  path: string,
  key: string,
  secretKey: 'oidc_client_secret' | 'client_secret',
  log: Log,
): Result<SecretFile, ConfigProblem> {
  return openSecretFile({
    path,
    key,
    secretKey,
    trigger: rereadEvery(REREAD_MS),
    onProblem: (problem) => log('error', 'secret_file', { problem: formatConfigProblem(problem) }),
    onWarning: (problem) => log('warn', 'secret_file', { problem: formatConfigProblem(problem) }),
  });
}
