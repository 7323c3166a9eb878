/**
 * What an admission webhook answers when Kubernetes asks it about a new pod.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import {
  type InjectionSettings,
  type InjectionWarning,
  injectApiKey,
} from '../inject/inject-api-key.ts';
import { isJsonObject, memberOf } from '../inject/json-object.ts';
import { formatEnvironmentPatch } from './environment-patch.ts';

/** The answer, and what became of the pod. */
export interface AdmissionAnswer {
  /** `AdmissionReview` of `admission.k8s.io/v1`, to be sent as JSON. */
  readonly review: object;
  /**
   * `injected`: at least one container gets the variable. `unchanged`: every container has it, or a value of its own.
   * `not_selected`: no creation of a pod, a pod without the label, or `injectSecret` is false. `refused`: the pod is not
   * admitted, because the settings name no Secret that could be injected, or because it is not shaped like a pod.
   */
  readonly outcome: 'injected' | 'unchanged' | 'not_selected' | 'refused';
}

/** Why there is no answer: this is no review of `admission.k8s.io/v1` with a request that has a `uid`. */
export type ReviewRefusal = 'not_a_review' | 'version_unknown' | 'no_request' | 'no_uid';

const VERSION = 'admission.k8s.io/v1';
/** Kubernetes sends a UUID. */
const UID_MAX = 256;
/** Kubernetes cuts what is longer than 4 KiB in all. */
const WARNINGS_MAX = 16;

const SENTENCES: Readonly<Record<InjectionWarning['reason'], string>> = {
  own_value_kept:
    'an EAGER_API_KEY of its own stays, and the API key of the platform is not injected',
  stronger_variable: 'clients read _UNION_EAGER_API_KEY before the EAGER_API_KEY that is injected',
  not_an_object: 'no object',
  not_a_list: 'no list',
};

/**
 * Answers a review: a pod that is created with the label gets the API key by JSON Patch; one that cannot get it, because it is not
 * shaped like a pod, is not admitted; all else is admitted as it is. What `injectApiKey` warns of goes back as warnings, which `kubectl` prints.
 *
 * Does not look at the namespace's labels, which are not in a review: the `namespaceSelector` of the webhook's
 * configuration does, and the API server applies it. An answer holds no secret, so it does not matter who asks.
 *
 * @param review - Body of the request, as JSON. Untrusted; never changed.
 */
export function answerAdmissionReview(
  review: unknown,
  settings: InjectionSettings,
): Result<AdmissionAnswer, ReviewRefusal> {
  if (memberOf(review, 'kind') !== 'AdmissionReview') return refuse('not_a_review');
  if (memberOf(review, 'apiVersion') !== VERSION) return refuse('version_unknown');
  const request = memberOf(review, 'request');
  if (!isJsonObject(request)) return refuse('no_request');
  const uid = memberOf(request, 'uid');
  if (typeof uid !== 'string' || uid === '' || uid.length > UID_MAX) return refuse('no_uid');
  const answer = (outcome: AdmissionAnswer['outcome'], response: object) =>
    accept({
      outcome,
      review: { apiVersion: VERSION, kind: 'AdmissionReview', response: { uid, ...response } },
    });

  const denied = (code: number, message: string) =>
    answer('refused', { allowed: false, status: { code, message } });

  if (!isPodCreation(request) || !settings.injectSecret) return answer('not_selected', ADMITTED);
  const pod = memberOf(request, 'object');
  if (!isJsonObject(pod)) return denied(400, 'the object of the review is no pod');
  const namespaceLabels = { [settings.namespaceLabel]: 'true' };
  const injected = injectApiKey(pod, namespaceLabels, settings);
  if (!injected.ok) return denied(500, `unionAuth.secretName names no Secret: ${injected.error}`);
  const { outcome, warnings } = injected.value;
  const unusable = warnings.filter(({ reason }) => UNUSABLE.has(reason));
  if (unusable.length > 0)
    return denied(400, `the pod cannot get its API key: ${formatWarnings(unusable).join('; ')}`);
  if (outcome !== 'injected' && outcome !== 'unchanged') return answer('not_selected', ADMITTED);
  const said = warnings.length === 0 ? {} : { warnings: formatWarnings(warnings) };
  if (outcome === 'unchanged') return answer(outcome, { ...ADMITTED, ...said });
  const patch = formatEnvironmentPatch(pod, injected.value.pod);
  return answer(outcome, {
    ...ADMITTED,
    patchType: 'JSONPatch',
    // Names of Secrets and keys are ASCII, and so are indexes.
    patch: btoa(JSON.stringify(patch)),
    ...said,
  });
}

/** Of a pod that has one of these, not every container would have the key. */
const UNUSABLE: ReadonlySet<InjectionWarning['reason']> = new Set(['not_an_object', 'not_a_list']);
const ADMITTED = { allowed: true };

/** Neither an update nor a subresource such as `pods/ephemeralcontainers`. */
function isPodCreation(request: object): boolean {
  const resource = memberOf(request, 'resource');
  return (
    memberOf(request, 'operation') === 'CREATE' &&
    (memberOf(request, 'subResource') ?? '') === '' &&
    (memberOf(resource, 'group') ?? '') === '' &&
    memberOf(resource, 'version') === 'v1' &&
    memberOf(resource, 'resource') === 'pods'
  );
}

function formatWarnings(warnings: readonly InjectionWarning[]): readonly string[] {
  const lines = warnings
    .slice(0, WARNINGS_MAX)
    .map(({ path, reason }) => `${path}: ${SENTENCES[reason]}`);
  const more = warnings.length - lines.length;
  return more === 0 ? lines : [...lines, `${more} more like these`];
}
