/**
 * Which way Secrets are reached.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import { createApiSecrets, findApiServer } from './api-secrets.ts';
import { createKubectlSecrets } from './kubectl-secrets.ts';
import { hasPodAccount, POD_ACCOUNT_FOLDER, readPodAccount } from './pod-account.ts';
import { isObjectName, type SecretStore } from './secret-store.ts';

/** What a command says about it. */
export interface SecretAccess {
  /** `undefined`: the pod's own, or that of kubectl's current context. */
  readonly namespace?: string | undefined;
  /** `undefined`: by the mounted service account where there is one, else by kubectl. */
  readonly by?: 'pod' | 'kubectl' | undefined;
}

/**
 * Opens the Secrets of a namespace. Asks no cluster.
 *
 * @returns Otherwise what is missing, in one sentence.
 */
export function openSecrets(
  { namespace, by }: SecretAccess,
  environment: Readonly<Record<string, string | undefined>>,
  accountFolder: string = POD_ACCOUNT_FOLDER,
): Result<SecretStore, string> {
  if (namespace !== undefined && !isObjectName(namespace))
    return refuse(`found ${JSON.stringify(namespace)}, expected the name of a namespace`);
  if ((by ?? (hasPodAccount(accountFolder) ? 'pod' : 'kubectl')) === 'kubectl')
    return accept(createKubectlSecrets(namespace));
  const account = readPodAccount(accountFolder);
  if (!account.ok) return account;
  const origin = findApiServer(environment);
  if (origin === undefined)
    return refuse('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no API server');
  return accept(
    createApiSecrets({ accountFolder, namespace: namespace ?? account.value.namespace, origin }),
  );
}
