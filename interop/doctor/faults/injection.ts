/**
 * Faults of the injection of API keys, in manifests as `kubectl get -o json` writes them.
 *
 * @module
 */

import {
  createAuthority,
  createServerCertificate,
} from '../../../packages/cli/src/up/certificate.ts';
import type { Fault } from '../fault.ts';
import { honestManifests } from './cluster.ts';

type Manifest = Readonly<Record<string, unknown>>;

const HOST = 'sallyport-inject.cloud.svc';
const SELECTED = { 'sallyport/inject-api-key': 'true' };
const DAY_MS = 86_400_000;
const AUTHORITY: ReturnType<typeof createAuthority> = createAuthority(Date.now());

/** What a test changes about an injection that is well. */
interface Change {
  readonly host?: string;
  readonly issuedAt?: number;
  readonly authority?: ReturnType<typeof createAuthority>;
  /** PEM in the webhook's configuration. */
  readonly caBundle?: string;
  readonly failurePolicy?: string;
  readonly isReady?: boolean;
  readonly hasService?: boolean;
  /** Labels of the namespace `tasks`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Namespace of a pod without the key. */
  readonly podIn?: string;
}

/** A data plane with a webhook that is well, but for what is changed. */
export function injectionManifests(change: Change = {}): readonly Manifest[] {
  const { host = HOST, issuedAt = Date.now(), authority = AUTHORITY } = change;
  const { labels = { 'sallyport/api-key-injection': 'true' }, isReady = true, podIn } = change;
  const { hasService = true, failurePolicy = 'Fail' } = change;
  const { caBundle = AUTHORITY.certificate.toString() } = change;
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const certificate = createServerCertificate(authority, issuedAt, [host]).certificate.toString();
  const at = (namespace: string, name: string) => ({ metadata: { namespace, name } });
  const env = [{ name: 'EAGER_API_KEY', valueFrom: {} }];
  return [
    {
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'sallyport-inject-cloud' },
      webhooks: [
        {
          name: `inject-api-key.${HOST}`,
          clientConfig: {
            service: { name: 'sallyport-inject', namespace: 'cloud' },
            caBundle: encode(caBundle),
          },
          failurePolicy,
          objectSelector: { matchLabels: SELECTED },
          namespaceSelector: {
            matchLabels: { 'sallyport/api-key-injection': 'true' },
            matchExpressions: [
              { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system'] },
            ],
          },
        },
      ],
    },
    ...(hasService ? [{ kind: 'Service', ...at('cloud', 'sallyport-inject') }] : []),
    {
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'cloud',
        name: 'sallyport-inject-1',
        labels: { 'kubernetes.io/service-name': 'sallyport-inject' },
      },
      endpoints: [{ conditions: { ready: isReady } }],
    },
    {
      kind: 'Deployment',
      ...at('cloud', 'sallyport-inject'),
      spec: {
        template: { spec: { volumes: [{ name: 'tls', secret: { secretName: 'own-tls' } }] } },
      },
    },
    { kind: 'Secret', ...at('cloud', 'own-tls'), data: { 'tls.crt': encode(certificate) } },
    { kind: 'Namespace', metadata: { name: 'tasks', labels } },
    { kind: 'Namespace', metadata: { name: 'others' } },
    {
      kind: 'Pod',
      metadata: { namespace: 'tasks', name: 'task-1', labels: SELECTED },
      spec: { containers: [{ name: 'main', env }] },
    },
    ...(podIn === undefined
      ? []
      : [
          {
            kind: 'Pod',
            metadata: { namespace: podIn, name: 'task-2', labels: SELECTED },
            spec: { initContainers: [{ name: 'first', env }], containers: [{ name: 'main' }] },
          },
        ]),
  ];
}

function withInjection(change: Change): Fault['make'] {
  return (plane) => ({ manifests: [...honestManifests(plane), ...injectionManifests(change)] });
}

/** A policy in place of the webhook, without a binding. */
const POLICY: Manifest = {
  kind: 'MutatingAdmissionPolicy',
  metadata: { name: 'sallyport-inject-cloud' },
  spec: { failurePolicy: 'Fail', matchConstraints: { objectSelector: { matchLabels: SELECTED } } },
};

/** In this order in the table. */
export const INJECTION_FAULTS: readonly Fault[] = [
  {
    fault: 'the Service of the webhook is not there',
    cause: 'webhook_without_pods',
    ground: 'manifests',
    make: withInjection({ hasService: false }),
  },
  {
    fault: 'no pod of the webhook is ready',
    cause: 'webhook_without_pods',
    ground: 'manifests',
    make: withInjection({ isReady: false }),
  },
  {
    fault: "the webhook's certificate has ended",
    cause: 'webhook_certificate_expired',
    ground: 'manifests',
    make: withInjection({ issuedAt: Date.now() - 500 * DAY_MS }),
  },
  {
    fault: "the webhook's certificate was issued by another authority than the one in caBundle",
    cause: 'webhook_certificate_untrusted',
    ground: 'manifests',
    make: withInjection({ authority: createAuthority(Date.now()) }),
  },
  {
    fault: 'cert-manager has written no caBundle',
    cause: 'webhook_certificate_untrusted',
    ground: 'manifests',
    make: withInjection({ caBundle: '' }),
  },
  {
    fault: "the webhook's certificate is for another name than its Service",
    cause: 'webhook_certificate_other_name',
    ground: 'manifests',
    make: withInjection({ host: 'sallyport-inject.default.svc' }),
  },
  {
    fault: 'no namespace has the label of the injection',
    cause: 'injection_selects_nothing',
    ground: 'manifests',
    make: (plane) => ({
      manifests: [
        ...honestManifests(plane),
        ...injectionManifests({ labels: {} }).filter(({ kind }) => kind !== 'Pod'),
      ],
    }),
  },
  {
    fault: 'a task pod runs in a namespace without the label of the injection',
    cause: 'injection_namespace_not_selected',
    ground: 'manifests',
    make: withInjection({ podIn: 'others' }),
  },
  {
    fault: 'a task pod was made while the webhook was not asked',
    cause: 'task_pods_without_key',
    ground: 'manifests',
    make: withInjection({ podIn: 'tasks' }),
  },
  {
    fault: 'the failurePolicy of the webhook is Ignore',
    cause: 'injection_failures_ignored',
    ground: 'manifests',
    make: withInjection({ failurePolicy: 'Ignore' }),
  },
  {
    fault: 'the policy of the injection has no binding',
    cause: 'injection_policy_unbound',
    ground: 'manifests',
    make: (plane) => ({ manifests: [...honestManifests(plane), POLICY] }),
  },
];
