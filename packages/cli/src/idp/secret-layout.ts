/**
 * Where the secrets of the applications go: a folder for each Secret of the requirement, a file for each of its keys.
 *
 * @module
 */

import { join } from 'node:path';
import { type DeploymentSpec, listApplications } from '@sallyport/idp/provision';
import { stringify } from 'yaml';

/** A Secret of Kubernetes, or the folder that stands in for it. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
  /** Client ID whose secret each key holds. */
  readonly keys: Readonly<Record<string, string>>;
}

/** Key of the service app's secret in every Secret, and of the web app's. */
const SERVICE_KEY = 'client_secret';
const WEB_KEY = 'oidc_client_secret';
/** Folder of the service apps of single components, whose Secrets the requirement does not name. */
const COMPONENTS = 'services';

/**
 * Lists the four places of the requirement, and one for each service app of a single component.
 *
 * @param controlPlaneSecret - Name of the Secret of the control plane's services, which the requirement leaves open.
 * @see requirement, "Secrets holding the client secret"
 */
export function listSecretPlaces(
  spec: DeploymentSpec,
  controlPlaneSecret: string,
): readonly SecretPlace[] {
  const [service, ...further] = spec.services;
  const ofService = { [SERVICE_KEY]: service.clientId };
  return [
    {
      namespace: 'cloud-cp',
      name: 'core-admin-secrets',
      keys: { ...ofService, [WEB_KEY]: spec.web.clientId },
    },
    { namespace: 'cloud-cp', name: 'core-secret-auth', keys: ofService },
    { namespace: 'cloud-cp', name: controlPlaneSecret, keys: ofService },
    { namespace: 'cloud', name: 'cloud-secret-auth', keys: ofService },
    ...further.map(({ clientId }) => ({
      namespace: COMPONENTS,
      name: toFileName(clientId),
      keys: { [SERVICE_KEY]: clientId },
    })),
  ];
}

/** Where the file of a key lies below the folder. */
export function fileOf(folder: string, { namespace, name }: SecretPlace, key: string): string {
  return join(folder, namespace, name, key);
}

/** Where the secret of each confidential application can be read, by client ID. */
export function findSecretFiles(
  folder: string,
  spec: DeploymentSpec,
  places: readonly SecretPlace[],
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const confidential = listApplications(spec).filter(
    ({ tokenEndpointAuthMethod }) => tokenEndpointAuthMethod === 'client_secret_basic',
  );
  for (const { clientId } of confidential)
    for (const place of places)
      for (const [key, held] of Object.entries(place.keys))
        if (held === clientId && !files.has(clientId))
          files.set(clientId, fileOf(folder, place, key));
  return files;
}

/** Whether a place is a Secret that the requirement names, and not that of a single component. */
export function isNamedSecret({ namespace }: SecretPlace): boolean {
  return namespace !== COMPONENTS;
}

/** Writes the Secrets as manifests. Each names its own keys alone, so that a server-side apply keeps the others. */
export function formatSecretManifests(
  places: readonly SecretPlace[],
  secrets: ReadonlyMap<string, string>,
): string {
  return places
    .map(({ namespace, name, keys }) =>
      stringify(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name, namespace },
          type: 'Opaque',
          stringData: Object.fromEntries(
            Object.entries(keys).map(([key, clientId]) => [key, secrets.get(clientId) ?? '']),
          ),
        },
        { lineWidth: 0 },
      ),
    )
    .join('---\n');
}

/** Longest name of a folder that common file systems have, in bytes. */
const FOLDER_NAME_MAX = 255;

/** Whether the secret of a single component's service app can have a folder of its own. */
export function canHaveFolder(clientId: string): boolean {
  return toFileName(clientId).length <= FOLDER_NAME_MAX;
}

/** A client ID as the name of a folder: it may hold a slash, or be two dots. */
function toFileName(clientId: string): string {
  return encodeURIComponent(clientId).replace(/^\.+/, (dots) => dots.replaceAll('.', '%2E'));
}
