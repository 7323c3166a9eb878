/**
 * The admin service's authentication inside `sallyport up`.
 *
 * @module
 */

import { type ConfigProblem, formatConfigProblem, loadConfig } from '@sallyport/config';
import type { EmbeddedIdp } from '@sallyport/idp';
import { SallyportError } from '@sallyport/protocol';
import type { AdminServer } from '@sallyport/server';
import type { Log } from '@sallyport/server/observe';
import { openClientSecret } from '../admin/client-secret.ts';
import { createAdmin } from '../admin/create-admin.ts';
import { openServingSessionStore } from '../admin/open-session-store.ts';
import { createSystemPorts } from '../process/ports.ts';
import { prepareToServe } from '../process/serving-runtime.ts';
import { type Deployment, deploymentVariables } from './deployment.ts';

/** What {@link startAdmin} needs. */
export interface AdminOfPlane {
  readonly deployment: Deployment;
  readonly idp: EmbeddedIdp;
  readonly log: Log;
  /** Address of the gateway, the one peer whose forwarded headers are believed. */
  readonly gateway: string;
  /** Scopes that the command line requests. */
  readonly clientScopes: readonly string[];
}

/**
 * The production graph, configured by nothing but the deployment variables and what the options of
 * `up` change.
 *
 * @param stops - Gets what ends it.
 * @throws {SallyportError} `SP_CONFIG_INVALID`; `SP_THREAD_FAILED` as `openServingSessionStore`.
 */
export async function startAdmin(
  { deployment, idp, log, gateway, clientScopes }: AdminOfPlane,
  stops: (() => void | Promise<void>)[],
): Promise<AdminServer> {
  const loaded = loadConfig(
    {
      env: deploymentVariables(deployment),
      flags: {
        'admin.clientSecretLocation': idp.serviceClientSecretFile,
        trustedProxies: [gateway],
        'auth.appAuth.thirdPartyConfig.flyteClient.scopes': clientScopes,
      },
    },
    'serve',
  );
  if (!loaded.ok) throw unusable(loaded.error);
  const secret = openClientSecret(idp.webClientSecretFile, log);
  if (!secret.ok) throw unusable([secret.error]);
  const ports = createSystemPorts(log);
  const admin = createAdmin(
    loaded.value.config,
    await openServingSessionStore(loaded.value.config, ports),
    { method: 'client_secret', secret: () => secret.value.current() },
    ports,
  );
  stops.push(async () => {
    await admin.close();
    secret.value.close();
  });
  prepareToServe();
  return admin;
}

function unusable(problems: readonly ConfigProblem[]): SallyportError {
  const detail = problems.map(formatConfigProblem).join('; ');
  return new SallyportError('SP_CONFIG_INVALID', { component: 'up', detail });
}
