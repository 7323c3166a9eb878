/**
 * The setup of Microsoft Entra ID, as a Terraform configuration.
 *
 * @module
 */

import type { DeploymentSpec } from '../../spec/deployment-spec.ts';
import type { IdpApplication } from '../../spec/idp-spec.ts';
import { nameOf, output, reference, requireProvider, resource } from './blocks.ts';
import { Expression, formatHcl, type HclBlock } from './hcl.ts';

const APPLICATION = 'azuread_application';
const PRINCIPAL = 'azuread_service_principal';
const PASSWORD = 'azuread_application_password';
const API = 'api';

/**
 * Writes the configuration: an application that is the API with the delegated scope and an app role of the same name, and
 * one for each of the specification's. Entra chooses the client IDs itself; they are outputs.
 */
export function renderEntra({
  web,
  native,
  services,
  authorizationServer,
}: DeploymentSpec): string {
  const { name, scope } = authorizationServer;
  const named = services.map((service, index) => [service, nameOf(service, index)] as const);
  const people = [[web, 'web'] as const, [native, 'native'] as const];
  const confidential = [people[0], ...named].filter((entry) => entry !== undefined);
  return formatHcl([
    requireProvider('azuread', 'hashicorp/azuread', '>= 3.0.0'),
    resource('random_uuid', 'scope', {}),
    resource('random_uuid', 'role', {}),
    createApi(name, scope),
    resource('azuread_application_identifier_uri', API, {
      application_id: reference(APPLICATION, API, 'id'),
      identifier_uri: new Expression(`"api://\${${APPLICATION}.${API}.client_id}"`),
    }),
    resource(PRINCIPAL, API, { client_id: reference(APPLICATION, API, 'client_id') }),
    ...people.map(([application, label]) => createForPeople(application, label)),
    ...named.flatMap(([application, label]) => createForService(application, label)),
    ...people.map(([, label]) =>
      resource(PRINCIPAL, label, { client_id: reference(APPLICATION, label, 'client_id') }),
    ),
    ...confidential.map(([, label]) =>
      resource(PASSWORD, label, { application_id: reference(APPLICATION, label, 'id') }),
    ),
    output('audience', reference(APPLICATION, API, 'client_id'), false),
    output(
      'service_scope',
      new Expression(`"api://\${${APPLICATION}.${API}.client_id}/.default"`),
      false,
    ),
    ...[...people, ...named].map(([, label]) =>
      output(`${label}_client_id`, reference(APPLICATION, label, 'client_id'), false),
    ),
    ...confidential.map(([, label]) =>
      output(`${label}_client_secret`, reference(PASSWORD, label, 'value'), true),
    ),
  ]);
}

function createApi(name: string, scope: DeploymentSpec['authorizationServer']['scope']): HclBlock {
  const words = { value: scope.name, enabled: true };
  return resource(APPLICATION, API, { display_name: name, sign_in_audience: 'AzureADMyOrg' }, [
    {
      type: 'api',
      // Version 1 has another issuer, sts.windows.net.
      attributes: { requested_access_token_version: 2 },
      blocks: [
        {
          type: 'oauth2_permission_scope',
          attributes: {
            ...words,
            id: reference('random_uuid', 'scope', 'result'),
            type: 'User',
            admin_consent_display_name: scope.description,
            admin_consent_description: scope.description,
          },
        },
      ],
    },
    {
      type: 'app_role',
      attributes: {
        ...words,
        id: reference('random_uuid', 'role', 'result'),
        display_name: scope.name,
        description: scope.description,
        allowed_member_types: ['Application'],
      },
    },
  ]);
}

function createForPeople(
  { name, role, redirectUris, postLogoutRedirectUris }: IdpApplication,
  label: string,
): HclBlock {
  const isPublic = role === 'native';
  const addresses = [...redirectUris, ...(isPublic ? [] : postLogoutRedirectUris)];
  return resource(
    APPLICATION,
    label,
    {
      display_name: name,
      sign_in_audience: 'AzureADMyOrg',
      // Device sign-in of a public client.
      fallback_public_client_enabled: isPublic,
    },
    [
      {
        type: isPublic ? 'public_client' : 'web',
        attributes: { redirect_uris: addresses },
      },
      requireAccess('scope', 'Scope'),
    ],
  );
}

function createForService({ name }: IdpApplication, label: string): readonly HclBlock[] {
  return [
    resource(APPLICATION, label, { display_name: name, sign_in_audience: 'AzureADMyOrg' }, [
      requireAccess('role', 'Role'),
    ]),
    resource(PRINCIPAL, label, { client_id: reference(APPLICATION, label, 'client_id') }),
    resource('azuread_app_role_assignment', label, {
      app_role_id: reference('random_uuid', 'role', 'result'),
      principal_object_id: reference(PRINCIPAL, label, 'object_id'),
      resource_object_id: reference(PRINCIPAL, API, 'object_id'),
    }),
  ];
}

function requireAccess(id: string, type: 'Role' | 'Scope'): HclBlock {
  return {
    type: 'required_resource_access',
    attributes: { resource_app_id: reference(APPLICATION, API, 'client_id') },
    blocks: [
      {
        type: 'resource_access',
        attributes: { id: reference('random_uuid', id, 'result'), type },
      },
    ],
  };
}
