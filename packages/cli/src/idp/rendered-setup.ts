/**
 * Setups that are a configuration of the provider's own tools.
 *
 * @module
 */

import { join } from 'node:path';
import { renderAuth0, renderDex, renderEntra, renderOkta } from '@sallyport/idp/provision';
import type { Provider } from './providers.ts';
import type { Setup } from './setup-options.ts';
import { type WrittenFile, writePrivately } from './write-deployment.ts';

/** Providers whose setup is text. */
export type RenderedProvider = Exclude<Provider, 'keycloak' | 'embedded'>;

/** The text, and what to know about it. */
export interface RenderedSetup {
  /** By name. */
  readonly files: Readonly<Record<string, string>>;
  /** What this provider cannot, or does otherwise. */
  readonly notes: readonly string[];
  readonly next: readonly string[];
}

const TERRAFORM_FILE = 'main.tf';
const OUTPUTS =
  'terraform output -raw web_client_secret, and the others: write them to the files that docs/idp names';
const NEVER_RUN = 'this configuration was never run against the real service';

/** Writes the configuration for a provider. */
export function renderSetup(provider: RenderedProvider, { spec }: Setup): RenderedSetup {
  switch (provider) {
    case 'okta':
      return terraformSetup(
        renderOkta(spec),
        'a custom authorization server needs the feature API Access Management',
        'back-channel logout is not set up by it',
      );
    case 'auth0':
      return terraformSetup(
        renderAuth0(spec),
        'OIDC_BASE_URL has a slash at its end: https://TENANT.auth0.com/',
        'every token request needs the audience, or the token is opaque',
      );
    case 'entra':
      return terraformSetup(
        renderEntra(spec),
        'services cannot ask for the scope all: theirs is the output service_scope',
        'the audience of tokens is the output audience, not the public URL',
      );
    case 'dex':
      return {
        files: { 'dex.yaml': renderDex(spec) },
        notes: [
          'Dex cannot be the authorization server: it has no client_credentials, no scope all and no audience; services and bearer tokens need another issuer',
          'Dex knows no post-logout address and makes no back-channel logout',
        ],
        next: ['merge dex.yaml into the configuration of Dex, and set SALLYPORT_WEB_CLIENT_SECRET'],
      };
  }
}

function terraformSetup(text: string, ...notes: readonly string[]): RenderedSetup {
  return {
    files: { [TERRAFORM_FILE]: text },
    notes: [NEVER_RUN, ...notes],
    next: ['terraform init', 'terraform apply', OUTPUTS],
  };
}

/** Writes the files that are not there or not the same. */
export function writeRendered(
  folder: string,
  files: RenderedSetup['files'],
): readonly WrittenFile[] {
  return Object.entries(files).map(([file, text]) => ({
    file,
    state: writePrivately(join(folder, file), text),
  }));
}
