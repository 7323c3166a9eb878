/**
 * The deployment variables of the plane on this machine, as the environment and as a file.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ids under which the embedded IdP knows the three applications. */
export const CLIENT_IDS = {
  web: 'sallyport-web',
  native: 'sallyport-cli',
  service: 'sallyport-service',
} as const;

/** Where things are on this machine. */
export interface Deployment {
  readonly publicUrl: string;
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly webClientSecretFile: string;
  readonly stateDirectory: string;
}

const FILE = 'deployment.env';

/**
 * The six deployment variables of the requirement, with `PUBLIC_URL`, the web application's secret
 * file and the state directory: together a complete configuration of `sallyport serve`.
 */
export function deploymentVariables(deployment: Deployment): Readonly<Record<string, string>> {
  const { publicUrl, issuer, tokenUrl, webClientSecretFile, stateDirectory } = deployment;
  return {
    PUBLIC_URL: publicUrl,
    OIDC_BASE_URL: issuer,
    OIDC_CLIENT_ID: CLIENT_IDS.web,
    CLI_CLIENT_ID: CLIENT_IDS.native,
    INTERNAL_CLIENT_ID: CLIENT_IDS.service,
    AUTH_TOKEN_URL: tokenUrl,
    AUTH_CLIENT_ID: CLIENT_IDS.service,
    OIDC_CLIENT_SECRET_FILE: webClientSecretFile,
    SALLYPORT_STATE_DIRECTORY: stateDirectory,
  };
}

/**
 * Writes the variables where a shell can read them: `set -a; . .sallyport/deployment.env`.
 *
 * Holds names and paths, no secret.
 *
 * @returns The file's path.
 */
export function writeDeploymentFile(deployment: Deployment): string {
  const path = join(deployment.stateDirectory, FILE);
  writeFileSync(path, formatVariables(deploymentVariables(deployment)), { mode: 0o600 });
  return path;
}

/** Writes variables so that a shell reads every value as it is, a line each. */
export function formatVariables(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join('');
}
