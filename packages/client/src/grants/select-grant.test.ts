import { SecretText } from '@sallyport/config';
import { createTestPorts, metadataOf } from '@sallyport/testing/client/ports';
import { describe, expect, it } from 'vitest';
import type { AuthType, ClientSettings } from '../settings/client-settings.ts';
import { loadClientSettings } from '../settings/load-client-settings.ts';
import { describeSubject, needsMetadata, selectGrant } from './select-grant.ts';

const METADATA = metadataOf('https://idp.example.com', { audience: 'human' });
const TOKEN_URL = 'https://own.example.com/token';

function settingsOf(changes: Partial<ClientSettings>): ClientSettings {
  const loaded = loadClientSettings({
    env: {},
    flags: { 'admin.endpoint': 'platform.example.com' },
  });
  if (!loaded.ok) throw new Error('the settings of every test are good');
  const secret = { from: 'text', secret: new SecretText('s') } as const;
  return {
    ...loaded.value.settings,
    clientId: 'service',
    clientSecret: secret,
    command: ['mint'],
    ...changes,
  };
}

describe('the grant of the settings', () => {
  it.each<readonly [AuthType, string, boolean]>([
    ['Pkce', 'pkce', true],
    ['DeviceFlow', 'device_code', true],
    ['ClientSecret', 'client_credentials', false],
    ['ApiKey', 'client_credentials', false],
    ['ExternalCommand', 'external_command', false],
    ['ServiceAccountToken', 'service_account_token', false],
  ])('with %s is %s', (authType, kind, isInteractive) => {
    const grant = selectGrant(settingsOf({ authType }), METADATA, createTestPorts());
    expect(grant).toMatchObject({ kind, isInteractive });
    expect(grant.refresh !== undefined).toBe(isInteractive);
  });

  it.each<readonly [AuthType, Partial<ClientSettings>]>([
    ['Pkce', {}],
    ['ClientSecret', { clientSecret: undefined }],
  ])('with %s fails when what it needs is missing', (authType, changes) => {
    const metadata = authType === 'Pkce' ? undefined : METADATA;
    const settings = settingsOf({ authType, ...changes });
    expect(() => selectGrant(settings, metadata, createTestPorts())).toThrow('SP_CONFIG_INVALID');
  });

  it.each<readonly [AuthType, Partial<ClientSettings>, boolean]>([
    ['Pkce', { tokenUrl: TOKEN_URL, scopes: ['all'] }, true],
    ['DeviceFlow', { tokenUrl: TOKEN_URL, scopes: ['all'] }, true],
    ['ApiKey', { tokenUrl: TOKEN_URL, scopes: ['all'] }, true],
    ['ClientSecret', { tokenUrl: TOKEN_URL, scopes: ['all'] }, false],
    ['ClientSecret', { scopes: ['all'] }, true],
    ['ClientSecret', { tokenUrl: TOKEN_URL }, true],
    ['ClientSecret', { tokenUrl: TOKEN_URL, scopes: ['all'], useAudienceFromAdmin: true }, true],
    ['ExternalCommand', {}, false],
    ['ServiceAccountToken', {}, false],
    ['ServiceAccountToken', { serviceAccountToken: { path: '/t', use: 'ClientAssertion' } }, true],
  ])('with %s and %j asks the platform first: %s', (authType, changes, isNeeded) => {
    expect(needsMetadata(settingsOf({ authType, ...changes }))).toBe(isNeeded);
  });

  it.each<readonly [AuthType, Partial<ClientSettings>, object]>([
    ['Pkce', {}, { clientId: 'native', audience: 'human', scopes: ['all'] }],
    ['DeviceFlow', {}, { clientId: 'native', audience: 'human' }],
    ['Pkce', { audience: 'own', scopes: ['b'] }, { audience: 'own', scopes: ['b'] }],
    ['Pkce', { tokenUrl: TOKEN_URL }, { tokenEndpoint: TOKEN_URL }],
    [
      'ClientSecret',
      {},
      { clientId: 'service', audience: '', tokenEndpoint: METADATA.tokenEndpoint },
    ],
    ['ClientSecret', { useAudienceFromAdmin: true }, { audience: 'human' }],
    ['ClientSecret', { scopes: ['machine'] }, { scopes: ['machine'] }],
    ['ApiKey', {}, { clientId: 'service', audience: 'human', scopes: ['all'] }],
  ])('with %s and %j is about %j', (authType, changes, subject) => {
    expect(describeSubject(settingsOf({ authType, ...changes }), METADATA)).toMatchObject(subject);
  });

  it('leaves out for an application the scopes that the platform publishes for people alone', () => {
    const metadata = metadataOf(METADATA.issuer, { scopes: ['all', 'openid', 'offline_access'] });
    const scopesOf = (authType: AuthType, changes: Partial<ClientSettings> = {}) =>
      describeSubject(settingsOf({ authType, ...changes }), metadata).scopes;
    expect(scopesOf('Pkce')).toEqual(['all', 'openid', 'offline_access']);
    expect(scopesOf('ClientSecret')).toEqual(['all']);
    expect(scopesOf('ApiKey')).toEqual(['all']);
    expect(scopesOf('ClientSecret', { scopes: ['offline_access'] })).toEqual(['offline_access']);
  });
});
