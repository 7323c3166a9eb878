/**
 * The probes of the injection of API keys, put together.
 *
 * @module
 */

import type { ClusterSubject, KubeObject } from '../cluster.ts';
import type { Probe } from '../graph/probe.ts';
import {
  createFailurePolicyProbe,
  createInjectionProbe,
  createInjectionServiceProbe,
} from './injection.ts';
import { createInjectionCertificateProbe } from './injection-certificate.ts';
import {
  createInjectedPodsProbe,
  createInjectionNamespacesProbe,
  createInjectionTrialProbe,
} from './injection-pods.ts';

/** Lists them, each behind what it would only be an effect of. */
export function listInjectionProbes(
  subject: ClusterSubject,
  secrets: Probe<ReadonlyMap<string, readonly KubeObject[]>>,
  now: () => number,
): readonly Probe[] {
  const injection = createInjectionProbe(subject, secrets);
  const service = createInjectionServiceProbe(subject, injection);
  const certificate = createInjectionCertificateProbe(subject, injection, secrets, now);
  const namespaces = createInjectionNamespacesProbe(subject, injection);
  const before = [service, certificate];
  const trial = createInjectionTrialProbe(subject, injection, namespaces, before);
  const pods = createInjectedPodsProbe(subject, injection, namespaces, [...before, trial]);
  const failures = createFailurePolicyProbe(injection);
  return [injection, service, certificate, namespaces, trial, pods, failures];
}
