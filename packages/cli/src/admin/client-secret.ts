/**
 * Secrets and keys from their files, as the relying party and the introspection of tokens need them.
 *
 * @module
 */

import {
  type Config,
  type ConfigProblem,
  formatConfigProblem,
  openKeyFile,
  openSecretFile,
  rereadEvery,
  type SecretFile,
  type SecretFileOptions,
} from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { type ClientKey, parseClientKey } from '@sallyport/server';
import { createAudit, type Log, NO_PRINCIPAL, NO_REQUEST } from '@sallyport/server/observe';

/** A changed file is used within this time; a mounted Kubernetes Secret takes longer itself. */
const REREAD_MS = 2_000;

/** What the web application proves itself by: its secret, or its private key in the secret's place. */
export type WebClientSecret =
  | { readonly method: 'client_secret'; readonly secret: () => string }
  | { readonly method: 'private_key_jwt'; readonly key: () => ClientKey };

/** The secrets of a running admin service, each current at every reading. */
export interface ServerSecrets {
  readonly webClient: WebClientSecret;
  /** Absent where no introspection endpoint is configured. */
  readonly introspection: (() => string) | undefined;
  close(): void;
}

/** Opens every secret that a configuration names; returns a problem for each that cannot be read. */
export function openServerSecrets(
  config: Config,
  log: Log,
): Result<ServerSecrets, readonly ConfigProblem[]> {
  const { endpoint, clientSecretFile } = config.bearer.introspection;
  const webClient = openWebClient(config, log);
  const introspection =
    endpoint === ''
      ? accept(undefined)
      : open(clientSecretFile, 'bearer.introspection.clientSecretFile', 'client_secret', log);
  if (webClient.ok && introspection.ok) {
    const introspectionFile = introspection.value;
    return accept({
      webClient: webClient.value.secret,
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

interface OpenWebClient {
  readonly secret: WebClientSecret;
  close(): void;
}

/** Opens the file of the configured method; the other one is not looked at. */
function openWebClient(config: Config, log: Log): Result<OpenWebClient, ConfigProblem> {
  const { clientAuthentication, clientSecretFile, privateKeyLocation } =
    config.auth.userAuth.openId;
  switch (clientAuthentication) {
    case 'client_secret': {
      const file = openClientSecret(clientSecretFile, log);
      if (!file.ok) return file;
      const secret = { method: clientAuthentication, secret: () => file.value.current() };
      return accept({ secret, close: () => file.value.close() });
    }
    case 'private_key_jwt': {
      const file = openKeyFile({
        path: privateKeyLocation,
        key: 'auth.userAuth.openId.privateKeyLocation',
        secretKey: 'oidc_private_key',
        trigger: rereadEvery(REREAD_MS),
        ...logSecretFile(log, 'auth.userAuth.openId.privateKeyLocation'),
        parse: parseClientKey,
      });
      if (!file.ok) return file;
      const secret = { method: clientAuthentication, key: () => file.value.current() };
      return accept({ secret, close: () => file.value.close() });
    }
  }
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
    ...logSecretFile(log, key),
  });
}

/**
 * Logs what is wrong with a secret's file, and writes an audit event when another value is in use.
 *
 * @param key - The configuration key that names the file.
 */
export function logSecretFile(
  log: Log,
  key: string,
): Pick<SecretFileOptions, 'onProblem' | 'onWarning' | 'onChange'> {
  const audit = createAudit(log);
  return {
    onProblem: (problem) => log('error', 'secret_file', { problem: formatConfigProblem(problem) }),
    onWarning: (problem) => log('warn', 'secret_file', { problem: formatConfigProblem(problem) }),
    onChange: () =>
      audit({
        event: 'secret_loaded',
        ...NO_PRINCIPAL,
        session: undefined,
        ...NO_REQUEST,
        reason: 'file_changed',
        key,
      }),
  };
}
