/**
 * Namespaces that the injection looks at, a pod on trial, and the task pods there are.
 *
 * @module
 */

import { API_KEY_VARIABLE } from '@sallyport/protocol';
import {
  type ClusterSubject,
  EVERYWHERE,
  type KubeObject,
  type Labels,
  labelsAt,
  listAt,
  nameOf,
  textAt,
} from '../cluster.ts';
import { fail, warn } from '../finding/finding.ts';
import { type Answers, found, type Outcome, type Probe, skipped } from '../graph/probe.ts';
import type { Injection } from './injection.ts';
import { isSelected } from './label-selector.ts';
import { listObjects } from './list-objects.ts';

/** Makes `cluster.injection.namespaces`: the names of those that are selected. */
export function createInjectionNamespacesProbe(
  subject: ClusterSubject,
  injection: Probe<Injection>,
): Probe<ReadonlySet<string>> {
  return {
    id: 'cluster.injection.namespaces',
    group: 'cluster',
    title: 'namespaces whose pods get the API key',
    needs: [injection],
    async run(answers) {
      const { namespaceSelector, title } = answers.get(injection);
      const listed = await listObjects(subject, 'namespaces', EVERYWHERE);
      if (listed.kind !== 'value') return listed;
      if (listed.value.length === 0) return skipped(`no namespaces in ${subject.cluster.name}`);
      const selected = listed.value.filter((each) => isSelected(labelsOf(each), namespaceSelector));
      const label = labelOf(namespaceSelector);
      return found(
        new Set(selected.map((each) => textAt(each, 'metadata', 'name'))),
        selected.length > 0
          ? []
          : [
              warn(
                'injection_selects_nothing',
                `${title} looks at no namespace: none has the label ${label} with the value true`,
                `kubectl label namespace NAME ${label}=true for each namespace with task pods`,
              ),
            ],
      );
    },
  };
}

/** What has to be well before a pod is tried, by probes whose value says whether it is. */
export type Before = readonly Probe<boolean>[];

/** Makes `cluster.injection.trial`: the API server is asked what would come of a task pod. Makes none. */
export function createInjectionTrialProbe(
  subject: ClusterSubject,
  injection: Probe<Injection>,
  namespaces: Probe<ReadonlySet<string>>,
  before: Before,
): Probe<boolean> {
  return {
    id: 'cluster.injection.trial',
    group: 'cluster',
    title: 'what would come of a task pod',
    needs: [injection, namespaces],
    after: before,
    async run(answers) {
      const cause = findCause(answers, before);
      if (cause !== undefined) return skipped(`needs ${cause.id}`);
      const { podLabels, title, failurePolicy } = answers.get(injection);
      const [namespace] = answers.get(namespaces);
      const { tryPod, name } = subject.cluster;
      if (tryPod === undefined) return skipped(`${name} is no running cluster`);
      if (namespace === undefined) return skipped('no namespace is selected');
      const tried = await tryPod(namespace, toTrial(podLabels));
      if (tried.ok) {
        if (isInjected(tried.value)) return found(true);
        return found(false, [
          fail(
            'injection_not_done',
            `a task pod in ${namespace} would be made without ${API_KEY_VARIABLE}, although ${title} is to inject it`,
            failurePolicy === 'Ignore'
              ? 'The webhook cannot be asked, and failurePolicy Ignore lets the pod through: look at its pods and at the log of the API server.'
              : 'Look at the log of the webhook (sallyport inject), and at other webhooks that change pods.',
            [`dry run of a pod with the labels of a task in ${namespace}`],
          ),
        ]);
      }
      const { words } = tried.error;
      if (!/failed calling webhook "inject-api-key\./.test(words))
        return skipped(`the cluster takes no pod of the doctor in ${namespace}`);
      return found(false, [
        fail(
          'webhook_unreachable',
          `the API server cannot ask ${title}, and makes no task pod`,
          'Look at the pods of the webhook, at network policies between it and the API server, and at its certificate.',
          [words],
        ),
      ]);
    },
  };
}

/** As restricted as a pod can be, so that no other policy of the cluster refuses it. */
function toTrial(labels: Labels): KubeObject {
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'sallyport-doctor-', labels },
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'sallyport-doctor', securityContext }],
    },
  };
}

/** Makes `cluster.injection.pods`: task pods that live without the key. */
export function createInjectedPodsProbe(
  subject: ClusterSubject,
  injection: Probe<Injection>,
  namespaces: Probe<ReadonlySet<string>>,
  before: Before,
): Probe {
  return {
    id: 'cluster.injection.pods',
    group: 'cluster',
    title: 'task pods and their API key',
    needs: [injection, namespaces],
    after: before,
    async run(answers) {
      const cause = findCause(answers, before);
      if (cause !== undefined) return skipped(`needs ${cause.id}`);
      const { podLabels, title, namespaceSelector } = answers.get(injection);
      if (Object.keys(podLabels).length === 0) return skipped(`${title} selects pods by no label`);
      const listed = await listObjects(subject, 'pods', EVERYWHERE, podLabels);
      if (listed.kind !== 'value') return listed;
      const lacking = listed.value.filter((pod) => isAlive(pod) && !isInjected(pod));
      return judgePods(lacking, answers.get(namespaces), title, labelOf(namespaceSelector));
    },
  };
}

function judgePods(
  lacking: readonly KubeObject[],
  namespaces: ReadonlySet<string>,
  title: string,
  label: string,
): Outcome<undefined> {
  const isWithin = (pod: KubeObject): boolean =>
    namespaces.has(textAt(pod, 'metadata', 'namespace'));
  const outside = lacking.filter((pod) => !isWithin(pod));
  const within = lacking.filter(isWithin);
  const [first] = outside;
  const place = textAt(first, 'metadata', 'namespace');
  return found(undefined, [
    ...(first === undefined
      ? []
      : [
          fail(
            'injection_namespace_not_selected',
            `${countPods(outside)} without an API key in ${place}, a namespace that ${title} does not look at`,
            `Label the namespace if its pods may have the key: kubectl label namespace ${place} ${label}=true; then make the pods again.`,
            listNames(outside),
          ),
        ]),
    ...(within.length === 0
      ? []
      : [
          fail(
            'task_pods_without_key',
            `${countPods(within)} without an API key, although ${title} injects it now: they were made while it was not asked`,
            'Make these pods again.',
            listNames(within),
          ),
        ]),
  ]);
}

/** The first label that a selector wants. */
function labelOf(selector: unknown): string {
  return Object.keys(labelsAt(selector, 'matchLabels'))[0] ?? '';
}

function countPods({ length }: readonly KubeObject[]): string {
  return length === 1 ? 'a task pod runs' : `${length} task pods run`;
}

function listNames(pods: readonly KubeObject[]): readonly string[] {
  return pods.slice(0, 5).map((pod) => `pod ${nameOf(pod)}`);
}

/** The first of the probes that found something. */
function findCause(answers: Answers, before: Before): Probe | undefined {
  return before.find((probe) => answers.find(probe) === false);
}

function labelsOf(object: KubeObject): Labels {
  return labelsAt(object, 'metadata', 'labels');
}

function isAlive(pod: KubeObject): boolean {
  return !['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));
}

/** Whether every container has the variable, of whatever value. */
function isInjected(pod: KubeObject): boolean {
  const containers = ['initContainers', 'containers'].flatMap((list) => listAt(pod, 'spec', list));
  return containers.every((container) =>
    listAt(container, 'env').some((entry) => textAt(entry, 'name') === API_KEY_VARIABLE),
  );
}
