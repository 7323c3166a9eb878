/**
 * The folder of an installation: what `sallyport init` puts into it, from a domain and an issuer.
 *
 * @module
 */

import { join, relative } from 'node:path';
import { type ConfigProblem, loadConfig } from '@sallyport/config';
import { createDeploymentSpec } from '@sallyport/idp/provision';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Recipe, RenderedRecipe } from '@sallyport/recipes';
import { listAddresses } from '../admin/registered-addresses.ts';
import { CONTROL_PLANE_SECRET } from '../idp/providers.ts';
import { fileOf, listSecretPlaces, type SecretPlace } from '../idp/secret-layout.ts';

/** What an installation is made from. */
export interface InstallationRequest {
  /** Absolute. */
  readonly folder: string;
  /** As given: an origin, or a domain alone, which is https. */
  readonly domain: string;
  /** Byte for byte. */
  readonly issuer: string;
  readonly clientIds: {
    readonly web: string;
    readonly native: string;
    readonly service: string;
  };
  /** Absent where no proxy of ours is wanted. */
  readonly recipe: Recipe | undefined;
  /** Absolute: the proxy's own, where recipe and site go. Absent: a folder below {@link folder}, to be copied. */
  readonly proxyFolder: string | undefined;
  /** Where the service listens. */
  readonly port: number;
}

/** A secret that has to be put into a file. */
export interface SecretToPlace {
  /** Absolute. */
  readonly file: string;
  readonly clientId: string;
}

/** Everything that is to be written; nothing is yet. */
export interface Installation {
  readonly publicUrl: string;
  readonly issuer: string;
  readonly clientIds: InstallationRequest['clientIds'];
  /** Addresses to register at the identity provider, by the names of their metadata. */
  readonly register: Readonly<Record<string, string>>;
  /** Absolute path of the configuration. */
  readonly configFile: string;
  /** Content by absolute path. */
  readonly files: ReadonlyMap<string, string>;
  /** The web app's first: without it the service does not start. */
  readonly secrets: readonly SecretToPlace[];
  /** Absolute; made by the program on writing. */
  readonly keyRingFile: string;
  readonly recipe:
    | {
        readonly folder: string;
        readonly rendered: RenderedRecipe;
        /** What is left to do with it. */
        readonly next: readonly string[];
      }
    | undefined;
}

/** Where nginx and its like reach the service. */
const LISTEN_HOST = '127.0.0.1';
/** Peers whose forwarded headers count: the proxy on the same machine. */
const PROXIES = ['127.0.0.1', '::1'];
const CONFIG_FILE = 'sallyport.yaml';
const SECRETS_FOLDER = 'secrets';

/**
 * Plans the installation. Its configuration is checked as `serve` would, so that nothing is written that does not start. Reads and
 * writes nothing.
 *
 * @returns Otherwise every problem; those of a recipe as one of `--proxy`.
 */
