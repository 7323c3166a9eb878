import { describe, expect, it } from 'vitest';
import { createDeploymentSpec, listApplications, registeredGrants } from './deployment-spec.ts';

const PUBLIC_URL = 'https://platform.example.com';
const CLIENT_IDS = { web: 'web', native: 'native', service: 'service' };
const create = (options = {}) => createDeploymentSpec(PUBLIC_URL, CLIENT_IDS, options);

describe('The authorization server of a deployment', () => {
  it('has a scope all, and tokens for the public URL', () => {
    const { scope, audience } = create().authorizationServer;
    expect([scope.name, audience]).toEqual(['all', PUBLIC_URL]);
  });

  it('has a policy that admits every application and no other client', () => {
    expect(create().authorizationServer.policy.clientIds).toEqual(['web', 'native', 'service']);
    expect(create({ furtherServices: ['sync'] }).authorizationServer.policy.clientIds).toEqual([
      'web',
      'native',
      'service',
      'sync',
    ]);
  });

  it('has a rule that permits the three grants of the requirement, and not refresh_token as a fourth', () => {
    expect(create().authorizationServer.rule.grantTypes).toEqual([
      'authorization_code',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
    ]);
  });
});

describe('An application', () => {
  it('is registered for refresh_token as a part of the code grant where it may ask for offline_access', () => {
    const { web, native, services } = create();
    expect(registeredGrants(web)).toEqual(['authorization_code', 'refresh_token']);
    expect(registeredGrants(native)).not.toContain('refresh_token');
    expect(registeredGrants(services[0])).toEqual(['client_credentials']);
    expect(registeredGrants(create({ nativeRefreshTokens: true }).native)).toContain(
      'refresh_token',
    );
  });

  it('of a single component is a service app as the shared one, with a client ID of its own', () => {
    const [shared, sync] = create({ furtherServices: ['sync'] }).services;
    expect({ ...sync, clientId: shared.clientId, name: shared.name }).toEqual(shared);
    expect(listApplications(create({ furtherServices: ['sync'] }))).toHaveLength(4);
  });

  it.each([['service'], ['web'], ['a b'], ['']])(
    'of a single component cannot be called %j',
    (clientId) => {
      expect(() => create({ furtherServices: [clientId] })).toThrow('SP_CONFIG_INVALID');
    },
  );

  it('of two components needs two client IDs', () => {
    expect(() => create({ furtherServices: ['sync', 'sync'] })).toThrow('SP_CONFIG_INVALID');
  });
});
