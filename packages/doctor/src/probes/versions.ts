/**
 * Versions in a cluster: Kubernetes, the operators that the charts build on, and charts beside images.
 *
 * Nothing is asked of the platform over HTTP: it tells no caller its version.
 *
 * @module
 */

import {
  at,
  type ClusterSubject,
  EVERYWHERE,
  type KubeObject,
  listAt,
  nameOf,
  textAt,
} from '../cluster.ts';
import { type Finding, warn } from '../finding/finding.ts';
import { found, type Probe, skipped } from '../graph/probe.ts';
import { listObjects } from './list-objects.ts';

/** `kubeVersion` of the charts. */
const KUBERNETES_MIN_MINOR = 29;
/** What the charts write. */
const EXTERNAL_SECRETS_VERSION = 'v1';
const EXTERNAL_SECRETS_CRD = 'externalsecrets.external-secrets.io';
const RETIRED_CONTROLLER = 'k8s.io/ingress-nginx';
/** What the charts call theirs; others may stand beside them. */
const OWN_CONTAINERS: ReadonlySet<string> = new Set(['inject', 'sallyport']);
const OWN = { 'app.kubernetes.io/part-of': 'sallyport' };

/** Makes `cluster.versions.kubernetes`, `.external-secrets`, `.ingress` and `.images`. */
export function listVersionProbes(subject: ClusterSubject, access: Probe): readonly Probe[] {
  return [
    createKubernetesProbe(subject, access),
    createExternalSecretsProbe(subject, access),
    createControllerProbe(subject, access),
    createImageProbe(subject, access),
  ];
}

function createKubernetesProbe({ cluster }: ClusterSubject, access: Probe): Probe {
  return {
    id: 'cluster.versions.kubernetes',
    group: 'cluster',
    title: 'the version of Kubernetes',
    needs: [access],
    async run() {
      if (cluster.readVersion === undefined)
        return skipped(`${cluster.name} is no running cluster`);
      const read = await cluster.readVersion();
      if (!read.ok) return skipped('the API server does not tell its version');
      const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(read.value) ?? [];
      if (major !== '1' || Number(minor) >= KUBERNETES_MIN_MINOR) return found(undefined);
      return found(undefined, [
        warn(
          'kubernetes_too_old',
          `the API server is of Kubernetes ${read.value}, and the charts are for 1.${KUBERNETES_MIN_MINOR} or later`,
          'Upgrade Kubernetes before the charts are installed or upgraded.',
        ),
      ]);
    },
  };
}

function createExternalSecretsProbe(subject: ClusterSubject, access: Probe): Probe {
  return {
    id: 'cluster.versions.external-secrets',
    group: 'cluster',
    title: 'the version of the external-secrets operator',
    needs: [access],
    async run() {
      const kind = 'customresourcedefinitions.apiextensions.k8s.io';
      const listed = await listObjects(subject, kind, EVERYWHERE, undefined, EXTERNAL_SECRETS_CRD);
      if (listed.kind !== 'value') return listed;
      const [definition] = listed.value;
      if (definition === undefined)
        return skipped('the external-secrets operator is not installed');
      const served = listAt(definition, 'spec', 'versions')
        .filter((version) => at(version, 'served') === true)
        .map((version) => textAt(version, 'name'));
      if (served.includes(EXTERNAL_SECRETS_VERSION)) return found(undefined);
      return found(undefined, [
        warn(
          'external_secrets_too_old',
          `the external-secrets operator does not serve external-secrets.io/${EXTERNAL_SECRETS_VERSION}, which the charts write`,
          'Upgrade the operator to 0.16 or later before externalSecrets.enabled is set.',
          [`it serves ${served.join(', ')}`],
        ),
      ]);
    },
  };
}

function createControllerProbe(subject: ClusterSubject, access: Probe): Probe {
  return {
    id: 'cluster.versions.ingress',
    group: 'cluster',
    title: 'the ingress controller',
    needs: [access],
    async run() {
      const classes = await listObjects(subject, 'ingressclasses.networking.k8s.io', EVERYWHERE);
      if (classes.kind !== 'value') return classes;
      const retired = classes.value
        .filter((each) => textAt(each, 'spec', 'controller') === RETIRED_CONTROLLER)
        .map((each) => textAt(each, 'metadata', 'name'));
      const { controlPlane } = subject;
      const ingresses = await listObjects(subject, 'ingresses.networking.k8s.io', controlPlane);
      if (ingresses.kind !== 'value') return ingresses;
      const users = ingresses.value.filter((each) =>
        retired.includes(textAt(each, 'spec', 'ingressClassName')),
      );
      return found(undefined, users.length === 0 ? [] : [toRetiredFinding(users)]);
    },
  };
}

function toRetiredFinding(users: readonly KubeObject[]): Finding {
  return warn(
    'ingress_controller_retired',
    'the platform is behind ingress-nginx, which has been retired: it gets no more fixes, those of security included',
    'Move to an ingress that is maintained, such as nginx with the files of sallyport recipe nginx (deploy/nginx/README.md).',
    users.slice(0, 5).map((each) => `Ingress ${nameOf(each)}`),
  );
}

function createImageProbe(subject: ClusterSubject, access: Probe): Probe {
  return {
    id: 'cluster.versions.images',
    group: 'cluster',
    title: 'charts beside images',
    needs: [access],
    async run() {
      const deployments: KubeObject[] = [];
      for (const namespace of new Set([subject.controlPlane, subject.dataPlane])) {
        const listed = await listObjects(subject, 'deployments.apps', namespace, OWN);
        if (listed.kind !== 'value') return listed;
        deployments.push(...listed.value);
      }
      if (deployments.length === 0) return skipped('no Deployment of the charts');
      return found(undefined, [...deployments.flatMap(judgeImage), ...compareCharts(deployments)]);
    },
  };
}

function versionOf(deployment: KubeObject): string {
  return textAt(deployment, 'metadata', 'labels', 'app.kubernetes.io/version');
}

/** A digest says nothing of a version, and a tag that is none was chosen by hand. */
function judgeImage(deployment: KubeObject): readonly Finding[] {
  const version = versionOf(deployment);
  const images = listAt(deployment, 'spec', 'template', 'spec', 'containers')
    .filter((container) => OWN_CONTAINERS.has(textAt(container, 'name')))
    .map((container) => textAt(container, 'image'));
  const other = images.find((image) => {
    const [, tag] = /:v?(\d+\.\d+\.\d+[^/:@]*)$/.exec(image) ?? [];
    return tag !== undefined && version !== '' && tag !== version;
  });
  if (other === undefined) return [];
  return [
    warn(
      'image_version_differs',
      `${nameOf(deployment)} runs another version than its chart is for: chart ${version}, image ${other}`,
      'Leave image.tag empty, or install the chart of the version of the image: settings may be unknown to one of the two.',
    ),
  ];
}

/** The charts of both planes have one version. */
function compareCharts(deployments: readonly KubeObject[]): readonly Finding[] {
  const versions = new Map(deployments.map((each) => [versionOf(each), nameOf(each)]));
  versions.delete('');
  if (versions.size < 2) return [];
  return [
    warn(
      'chart_versions_differ',
      `control plane and data plane have charts of different versions: ${[...versions.keys()].join(' and ')}`,
      'Upgrade the older one: helm upgrade with the chart of the same version.',
      [...versions].map(([version, name]) => `${name}: ${version}`),
    ),
  ];
}
