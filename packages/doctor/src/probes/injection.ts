/**
 * How the API key gets into task pods: the webhook or the policy that a data plane has registered.
 *
 * @module
 */

import {
  at,
  type ClusterSubject,
  EVERYWHERE,
  type KubeObject,
  type Labels,
  labelsAt,
  listAt,
  textAt,
} from '../cluster.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { found, type Outcome, type Probe, skipped } from '../graph/probe.ts';
import { listObjects } from './list-objects.ts';

/** A way of injection, as it is registered. */
export interface Injection {
  readonly kind: 'policy' | 'webhook';
  /** For words, such as `the webhook NAME`. */
  readonly title: string;
  /** Of the pods that get the key. */
  readonly podLabels: Labels;
  /** A label selector of Kubernetes. */
  readonly namespaceSelector: unknown;
  readonly failurePolicy: string;
  /** Name of its Service, or what the name of the webhook gives for one. */
  readonly service: string;
  readonly namespace: string;
  /** Where it is asked, when that is no Service. */
  readonly url: string;
  /** PEM of the authorities that may speak for it. */
  readonly authorities: string;
}

/** Names that the chart gives. */
const WEBHOOK_NAME = /^inject-api-key\.(?<service>[a-z0-9-]+)\.(?<namespace>[a-z0-9-]+)\.svc$/;
const POLICY_PREFIX = 'sallyport-inject-';

/** Makes `cluster.injection`: what the data plane has registered; without either nothing is looked at. */
export function createInjectionProbe(subject: ClusterSubject, access: Probe): Probe<Injection> {
  return {
    id: 'cluster.injection',
    group: 'cluster',
    title: 'what injects the API key into task pods',
    needs: [access],
    async run() {
      const webhook = await findWebhook(subject);
      if (webhook.kind !== 'value' || webhook.value !== undefined)
        return webhook as Outcome<Injection>;
      const policy = await findPolicy(subject);
      if (policy.kind === 'value' && policy.value === undefined)
        return skipped(`no webhook and no policy of ${subject.dataPlane} injects the API key`);
      return policy as Outcome<Injection>;
    },
  };
}

async function findWebhook(subject: ClusterSubject): Promise<Outcome<Injection | undefined>> {
  const kind = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
  const listed = await listObjects(subject, kind, EVERYWHERE);
  if (listed.kind !== 'value') return listed;
  for (const object of listed.value)
    for (const webhook of listAt(object, 'webhooks')) {
      const name = WEBHOOK_NAME.exec(textAt(webhook, 'name'))?.groups;
      if (name?.['namespace'] !== subject.dataPlane) continue;
      return found(toWebhook(object, webhook, name['service'] ?? '', subject.dataPlane));
    }
  return found(undefined);
}

function toWebhook(
  object: KubeObject,
  webhook: unknown,
  service: string,
  namespace: string,
): Injection {
  const bundle = textAt(webhook, 'clientConfig', 'caBundle');
  return {
    kind: 'webhook',
    title: `the webhook ${textAt(object, 'metadata', 'name')}`,
    podLabels: labelsAt(webhook, 'objectSelector', 'matchLabels'),
    namespaceSelector: at(webhook, 'namespaceSelector'),
    failurePolicy: textAt(webhook, 'failurePolicy') || 'Fail',
    service: textAt(webhook, 'clientConfig', 'service', 'name') || service,
    namespace: textAt(webhook, 'clientConfig', 'service', 'namespace') || namespace,
    url: textAt(webhook, 'clientConfig', 'url'),
    authorities: Buffer.from(bundle, 'base64').toString('utf8'),
  };
}

