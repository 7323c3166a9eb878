import { formatConfigProblem } from '@sallyport/config';
import { BASE, load, problemsOf } from '@sallyport/testing/client/settings';
import { describe, expect, it } from 'vitest';

/** A service app with its token endpoint. */
const SERVICE_APP = {
  ...BASE,
  INTERNAL_CLIENT_ID: 'service',
  AUTH_TOKEN_URL: 'https://idp.example.com/token',
};

describe('internal services', () => {
  const text = `union:
  auth:
    enable: true
    type: ClientSecret
    clientId: service
    clientSecretLocation: /etc/secrets/union/client_secret
    tokenUrl: https://idp.example.com/token
    authorizationMetadataKey: core-authorization
    scopes: [all]
    tokenRefreshWindow: 5m
executions:
  app:
    adminClient:
      connection:
        authorizationHeader: core-authorization
        clientId: service
        clientSecretLocation: /etc/secrets/union/client_secret
        tokenUrl: https://idp.example.com/token
        scopes: [all]
`;

  it.each(['union.auth', 'executions.app.adminClient.connection'] as const)(
    'read %s: client, secret file, token endpoint, header, scopes and refresh window',
    (block) => {
      expect(load({ text, env: {}, block }).settings).toEqual(
        expect.objectContaining({
          isEnabled: true,
          endpoint: undefined,
          authType: 'ClientSecret',
          clientId: 'service',
          clientSecret: {
            from: 'file',
            path: '/etc/secrets/union/client_secret',
            key: `${block}.clientSecretLocation`,
          },
          tokenUrl: 'https://idp.example.com/token',
          authorizationHeader: 'core-authorization',
          scopes: ['all'],
          refreshWindowMs: 300_000,
        }),
      );
    },
  );

  it('of the data plane take client id and token endpoint from the deployment variables', () => {
    const env = { AUTH_CLIENT_ID: 'service', AUTH_TOKEN_URL: 'https://idp.example.com/token' };
    expect(load({ env, block: 'union.auth' }).settings).toMatchObject({
      clientId: 'service',
      tokenUrl: 'https://idp.example.com/token',
    });
  });

  const BLOCKS = ['admin', 'union.auth', 'executions.app.adminClient.connection'] as const;
  const SERVICE = {
    ...BASE,
    AUTH_TOKEN_URL: 'https://idp.example.com/token',
    CORE_CREDENTIALS_AUTH_MODE: 'basic',
  };

  it.each(BLOCKS)(
    '%s: INTERNAL_CLIENT_ID wins over AUTH_CLIENT_ID, with a warning where they differ',
    (block) => {
      const env = { ...SERVICE, AUTH_CLIENT_ID: 'one', INTERNAL_CLIENT_ID: 'two' };
      const { settings, warnings } = load({ env, block });
      expect(settings.clientId).toBe('two');
      expect(warnings.map(formatConfigProblem)).toEqual([
        `environment: ${block}.clientId (AUTH_CLIENT_ID): found "one", expected "two" as in INTERNAL_CLIENT_ID, which wins, unless auth.separateServiceApps: true says that they are two service apps`,
      ]);
      const same = load({ env: { ...env, AUTH_CLIENT_ID: 'two' }, block });
      expect(same.warnings).toEqual([]);
      const separate = load({ env, block, text: 'auth: {separateServiceApps: true}\n' });
      expect([separate.settings.clientId, separate.warnings]).toEqual(['two', []]);
    },
  );

  it.each(BLOCKS)(
    '%s: AUTH_CLIENT_ID alone names the service app, as on the data plane',
    (block) => {
      const { settings, warnings } = load({ env: { ...SERVICE, AUTH_CLIENT_ID: 'one' }, block });
      expect(settings.clientId).toBe('one');
      expect(warnings).toEqual([]);
      expect(problemsOf({ env: SERVICE, block })).toEqual([
        expect.stringContaining(`${block}.clientId`),
      ]);
    },
  );

  it('an application that is named for one client wins over AUTH_CLIENT_ID, and may not contradict INTERNAL_CLIENT_ID', () => {
    const env = { ...SERVICE, CORE_CREDENTIALS_CLIENT_ID: 'automation' };
    expect(load({ env: { ...env, AUTH_CLIENT_ID: 'one' } }).settings.clientId).toBe('automation');
    expect(problemsOf({ env: { ...env, INTERNAL_CLIENT_ID: 'one' } })[0]).toContain(
      'expected the same as in CORE_CREDENTIALS_CLIENT_ID',
    );
  });

  it('with union.auth.enable false are warned that they receive 401', () => {
    const { settings, warnings } = load({
      text: 'union:\n  auth:\n    enable: false\n',
      env: {},
      block: 'union.auth',
    });
    expect(settings.isEnabled).toBe(false);
    expect(warnings.map(formatConfigProblem)).toEqual([
      'config.yaml:3: union.auth.enable: found false, expected true: without it internal services receive 401',
    ]);
  });

  it('without token endpoint need the platform’s address, and without client id that', () => {
    expect(problemsOf({ env: {}, block: 'union.auth' })).toEqual([
      expect.stringContaining('admin.endpoint: found nothing'),
      expect.stringContaining('union.auth.clientId (INTERNAL_CLIENT_ID): found nothing'),
    ]);
  });

  describe('union.auth.enable and server.security.useAuth', () => {
    const CONTRADICTION =
      'config.yaml:3: server.security.useAuth: found false, expected true, as union.auth.enable is: without it no token is checked, no metadata served, and protected routes stay closed';
    const MISSING =
      'config.yaml:6: union.auth.enable: found false, expected true: without it internal services receive 401';

    it.each([
      [true, true, []],
      [false, true, [MISSING]],
      [true, false, [CONTRADICTION]],
      [false, false, []],
    ] as const)(
      '%s and %s: works, or says in one line what contradicts what',
      (enable, useAuth, lines) => {
        const text = `server:
  security:
    useAuth: ${useAuth}
union:
  auth:
    enable: ${enable}
`;
        const { settings, warnings } = load({ text, env: SERVICE_APP, block: 'union.auth' });
        expect(settings.isEnabled).toBe(enable);
        expect(warnings.map(formatConfigProblem)).toEqual(lines);
      },
    );
  });

  it('without tokenUrl and scopes learn both from the platform; without scopes alone ask for all', () => {
    const block = 'union.auth';
    const { tokenUrl, scopes } = load({
      env: { ...BASE, AUTH_CLIENT_ID: 'service' },
      block,
    }).settings;
    expect([tokenUrl, scopes]).toEqual(['', undefined]);
    expect(load({ env: SERVICE_APP, block }).settings.scopes).toEqual(['all']);
    const given = load({
      text: 'union: {auth: {scopes: [one]}}\n',
      env: { ...BASE, AUTH_CLIENT_ID: 'service' },
      block,
    });
    expect(given.settings.scopes).toEqual(['one']);
  });
});
