/**
 * The setup of Dex, as a part of its configuration file.
 *
 * @module
 */

import type { DeploymentSpec } from '../spec/deployment-spec.ts';

/**
 * Writes `staticClients` as YAML. Only for signing people in: Dex has no `client_credentials`, no scope of one's own and
 * no audience, so that services need another issuer.
 *
 * The web app's secret is read from the environment of Dex (`secretEnv`).
 */
export function renderDex({ web, native }: DeploymentSpec): string {
  const list = (values: readonly string[]): string => values.map(quoteYaml).join(', ');
  return [
    'staticClients:',
    `  - id: ${quoteYaml(web.clientId)}`,
    `    name: ${quoteYaml(web.name)}`,
    '    secretEnv: SALLYPORT_WEB_CLIENT_SECRET',
    `    redirectURIs: [${list(web.redirectUris)}]`,
    `  - id: ${quoteYaml(native.clientId)}`,
    `    name: ${quoteYaml(native.name)}`,
    '    public: true',
    `    redirectURIs: [${list(native.redirectUris)}]`,
    'oauth2:',
    '  skipApprovalScreen: true',
    '',
  ].join('\n');
}

/** A double-quoted scalar: JSON's is one. */
const quoteYaml = (text: string): string => JSON.stringify(text);
