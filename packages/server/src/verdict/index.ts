/**
 * The verdict alone: imports neither Hono nor openid-client.
 *
 * @module
 */

export type { Admission, Answer, Denial } from '../answer/answer.ts';
export { type BackendHeaderPolicy, selectBackendHeaders } from '../answer/backend-headers.ts';
export { type CallerHints, type CallerKind, isBackground, tellCaller } from '../answer/caller.ts';
export { type BearerVerifier, type Check, type CheckDependencies, createCheck } from './check.ts';
export type { CheckRequest } from './check-request.ts';
export type { Admitted, RefusalReason, Refused, Undecided, Verdict } from './verdict.ts';
