/**
 * Setting up an identity provider for a deployment: `@sallyport/idp/provision`.
 *
 * @module
 */

export {
  createDeploymentSpec,
  type DeploymentSpec,
  listApplications,
} from '../spec/deployment-spec.ts';
export type { IdpApplication, IdpClientIds } from '../spec/idp-spec.ts';
export { renderDex } from './dex.ts';
export { createKeycloakAdmin, type KeycloakAdminCredentials } from './keycloak/admin-api.ts';
export { createKeycloakApiKeyIssuer } from './keycloak/api-keys.ts';
export { applyKeycloak } from './keycloak/apply-realm.ts';
export { destroyKeycloak, planRemoval } from './keycloak/destroy-realm.ts';
export { type KeycloakTarget, planKeycloak } from './keycloak/plan-realm.ts';
export type { FieldChange, PlannedStep, StepListener } from './planned-step.ts';
export { renderAuth0 } from './terraform/auth0.ts';
export { renderEntra } from './terraform/entra.ts';
export { renderOkta } from './terraform/okta.ts';
