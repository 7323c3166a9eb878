/**
 * The label by which a pod asks for the API key.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { InjectionSettings } from './inject-api-key.ts';
import { isAbsent, isJsonObject, memberOf } from './json-object.ts';

/** A pod with its label. */
export interface Labelling<Pod> {
  /** The same object when it has the label already, with whatever value. */
  readonly pod: Pod;
  /** `other_value_kept`: the label is there with another value than `true`; such a pod gets no key. */
  readonly outcome: 'labelled' | 'unchanged' | 'other_value_kept';
}

/** Why a pod cannot be labelled: its `metadata` or its labels are no JSON object. */
export type LabellingRefusal = 'metadata_not_an_object' | 'labels_not_an_object';

/**
 * Labels a pod, so that it gets the API key in a namespace that has opted in. For executors: every task pod
 * that may call the control plane is made through this function.
 *
 * A label that is there keeps its value: the author of a task may keep a pod from the key. Does not check that
 * the name of the label is legal; the configuration does.
 *
 * @param pod - The pod before its creation, as JSON. Untrusted; never changed.
 */
export function labelTaskPod<Pod extends object>(
  pod: Pod,
  { podLabel }: Pick<InjectionSettings, 'podLabel'>,
): Result<Labelling<Pod>, LabellingRefusal> {
  const metadata = memberOf(pod, 'metadata') ?? {};
  if (!isJsonObject(metadata)) return refuse('metadata_not_an_object');
  const labels = memberOf(metadata, 'labels') ?? {};
  if (!isJsonObject(labels)) return refuse('labels_not_an_object');
  const value = memberOf(labels, podLabel);
  if (value === 'true') return accept({ pod, outcome: 'unchanged' });
  if (!isAbsent(value)) return accept({ pod, outcome: 'other_value_kept' });
  const labelled = { ...metadata, labels: { ...labels, [podLabel]: 'true' } };
  return accept({ pod: { ...pod, metadata: labelled }, outcome: 'labelled' });
}
