/**
 * What is done to Kubernetes objects. Pure: no I/O, no clock, no randomness, no `node:` module.
 *
 * @module
 */

export {
  type AdmissionAnswer,
  answerAdmissionReview,
  type ReviewRefusal,
} from './admission/index.ts';
export {
  type Injection,
  type InjectionRefusal,
  type InjectionSettings,
  type InjectionWarning,
  injectApiKey,
  type Labelling,
  type LabellingRefusal,
  labelTaskPod,
} from './inject/index.ts';
