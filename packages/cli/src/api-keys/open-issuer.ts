/**
 * The identity provider that a command issues API keys at: that of a running `sallyport up`, or a realm of Keycloak.
 *
 * @module
 */

import { resolve } from 'node:path';
import { type ApiKeyIssuer, createApiKeyAdminClient } from '@sallyport/idp/api-keys';
import { createDeploymentSpec, createKeycloakApiKeyIssuer } from '@sallyport/idp/provision';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { openRealm } from '../idp/open-keycloak.ts';
import { type RealmOptions, wrongUsage } from '../idp/setup-options.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { readApiKeyAdminFile } from '../up/api-key-admin-file.ts';
import { CLIENT_IDS } from '../up/deployment.ts';

/** Options that lead to the identity provider. */
export interface IssuerOptions extends RealmOptions {
  /** State folder of `sallyport up`; looked at when no `issuer` is given. */
  readonly state: string;
  /** The platform's; needed with `issuer`. */
  readonly publicUrl?: string;
  readonly json?: boolean;
}

/** An issuer, and the platform that it issues for. */
export interface OpenedIssuer {
  readonly issuer: ApiKeyIssuer;
  readonly publicUrl: URL;
}

/** Finds the issuer. Sends nothing yet. */
export async function openIssuer(
  options: IssuerOptions,
  stdio: Pick<Stdio, 'conceal'>,
): Promise<Result<OpenedIssuer, Failure>> {
  return options.issuer === undefined ? openEmbedded(options) : openKeycloakRealm(options, stdio);
}

function openEmbedded({ state }: IssuerOptions): Result<OpenedIssuer, Failure> {
  const admin = readApiKeyAdminFile(resolve(state));
  if (!admin.ok)
    return refuse({
      error: 'no_issuer',
      description: admin.error,
      hint: 'Start it, name its folder with --state, or a realm of Keycloak with --issuer.',
      exitCode: EXIT.failure,
    });
  const { issuer, publicUrl, token } = admin.value;
  return accept({
    issuer: createApiKeyAdminClient({ url: issuer, token, fetch }),
    publicUrl: new URL(publicUrl),
  });
}

async function openKeycloakRealm(
  options: IssuerOptions,
  stdio: Pick<Stdio, 'conceal'>,
): Promise<Result<OpenedIssuer, Failure>> {
  const { publicUrl = '' } = options;
  const url = URL.parse(publicUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== publicUrl)
    return wrongUsage('--public-url: expected the public URL of the platform, beside --issuer');
  const opened = await openRealm(options, stdio);
  if (!opened.ok) return opened;
  const spec = createDeploymentSpec(publicUrl, CLIENT_IDS);
  return accept({
    issuer: createKeycloakApiKeyIssuer({ ...opened.value, spec, now: Date.now }),
    publicUrl: url,
  });
}
