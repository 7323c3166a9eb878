/**
 * What an executor should say about a pod.
 *
 * @module
 */

/** A warning. It holds no value of the pod, for it may be a secret. */
export interface InjectionWarning {
  /**
   * `own_value_kept`: the container has an `EAGER_API_KEY` of its own, which it keeps. `stronger_variable`: it
   * has `_UNION_EAGER_API_KEY`, which clients read first. `not_an_object`, `not_a_list`: no such part of a pod;
   * left as it is.
   */
  readonly reason: 'own_value_kept' | 'stronger_variable' | 'not_an_object' | 'not_a_list';
  /** Where, such as `spec.containers[0].env[2]`. */
  readonly path: string;
}
