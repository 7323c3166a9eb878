/**
 * Which grants a client has at a live identity provider: `@sallyport/idp/grants`.
 *
 * @module
 */

export {
  type ApplicationsCheck,
  type CheckedGrant,
  checkApplications,
} from './check-applications.ts';
export {
  type ClientAuthentication,
  classifyAuthentication,
  classifyGrantAnswer,
  type GrantOutcome,
  type TriedGrant,
} from './grant-answer.ts';
export {
  type AuthenticationTry,
  type GrantEndpoints,
  type GrantRequest,
  type GrantTry,
  type TriedClient,
  tryAuthentication,
  tryGrant,
} from './try-grant.ts';
