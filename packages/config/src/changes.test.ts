import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { listChanges } from './changes.ts';
import type { Config } from './config.ts';
import { loadConfig } from './load-config.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};

function load(file: unknown): Config {
  const text = stringify(file);
  const result = loadConfig({ file: { path: 'c.yaml', text }, env: ENV, flags: {} }, 'serve');
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.config;
}

describe('listChanges', () => {
  it('finds nothing between two readings of one file', () => {
    const file = { access: { groups: ['core'] }, session: { idleTimeout: '1h' } };
    expect(listChanges(load(file), load(file))).toEqual({ changed: [], needRestart: [] });
  });

  it('names every key that differs, durations and lists included, and what leaving one out changes', () => {
    const before = load({ access: { groups: ['core', 'ops'] }, session: { idleTimeout: '1h' } });
    const after = load({ access: { groups: ['ops'] }, rateLimit: { perMinute: 10 } });
    const { changed, needRestart } = listChanges(before, after);
    expect(changed.toSorted()).toEqual([
      'access.groups',
      'rateLimit.perMinute',
      'session.idleTimeout',
    ]);
    expect(needRestart).toEqual([]);
  });

  it('reports the order of a list as a change: bearer issuers are tried by it', () => {
    const [before, after] = [
      ['a', 'b'],
      ['b', 'a'],
    ].map((groups) => load({ access: { groups } }));
    if (before === undefined || after === undefined) throw new TypeError('two of them');
    expect(listChanges(before, after).changed).toEqual(['access.groups']);
  });

  it('reports that a secret changed, by its key alone', () => {
    const secrets = (clientSecret: string) =>
      load({ secrets: { admin: { clientId: 'service', clientSecret } } });
    const changes = listChanges(secrets('hunter2'), secrets('hunter3'));
    expect(changes).toEqual({ changed: ['secrets.admin.clientSecret'], needRestart: [] });
  });

  it.each([
    ['listen.port', { listen: { port: 9 } }],
    ['listen.host', { listen: { host: '::1' } }],
    ['observe.logLevel', { observe: { logLevel: 'warn' } }],
    ['server.security.useAuth', { server: { security: { useAuth: false } } }],
    ['server.workers', { server: { workers: 'auto' } }],
    ['session.keyRingFile', { session: { keyRingFile: './other.json' } }],
    ['session.redis.addresses', { session: { redis: { addresses: ['r:1'] } } }],
    ['stateDirectory', { stateDirectory: './other' }],
  ])('%s is opened once: a change of it needs a restart', (key, file) => {
    expect(listChanges(load({}), load(file)).needRestart).toContain(key);
  });

  it.each([
    ['server.drainDelay', { server: { drainDelay: '5s' } }],
    ['session.idleTimeout', { session: { idleTimeout: '1h' } }],
    ['auth.userAuth.openId.scopes', { auth: { userAuth: { openId: { scopes: ['openid'] } } } }],
    ['redirectOrigins', { redirectOrigins: ['https://other.example.com'] }],
  ])('%s is taken over without one', (key, file) => {
    expect(listChanges(load({}), load(file))).toEqual({ changed: [key], needRestart: [] });
  });
});
