/**
 * The API key of task pods: which pods get it, and how. Pure: asks no cluster and reads no Secret.
 *
 * @module
 */

export {
  type Injection,
  type InjectionRefusal,
  type InjectionSettings,
  type InjectionWarning,
  injectApiKey,
} from './inject-api-key.ts';
export { type Labelling, type LabellingRefusal, labelTaskPod } from './label-task-pod.ts';
