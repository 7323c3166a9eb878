/**
 * The admission webhook that injects the API key, without its server. Pure.
 *
 * @module
 */

export {
  type AdmissionAnswer,
  answerAdmissionReview,
  type ReviewRefusal,
} from './answer-review.ts';
