/**
 * Faults of the group: cluster. They stand in manifests, as `kubectl get -o json` writes them.
 *
 * @module
 */

import type { Fault } from '../fault.ts';
import type { FaultyPlane } from '../faulty-plane.ts';

type Manifest = Readonly<Record<string, unknown>>;

function secret(namespace: string, name: string, data: Readonly<Record<string, string>>): Manifest {
  const encoded = Object.entries(data).map(([key, text]): [string, string] => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name },
    data: Object.fromEntries(encoded),
  };
}

function externalSecret(reason: string, refreshedAt: number): Manifest {
  return {
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: { namespace: 'cloud', name: 'cloud-secret-auth' },
    spec: { refreshInterval: '1h', target: { name: 'cloud-secret-auth', creationPolicy: 'Merge' } },
    status: {
      refreshTime: new Date(refreshedAt).toISOString(),
      conditions: [{ type: 'Ready', status: 'True', reason, message: 'as the operator says' }],
    },
  };
}

function ingress(name: string, paths: readonly string[], cacheKey: string): Manifest {
  const prefix = 'nginx.ingress.kubernetes.io';
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      namespace: 'cloud-cp',
      name,
      annotations: {
        [`${prefix}/auth-url`]: 'https://$host/me',
        [`${prefix}/auth-cache-key`]: cacheKey,
      },
    },
    spec: { rules: [{ http: { paths: paths.map((path) => ({ path })) } }] },
  };
}

/** The Ingress of the routes of sign-in. */
function openIngress(annotations: Readonly<Record<string, string>>): Manifest {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { namespace: 'cloud-cp', name: 'open', annotations },
    spec: {
      ingressClassName: 'nginx',
      rules: [{ http: { paths: [{ path: '/login' }, { path: '/callback' }] } }],
    },
  };
}

const GOOD_CACHE_KEY = '$http_core_authorization$http_cookie';

function apiKeyFor(host: string): string {
  return Buffer.from(`${host}:task-pods:a-made-up-secret:None`).toString('base64');
}

/** What an installation that is well has. */
export function honestManifests({ serviceSecret, webSecret }: FaultyPlane): readonly Manifest[] {
  const data = { client_secret: serviceSecret };
  return [
    secret('cloud-cp', 'core-admin-secrets', { ...data, oidc_client_secret: webSecret }),
    secret('cloud-cp', 'core-secret-auth', data),
    secret('cloud', 'cloud-secret-auth', data),
    secret('cloud', 'eager-api-key', { EAGER_API_KEY: apiKeyFor('localhost') }),
    externalSecret('SecretSynced', Date.now() - 60_000),
    ingress('console', ['/console', '/api'], GOOD_CACHE_KEY),
    openIngress({ 'nginx.ingress.kubernetes.io/proxy-buffer-size': '16k' }),
  ];
}

/** Puts manifests in the place of honest ones of the same kind and name; `undefined` removes them. */
function withManifest(
  name: string,
  make: ((plane: FaultyPlane) => Manifest) | undefined,
): Fault['make'] {
  return (plane) => {
    const made = make?.(plane);
    const kept = honestManifests(plane).filter(({ metadata, kind }) => {
      const isNamed = (metadata as { readonly name: string }).name === name;
      return !isNamed || (made === undefined ? kind !== 'Secret' : kind !== made['kind']);
    });
    return { manifests: made === undefined ? kept : [...kept, made] };
  };
}

/** In this order in the table. */
export const CLUSTER_FAULTS: readonly Fault[] = [
  {
    fault: 'core-secret-auth is missing in the control plane namespace',
    cause: 'secret_missing',
    ground: 'manifests',
    make: withManifest('core-secret-auth', undefined),
  },
  {
    fault: 'cloud-secret-auth is missing',
    cause: 'secret_missing',
    ground: 'manifests',
    make: withManifest('cloud-secret-auth', undefined),
  },
  {
    fault: 'cloud-secret-auth lacks the key client_secret',
    cause: 'secret_key_missing',
    ground: 'manifests',
    make: withManifest('cloud-secret-auth', () =>
      secret('cloud', 'cloud-secret-auth', { clientSecret: 'x' }),
    ),
  },
  {
    fault: 'core-secret-auth still has the stand-in value of the chart',
    cause: 'secret_stand_in',
    ground: 'manifests',
    make: withManifest('core-secret-auth', () =>
      secret('cloud-cp', 'core-secret-auth', { client_secret: 'placeholder' }),
    ),
  },
  {
    fault: 'core-admin-secrets was not updated after a rotation',
    cause: 'secrets_differ',
    ground: 'manifests',
    make: withManifest('core-admin-secrets', ({ webSecret }) =>
      secret('cloud-cp', 'core-admin-secrets', {
        client_secret: 'the-one-before',
        oidc_client_secret: webSecret,
      }),
    ),
  },
  {
    fault: "core-admin-secrets lacks the web app's secret, oidc_client_secret",
    cause: 'secret_key_missing',
    ground: 'manifests',
    make: withManifest('core-admin-secrets', ({ serviceSecret }) =>
      secret('cloud-cp', 'core-admin-secrets', { client_secret: serviceSecret }),
    ),
  },
  {
    fault: 'oidc_client_secret in core-admin-secrets is a stand-in value',
    cause: 'secret_stand_in',
    ground: 'manifests',
    make: withManifest('core-admin-secrets', ({ serviceSecret }) =>
      secret('cloud-cp', 'core-admin-secrets', {
        client_secret: serviceSecret,
        oidc_client_secret: 'placeholder',
      }),
    ),
  },
  {
    fault: 'the secret synchronization merges into a Secret that is not there, and says Ready',
    cause: 'synchronization_incomplete',
    ground: 'manifests',
    make: withManifest('cloud-secret-auth', () => externalSecret('SecretMissing', Date.now())),
  },
  {
    fault: 'the secret synchronization stands still',
    cause: 'synchronization_stale',
    ground: 'manifests',
    make: withManifest('cloud-secret-auth', () =>
      externalSecret('SecretSynced', Date.now() - 4 * 3_600_000),
    ),
  },
  {
    fault: 'the AuthMetadataService is on an Ingress with auth-url',
    cause: 'metadata_behind_sign_in',
    probe: 'cluster.ingress',
    ground: 'manifests',
    make: withManifest('console', () =>
      ingress('console', ['/api', '/flyteidl2.auth.AuthMetadataService'], GOOD_CACHE_KEY),
    ),
  },
  {
    fault: 'the auth-cache-key of an Ingress lacks the bearer header',
    cause: 'cache_key_incomplete',
    ground: 'manifests',
    make: withManifest('console', () => ingress('console', ['/api'], '$http_cookie')),
  },
  {
    fault: 'the Ingress of sign-in has no proxy-buffer-size',
    cause: 'proxy_buffers_small',
    probe: 'cluster.ingress',
    ground: 'manifests',
    make: withManifest('open', () => openIngress({})),
  },
  {
    fault: 'the API key of task pods is for another platform',
    cause: 'api_key_other_platform',
    ground: 'manifests',
    make: withManifest('eager-api-key', () =>
      secret('cloud', 'eager-api-key', { EAGER_API_KEY: apiKeyFor('other.example') }),
    ),
  },
  {
    fault: 'the Secret of the API key holds something else',
    cause: 'api_key_invalid',
    ground: 'manifests',
    make: withManifest('eager-api-key', () =>
      secret('cloud', 'eager-api-key', { EAGER_API_KEY: 'no key at all' }),
    ),
  },
];
