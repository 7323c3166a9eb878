/**
 * The verdict alone: imports neither Hono nor openid-client.
 *
 * @module
 */

export type { Admission, Answer, Denial } from './answer/answer.ts';
export { type BackendHeaderPolicy, selectBackendHeaders } from './answer/backend-headers.ts';
export {
  type CallerHints,
  type CallerKind,
  classifyCaller,
  isBackground,
} from './answer/caller.ts';
export {
  type BearerCheckOptions,
  createBearerCheck,
} from './bearer/bearer-check.ts';
export type {
  BearerSettings,
  IntrospectionSettings,
  IssuerSettings,
} from './bearer/bearer-settings.ts';
export type { TokenProblem } from './bearer/jwt-verifier.ts';
export { selectRequestId } from './log/request-id.ts';
export {
  type BearerVerifier,
  type Check,
  type CheckDependencies,
  createCheck,
} from './verdict/check.ts';
export type { CheckRequest } from './verdict/check-request.ts';
export type {
  Admitted,
  RefusalReason,
  Refused,
  Undecided,
  UndecidedReason,
  Verdict,
} from './verdict/verdict.ts';