export async function planInstallation({
  folder,
  domain,
  issuer,
  clientIds,
  recipe,
  proxyFolder,
  port,
}: InstallationRequest): Promise<Result<Installation, readonly ConfigProblem[]>> {
  const publicUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(domain) ? domain : `https://${domain}`;
  const configFile = join(folder, CONFIG_FILE);
  const secretsFolder = join(folder, SECRETS_FOLDER);
  const webSecretFile = join(secretsFolder, 'cloud-cp/core-admin-secrets/oidc_client_secret');
  const text = writeConfiguration({
    publicUrl,
    issuer,
    clientIds,
    clientSecretFile: `./${relative(folder, webSecretFile)}`,
    port,
    hasProxy: recipe !== undefined,
  });
  const loaded = loadConfig({ file: { path: configFile, text }, env: {}, flags: {} }, 'serve');
  if (!loaded.ok) return loaded;
  const rendered = await recipe?.render(selectValues(recipe, port));
  if (rendered?.ok === false) return refuse([toProblem('--proxy', rendered.error)]);
  const { config } = loaded.value;
  const site = await recipe?.site.render(config.publicUrl);
  if (site?.ok === false) return refuse([toProblem('--proxy', site.error)]);
  const folderOfProxy = proxyFolder ?? join(folder, recipe?.name ?? '');
  const places = listSecretPlaces(
    createDeploymentSpec(config.publicUrl, clientIds),
    CONTROL_PLANE_SECRET,
  );
  return accept({
    publicUrl: config.publicUrl,
    issuer,
    clientIds,
    register: listAddresses(config),
    configFile,
    files: new Map([
      [configFile, text],
      [join(secretsFolder, 'README.md'), describeSecrets(places)],
      ...(recipe === undefined || site === undefined
        ? []
        : [[join(folderOfProxy, recipe.site.file), site.value] as const]),
    ]),
    secrets: places
      .flatMap((place) =>
        Object.entries(place.keys).map(([key, clientId]) => ({
          file: fileOf(secretsFolder, place, key),
          clientId,
        })),
      )
      .toSorted((a, b) => Number(b.file === webSecretFile) - Number(a.file === webSecretFile)),
    keyRingFile: config.session.keyRingFile,
    recipe:
      recipe === undefined || rendered === undefined
        ? undefined
        : {
            folder: join(folderOfProxy, 'sallyport'),
            rendered: rendered.value,
            next: recipe.site.describeNextSteps(config.publicUrl, proxyFolder !== undefined),
          },
  });
}

interface Configured {
  readonly publicUrl: string;
  readonly issuer: string;
  readonly clientIds: InstallationRequest['clientIds'];
  readonly clientSecretFile: string;
  readonly port: number;
  readonly hasProxy: boolean;
}

/** A JSON text is the same text in YAML, whatever stands in it. */
function writeConfiguration({
  publicUrl,
  issuer,
  clientIds,
  clientSecretFile,
  port,
  hasProxy,
}: Configured): string {
  const quote = JSON.stringify;
  return `# Written by sallyport init. Every key: docs/configuration.md. Relative paths start at the folder of this file.
publicUrl: ${quote(publicUrl)}
listen:
  host: ${LISTEN_HOST}
  port: ${port}
# Sessions, and the key ring that seals them: keep it across restarts, and apart from its backups.
stateDirectory: ./state
${hasProxy ? `# The proxy on this machine. Another one's address stands here instead.\ntrustedProxies: ${quote(PROXIES)}\n` : ''}auth:
  userAuth:
    openId:
      # Exactly as the identity provider names itself, a slash at the end included.
      baseUrl: ${quote(issuer)}
      clientId: ${quote(clientIds.web)}
      clientSecretFile: ${quote(clientSecretFile)}
      # To have e-mail addresses, add the scope email.
      scopes: [profile, openid, offline_access]
  appAuth:
    thirdPartyConfig:
      flyteClient:
        clientId: ${quote(clientIds.native)}
`;
}

function describeSecrets(places: readonly SecretPlace[]): string {
  const rows = places.flatMap(({ namespace, name, keys }) =>
    Object.entries(keys).map(
      ([key, clientId]) => `| \`${namespace}/${name}/${key}\` | the secret of \`${clientId}\` |`,
    ),
  );
  return `# Secrets

A folder for each Secret of the deployment, a file of mode 0600 for each of its keys: the secret alone, without a line feed.
\`sallyport idp apply --out\` with this folder writes them. \`serve\` on this machine reads \`oidc_client_secret\` alone.

| File | Holds |
|---|---|
${rows.join('\n')}
`;
}

/** The service is where the configuration has it listen. */
function selectValues(recipe: Recipe, port: number): ReadonlyMap<string, readonly string[]> {
  return recipe.options.some(({ name }) => name === 'upstream')
    ? new Map([['upstream', [`${LISTEN_HOST}:${port}`]]])
    : new Map();
}

function toProblem(key: string, found: string): ConfigProblem {
  return { file: 'flag', line: undefined, key, found, expected: 'a recipe that can be written' };
}
