/**
 * The Secrets of the requirement in a cluster, and what synchronizes them.
 *
 * @module
 */

import { createHmac, randomBytes } from 'node:crypto';
import { judgeClientSecret } from '@sallyport/config';
import { formatDuration, parseDuration } from '@sallyport/protocol';
import { at, type ClusterSubject, type KubeObject, listAt, textAt } from '../cluster.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { found, type Probe } from '../graph/probe.ts';
import { createApiKeySecretProbe } from './api-key.ts';
import { createIngressProbe } from './ingress.ts';
import { listInjectionProbes } from './injection-list.ts';
import { listObjects } from './list-objects.ts';
import { toSecretFinding } from './secrets.ts';

/** A Secret of the requirement's table. */
interface ExpectedSecret {
  readonly name: string;
  readonly side: 'controlPlane' | 'dataPlane';
  /** What fails without it. */
  readonly effect: string;
  /** Keys that it has beside the service app's secret. */
  readonly further: readonly string[];
}

const EXPECTED: readonly ExpectedSecret[] = [
  {
    name: 'core-admin-secrets',
    side: 'controlPlane',
    effect: 'the admin service obtains no token',
    further: ['oidc_client_secret'],
  },
  {
    name: 'core-secret-auth',
    side: 'controlPlane',
    effect: 'the scheduler fails to start',
    further: [],
  },
  {
    name: 'cloud-secret-auth',
    side: 'dataPlane',
    effect: 'operator and propeller cannot authenticate',
    further: [],
  },
];
const KEY = 'client_secret';
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
  return [secrets, synchronization, present, ingress, apiKey, ...injection];
}

function judgeSecrets(
  byNamespace: ReadonlyMap<string, readonly KubeObject[]>,
  subject: ClusterSubject,
): readonly Finding[] {
  const findings: Finding[] = [];
  const key = randomBytes(32);
  const marks = new Map<string, string>();
  for (const { name, side, effect, further } of EXPECTED) {
    const namespace = subject[side];
    const object = byNamespace
      .get(namespace)
      ?.find((each) => textAt(each, 'metadata', 'name') === name);
    const who = `${namespace}/${name}`;
    if (object === undefined) {
      findings.push(
        fail(
          'secret_missing',
          `the Secret ${name} is missing in ${namespace}: ${effect}`,
          `kubectl create secret generic ${name} -n ${namespace}${[KEY, ...further].map((key) => ` --from-file=${key}=FILE`).join('')}`,
        ),
      );
      continue;
    }
    const text = readKey(object);
    const keys = [...new Set([...names(at(object, 'data')), ...names(at(object, 'stringData'))])];
    if (text === undefined) {
      findings.push(
        fail(
          'secret_key_missing',
          `the Secret ${who} lacks the key ${KEY}: ${effect}`,
          `Add the key ${KEY} to it; with an ExternalSecret, look at its reason: kubectl get externalsecret -n ${namespace}`,
          [keys.length === 0 ? 'it has no key' : `its keys: ${keys.slice(0, 8).join(', ')}`],
        ),
      );
      continue;
    }
    const use = { id: who, name: `the Secret ${who}`, clientId: '', source: NO_SOURCE };
    const judged = judgeClientSecret(text, { path: who, key: 'Secret' });
    if (!judged.ok) findings.push(toSecretFinding(use, judged.error, 'fail'));
    else {
      for (const oddity of judged.value.warnings)
        findings.push(toSecretFinding(use, oddity, 'warn'));
      marks.set(who, createHmac('sha256', key).update(judged.value.secret).digest('base64'));
    }
  }
  if (new Set(marks.values()).size > 1)
    findings.push(
      warn(
        'secrets_differ',
        'the Secrets of the service app hold different client secrets',
        'Write the same secret to all of them, unless control plane and data plane have a service app each.',
        [...marks.keys()],
      ),
    );
  return findings;
}

const NO_SOURCE = { from: 'file', path: '', key: 'Secret' } as const;

function names(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

/** The value of the key, of `data` or `stringData`; `undefined` where there is none. */
function readKey(object: KubeObject): string | undefined {
  const plain = at(object, 'stringData', KEY);
  if (typeof plain === 'string') return plain;
  const encoded = at(object, 'data', KEY);
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
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