async function findPolicy(subject: ClusterSubject): Promise<Outcome<Injection | undefined>> {
  const group = 'admissionregistration.k8s.io';
  const policies = await listObjects(subject, `mutatingadmissionpolicies.${group}`, EVERYWHERE);
  if (policies.kind !== 'value') return policies;
  const name = POLICY_PREFIX + subject.dataPlane;
  const policy = policies.value.find((each) => textAt(each, 'metadata', 'name') === name);
  if (policy === undefined) return found(undefined);
  const bindings = await listObjects(
    subject,
    `mutatingadmissionpolicybindings.${group}`,
    EVERYWHERE,
  );
  const isUnbound =
    bindings.kind === 'value' &&
    bindings.value.every((each) => textAt(each, 'spec', 'policyName') !== name);
  const injection: Injection = {
    kind: 'policy',
    title: `the policy ${name}`,
    podLabels: labelsAt(policy, 'spec', 'matchConstraints', 'objectSelector', 'matchLabels'),
    namespaceSelector: at(policy, 'spec', 'matchConstraints', 'namespaceSelector'),
    failurePolicy: textAt(policy, 'spec', 'failurePolicy') || 'Fail',
    service: '',
    namespace: subject.dataPlane,
    url: '',
    authorities: '',
  };
  if (!isUnbound) return found(injection);
  const finding = fail(
    'injection_policy_unbound',
    `the policy ${name} has no binding, so that no pod gets the API key`,
    'Apply the MutatingAdmissionPolicyBinding of the chart again: helm upgrade with injection.mode=policy',
  );
  return { kind: 'none', findings: [finding] };
}

/** Makes `cluster.injection.failures`: what becomes of a pod that cannot be changed. */
export function createFailurePolicyProbe(injection: Probe<Injection>): Probe {
  return {
    id: 'cluster.injection.failures',
    group: 'cluster',
    title: 'the failure policy of the injection',
    needs: [injection],
    run(answers) {
      const { failurePolicy, title } = answers.get(injection);
      const findings: readonly Finding[] =
        failurePolicy === 'Ignore'
          ? [
              warn(
                'injection_failures_ignored',
                `${title} has the failurePolicy Ignore: while it cannot be asked, task pods are made without an API key, and without a word`,
                'Set injection.failurePolicy to Fail; otherwise watch apiserver_admission_webhook_fail_open_count of the API server.',
              ),
            ]
          : [];
      return found(undefined, findings);
    },
  };
}

/** Makes `cluster.injection.service`: the Service of a webhook, and whether a pod that is ready stands behind it. */
export function createInjectionServiceProbe(
  subject: ClusterSubject,
  injection: Probe<Injection>,
): Probe<boolean> {
  return {
    id: 'cluster.injection.service',
    group: 'cluster',
    title: 'the Service of the webhook',
    needs: [injection],
    async run(answers) {
      const { kind, url, service, namespace, title } = answers.get(injection);
      if (kind === 'policy' || url !== '') return found(true);
      const services = await listObjects(subject, 'services', namespace);
      if (services.kind !== 'value') return services;
      const who = `${namespace}/${service}`;
      if (!services.value.some((each) => textAt(each, 'metadata', 'name') === service))
        return found(false, [
          fail(
            'webhook_without_pods',
            `${title} is asked at the Service ${who}, which is not there`,
            'Install the data plane chart again with injection.mode=webhook, or remove the MutatingWebhookConfiguration.',
          ),
        ]);
      const slices = await listObjects(subject, 'endpointslices.discovery.k8s.io', namespace, {
        'kubernetes.io/service-name': service,
      });
      if (slices.kind !== 'value') return slices;
      const endpoints = slices.value.flatMap((slice) => listAt(slice, 'endpoints'));
      // Unknown counts as ready (the API says so).
      if (endpoints.some((each) => at(each, 'conditions', 'ready') !== false)) return found(true);
      return found(false, [
        fail(
          'webhook_without_pods',
          `${title} is asked at the Service ${who}, behind which no pod is ready`,
          `Look at its pods: kubectl describe pods -n ${namespace} -l app.kubernetes.io/component=inject`,
          [`${endpoints.length} endpoints, none of them ready`],
        ),
      ]);
    },
  };
}
