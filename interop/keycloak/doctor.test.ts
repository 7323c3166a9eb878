import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MovedClock, startMovedClock } from '../../conformance/wire/moved-clock.ts';
import { run } from '../../conformance/wire/process.ts';
import { NGINX } from '../nginx/nginx.ts';
import { KEYCLOAK } from './keycloak-part.ts';
import { type KeycloakPlatform, startKeycloakPlatform } from './keycloak-platform.ts';

interface Found {
  readonly ok: boolean;
  readonly findings: readonly { readonly code: string; readonly probe: string }[];
}

describe.skipIf(KEYCLOAK.isLeftOut || NGINX.isLeftOut)('The doctor at Keycloak', () => {
  let clock: MovedClock;
  let platform: KeycloakPlatform;
  let secretFile: string;

  beforeAll(async () => {
    clock = await startMovedClock();
    platform = await startKeycloakPlatform(clock);
    const files = readdirSync(platform.realm.folder, { recursive: true, encoding: 'utf8' });
    const name = files.find((path) => basename(path) === 'client_secret') ?? '';
    secretFile = join(platform.realm.folder, name);
  }, 400_000);
  afterAll(async () => {
    await platform.stop();
    await clock.close();
  });

  /** Looks at the platform with a service app that is configured like this. */
  async function examine(auth: Readonly<Record<string, unknown>> = {}): Promise<Found> {
    const config = join(platform.realm.folder, 'looked-at.yaml');
    const union = { auth: { enable: true, clientSecretLocation: secretFile, ...auth } };
    writeFileSync(config, JSON.stringify({ union }));
    const text = readFileSync(join(platform.realm.folder, 'deployment.env'), 'utf8');
    const variables = Object.fromEntries(
      [...text.matchAll(/^(\w+)='([^']*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    const { stdout, stderr } = await run(
      ['doctor', '--config', config, '--skip', 'machine', '--json'],
      // The file's client ID is to count.
      'clientId' in auth ? withoutServiceApp(variables) : variables,
    );
    expect(stdout, stderr).not.toContain(readFileSync(secretFile, 'utf8').trim());
    return JSON.parse(stdout) as Found;
  }

  function withoutServiceApp(
    variables: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> {
    const { INTERNAL_CLIENT_ID: _, AUTH_CLIENT_ID: __, ...others } = variables;
    return others;
  }

  /** A secret of the test's own, beside the real one. */
  function write(text: string): string {
    const path = join(platform.realm.folder, 'other_secret');
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  async function setService(change: Readonly<Record<string, unknown>>): Promise<void> {
    const [client] = (await platform.realm.ask('/clients?clientId=sallyport-service')) as readonly {
      readonly id: string;
    }[];
    await platform.realm.ask(`/clients/${client?.id}`, 'PUT', { ...client, ...change });
  }

  it('finds nothing wrong with what idp apply has set up', async () => {
    expect(await examine()).toMatchObject({ ok: true, findings: [] });
  });

  it('names a wrong secret as exactly that, although Keycloak says unauthorized_client', async () => {
    const { findings } = await examine({ clientSecretLocation: write('not-the-secret') });
    expect(findings.map(({ code }) => code)).toEqual(['secret_wrong']);
  });

  it('names quotes around the secret, which Keycloak answers as a wrong one', async () => {
    const quoted = `"${readFileSync(secretFile, 'utf8').trim()}"`;
    const { findings } = await examine({ clientSecretLocation: write(quoted) });
    expect(findings.map(({ code }) => code)).toEqual(['secret_quotes']);
  });

  it('names an unknown client as exactly that', async () => {
    const { findings } = await examine({ clientId: 'no-such-app' });
    expect(findings.map(({ code }) => code)).toEqual(['client_unknown']);
  });

  it('names a grant that is off, which Keycloak answers as a wrong secret', async () => {
    await setService({ serviceAccountsEnabled: false });
    const { findings } = await examine();
    expect(findings.map(({ code }) => code)).toEqual(['grant_not_allowed']);
    await setService({ serviceAccountsEnabled: true });
  });

  it('names a scope that the realm does not have', async () => {
    const { findings } = await examine({ scopes: ['nosuch'] });
    expect(findings.map(({ code }) => code)).toEqual(['scope_unknown']);
  });

  it('names a final slash of the issuer', async () => {
    const { stdout } = await run(['doctor', platform.url, '--skip', 'machine', '--json'], {
      PUBLIC_URL: platform.url,
      OIDC_BASE_URL: `${platform.realm.issuer}/`,
      OIDC_CLIENT_ID: 'sallyport-web',
      CLI_CLIENT_ID: 'sallyport-cli',
    });
    const [first] = (JSON.parse(stdout) as Found).findings;
    expect(first?.code).toBe('issuer_slash');
  });
});
