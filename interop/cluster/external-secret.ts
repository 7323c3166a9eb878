/**
 * The kind `ExternalSecret`, as far as the charts use it, without the operator behind it.
 *
 * @module
 */

import type { Cluster } from './api-server.ts';

const NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
const text = { type: 'string' };

/**
 * Schema of `external-secrets.io/v1`, from the published one of the External Secrets Operator 2 (npm package
 * `@kubernetes-models/external-secrets` 2.0.0). Fields that the charts do not use are left out, so a strict API server
 * refuses more here than the operator's own schema would.
 */
const SPEC = {
  type: 'object',
  properties: {
    refreshInterval: text,
    refreshPolicy: { enum: ['CreatedOnce', 'Periodic', 'OnChange'], type: 'string' },
    secretStoreRef: {
      type: 'object',
      properties: {
        kind: { enum: ['SecretStore', 'ClusterSecretStore'], type: 'string' },
        name: { maxLength: 253, minLength: 1, pattern: NAME, type: 'string' },
      },
    },
    target: {
      type: 'object',
      properties: {
        creationPolicy: { enum: ['Owner', 'Orphan', 'Merge', 'None'], type: 'string' },
        deletionPolicy: { enum: ['Delete', 'Merge', 'Retain'], type: 'string' },
        name: { maxLength: 253, minLength: 1, pattern: NAME, type: 'string' },
      },
    },
    data: {
      type: 'array',
      items: {
        type: 'object',
        required: ['remoteRef', 'secretKey'],
        properties: {
          secretKey: { maxLength: 253, minLength: 1, pattern: '^[-._a-zA-Z0-9]+$', type: 'string' },
          remoteRef: {
            type: 'object',
            required: ['key'],
            properties: { key: text, property: text, version: text },
          },
        },
      },
    },
  },
};

const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PLURAL = 'externalsecrets';
const GROUP = 'external-secrets.io';
const SERVED_WITHIN_MS = 30_000;

/** Has the API server take objects of the kind. Twice is the same as once. */
export async function installExternalSecrets(cluster: Cluster): Promise<void> {
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${PLURAL}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind: 'ExternalSecret', plural: PLURAL, singular: 'externalsecret' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: SPEC } } },
        },
      ],
    },
  };
  const { status } = await cluster.call('POST', PATH, { body });
  if (status !== 201 && status !== 409) throw new Error(`${PATH}: ${status}`);
  const limit = AbortSignal.timeout(SERVED_WITHIN_MS);
  while ((await cluster.call('GET', `/apis/${GROUP}/v1/${PLURAL}`)).status !== 200) {
    if (limit.aborted) throw new Error(`${PLURAL} are not served`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
