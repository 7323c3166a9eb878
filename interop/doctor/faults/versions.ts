/**
 * Faults of versions, in manifests as `kubectl get -o json` writes them.
 *
 * @module
 */

import type { Fault } from '../fault.ts';
import { honestManifests } from './cluster.ts';

type Manifest = Readonly<Record<string, unknown>>;

function deployment(namespace: string, container: string, version: string, tag: string): Manifest {
  const labels = { 'app.kubernetes.io/part-of': 'sallyport', 'app.kubernetes.io/version': version };
  const image = `registry.example.com:5000/sallyport:${tag}`;
  return {
    kind: 'Deployment',
    metadata: { namespace, name: container, labels },
    spec: {
      template: {
        spec: {
          containers: [
            { name: container, image },
            { name: 'beside', image: 'registry.example.com/other:9.9.9' },
          ],
        },
      },
    },
  };
}

function definition(...served: readonly string[]): Manifest {
  const versions = [
    ...served.map((name) => ({ name, served: true })),
    { name: 'v1alpha1', served: false },
  ];
  return {
    kind: 'CustomResourceDefinition',
    metadata: { name: 'externalsecrets.external-secrets.io' },
    spec: { versions },
  };
}

function ingressClass(controller: string): Manifest {
  return { kind: 'IngressClass', metadata: { name: 'nginx' }, spec: { controller } };
}

/** Versions that go together. */
export const HONEST_VERSIONS: readonly Manifest[] = [
  deployment('cloud-cp', 'sallyport', '1.2.3', '1.2.3'),
  deployment('cloud', 'inject', '1.2.3', 'main'),
  definition('v1', 'v1beta1'),
  ingressClass('nginx.org/ingress-controller'),
];

function withManifests(...manifests: readonly Manifest[]): Fault['make'] {
  return (plane) => ({ manifests: [...honestManifests(plane), ...manifests] });
}

/** In this order in the table. */
export const VERSION_FAULTS: readonly Fault[] = [
  {
    fault: 'the external-secrets operator does not serve the version that the charts write',
    cause: 'external_secrets_too_old',
    ground: 'manifests',
    make: withManifests(definition('v1beta1')),
  },
  {
    fault: 'the platform is behind ingress-nginx',
    cause: 'ingress_controller_retired',
    ground: 'manifests',
    make: withManifests(ingressClass('k8s.io/ingress-nginx')),
  },
  {
    fault: 'the image is of another version than its chart',
    cause: 'image_version_differs',
    ground: 'manifests',
    make: withManifests(deployment('cloud-cp', 'sallyport', '1.2.3', '1.1.0')),
  },
  {
    fault: 'the charts of control plane and data plane are of different versions',
    cause: 'chart_versions_differ',
    ground: 'manifests',
    make: withManifests(
      deployment('cloud-cp', 'sallyport', '1.2.3', '1.2.3'),
      deployment('cloud', 'inject', '1.1.0', '1.1.0'),
    ),
  },
];
