import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from './load-config.ts';
import { redactConfig } from './redact-config.ts';

const FILE = {
  publicUrl: 'https://platform.example.com',
  auth: {
    authorizedUris: ['http://admin:80'],
    appAuth: { thirdPartyConfig: { flyteClient: { clientId: 'native' } } },
    userAuth: { openId: { baseUrl: 'https://idp.example.com', clientId: 'web' } },
  },
  session: { idleTimeout: '1h30m' },
  union: { auth: { clientId: 'service', tokenUrl: 'https://idp.example.com/token' } },
  executions: {
    app: {
      adminClient: {
        connection: { clientId: 'service', tokenUrl: 'https://idp.example.com/token' },
      },
    },
  },
  admin: { clientId: 'service' },
  secrets: { admin: { create: true, clientId: 'service', clientSecret: 'hunter2' } },
};

function load(file: unknown) {
  const text = stringify(file);
  const result = loadConfig({ file: { path: 'c.yaml', text }, env: {}, flags: {} }, 'serve');
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.config;
}

describe('redactConfig', () => {
  it('writes keys the way the file does, with defaults, without secrets', () => {
    const printed = redactConfig(load(FILE));
    expect(printed).toMatchObject({
      publicUrl: 'https://platform.example.com',
      session: { idleTimeout: '1h30m', absoluteLifetime: '7d', store: 'local' },
      union: { auth: { clientId: 'service', tokenUrl: 'https://idp.example.com/token' } },
      executions: {
        app: {
          adminClient: {
            connection: { clientId: 'service', tokenUrl: 'https://idp.example.com/token' },
          },
        },
      },
      admin: { clientId: 'service' },
      secrets: { admin: { create: true, clientSecret: '[secret]' } },
    });
    expect(printed).not.toHaveProperty('secrets.adminOauthClientCredentials.clientSecret');
    expect(JSON.stringify(printed)).not.toContain('hunter2');
  });

  it('is a configuration file again that gives the same configuration', () => {
    const config = load(FILE);
    const printed = redactConfig(config);
    const again = load(printed);
    expect(redactConfig(again)).toEqual(printed);
    expect(again.session).toEqual(config.session);
    expect(again.auth).toEqual(config.auth);
  });

  it('is not needed to keep a secret out of a log by accident', () => {
    const config = load(FILE);
    expect(config.secrets.admin.clientSecret.reveal()).toBe('hunter2');
    expect(JSON.stringify(config)).not.toContain('hunter2');
    expect(inspect(config, { depth: 9 })).not.toContain('hunter2');
  });
});
