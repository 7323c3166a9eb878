/**
 * The Secrets of the requirement in a cluster, and what synchronizes them.
 *
 * @module
 */

import { formatDuration, parseDuration } from '@sallyport/protocol';
import { type ClusterSubject, type KubeObject, listAt, textAt } from '../cluster.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { found, type Probe } from '../graph/probe.ts';
import { createApiKeySecretProbe } from './api-key.ts';
import { judgeSecrets } from './cluster-secrets.ts';
import { createIngressProbe } from './ingress.ts';
import { listInjectionProbes } from './injection-list.ts';
import { listObjects } from './list-objects.ts';
import { listVersionProbes } from './versions.ts';

/** Two refreshes that did not happen. */
const STALE_INTERVALS = 2;
const DEFAULT_INTERVAL_MS = 3_600_000;

/** What objects of the cluster are compared with. */
export interface ClusterExpectations {
  /** Header of bearer tokens, lower case. */
  readonly header: string;
  /** Setting `unionAuth.secretName`. */
  readonly secretName: string;
  readonly platformUrl: string | undefined;
}

/** Makes the probes of a cluster; the first of them shows whether it can be read at all. */
export function createClusterProbes(
  subject: ClusterSubject,
  { header, secretName, platformUrl }: ClusterExpectations,
  now: () => number,
): readonly Probe[] {
  const { controlPlane, dataPlane, cluster } = subject;
  const sides = [controlPlane, dataPlane];
  const secrets: Probe<ReadonlyMap<string, readonly KubeObject[]>> = {
    id: 'cluster.access',
    group: 'cluster',
    title: `Secrets in ${cluster.name}`,
    needs: [],
    async run() {
      const byNamespace = new Map<string, readonly KubeObject[]>();
      for (const namespace of new Set(sides)) {
        const listed = await listObjects(subject, 'secrets', namespace);
        if (listed.kind !== 'value') return listed;
        byNamespace.set(namespace, listed.value);
      }
      return found(byNamespace);
    },
  };
  const present: Probe = {
    id: 'cluster.secrets',
    group: 'cluster',
    title: 'the Secrets with client secrets',
    needs: [secrets],
    run: (answers) => found(undefined, judgeSecrets(answers.get(secrets), subject)),
  };
  const synchronization: Probe = {
    id: 'cluster.synchronization',
    group: 'cluster',
    title: 'the synchronization of Secrets',
    needs: [secrets],
    async run() {
      const findings: Finding[] = [];
      for (const namespace of new Set(sides)) {
        const listed = await listObjects(subject, 'externalsecrets.external-secrets.io', namespace);
        if (listed.kind !== 'value') return listed;
        for (const object of listed.value) findings.push(...judgeSynchronization(object, now()));
      }
      return found(undefined, findings);
    },
  };
  const ingress = createIngressProbe(subject, secrets, header);
  // What has not been synchronized is the cause of what is missing.
  const apiKey = createApiKeySecretProbe(subject, secrets, secretName, platformUrl);
  const injection = listInjectionProbes(subject, secrets, now);
  const versions = listVersionProbes(subject, secrets);
  return [secrets, synchronization, present, ingress, apiKey, ...injection, ...versions];
}

/**
 * With the policy Merge and no Secret to merge into, the operator says Ready and does nothing until the next refresh:
 * only the reason `SecretSynced` says that there is one.
 */
function judgeSynchronization(object: KubeObject, now: number): readonly Finding[] {
  const who = `${textAt(object, 'metadata', 'namespace')}/${textAt(object, 'metadata', 'name')}`;
  const condition = listAt(object, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === 'Ready',
  );
  const reason = textAt(condition, 'reason');
  const target = textAt(object, 'spec', 'target', 'name') || textAt(object, 'metadata', 'name');
  if (textAt(condition, 'status') !== 'True' || reason !== 'SecretSynced')
    return [
      fail(
        'synchronization_incomplete',
        `the ExternalSecret ${who} has not been synchronized: ${reason === '' ? 'it has no status yet' : reason}`,
        reason === 'SecretMissing'
          ? `Create the Secret ${target}, into which it merges; or use creationPolicy CreateOrMerge.`
          : `Look at kubectl describe externalsecret; then kubectl annotate externalsecret force-sync=$(date +%s) --overwrite for ${who}`,
        [textAt(condition, 'message')].filter((line) => line !== ''),
      ),
    ];
  const refreshed = Date.parse(textAt(object, 'status', 'refreshTime'));
  const interval = parseDuration(textAt(object, 'spec', 'refreshInterval'));
  const intervalMs = interval.ok && interval.value > 0 ? interval.value : DEFAULT_INTERVAL_MS;
  const isStale = now - refreshed > STALE_INTERVALS * intervalMs;
  return isStale
    ? [
        warn(
          'synchronization_stale',
          `the ExternalSecret ${who} was last synchronized ${Math.round((now - refreshed) / 60_000)} minutes ago; its interval is ${formatDuration(intervalMs)}`,
          'Look at whether the external-secrets operator runs, and at its log.',
        ),
      ]
    : [];
}
