import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KEYCLOAK } from './keycloak-part.ts';
import { makeRealm, type Realm } from './realm.ts';

const PUBLIC_URL = 'https://platform.example.com';
const CLIENTS = ['sallyport-web', 'sallyport-cli', 'sallyport-service'];

interface Client {
  readonly id: string;
  readonly clientId: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly stringData: Readonly<Record<string, string>>;
}

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );

async function clientOf(realm: Realm, clientId: string): Promise<Client> {
  const [client] = (await realm.ask(`/clients?clientId=${clientId}`)) as readonly Client[];
  if (client === undefined) throw new Error(`no client ${clientId}`);
  return client;
}

describe.skipIf(KEYCLOAK.isLeftOut)('Keycloak: sallyport idp on an empty realm', () => {
  let realm: Realm;
  let before: string;
  const said: string[] = [];
  const idp = async (command: string, ...args: readonly string[]) => {
    const ended = await realm.idp(command, PUBLIC_URL, ...args);
    said.push(ended.stdout, ended.stderr);
    return ended;
  };

  beforeAll(async () => {
    realm = await makeRealm();
    before = await realm.snapshot();
  }, 400_000);
  afterAll(() => realm.remove());

  it('plan says what is to be made, and makes nothing', async () => {
    const { code, stdout } = await idp('plan');
    expect(code).toBe(0);
    expect(stdout).toContain('+ client scope all\n');
    for (const client of CLIENTS) expect(stdout).toContain(`+ client ${client}\n`);
    expect(stdout).toContain('    attributes.pkce.code.challenge.method: S256\n');
    expect(stdout).toContain(`    redirectUris: ${PUBLIC_URL}/callback\n`);
    expect(stdout).toContain('does not rotate refresh tokens at each use');
    expect(stdout).toContain('4 to create, 0 to change, 0 to delete, 0 unchanged');
    expect(await realm.snapshot()).toBe(before);
  });

  it('apply without a terminal asks for --yes, and makes nothing', async () => {
    const { code, stderr } = await idp('apply');
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was changed')]);
    expect(await realm.snapshot()).toBe(before);
    expect(filesOf(realm.folder)).toEqual([]);
  });

  it('apply makes the applications with every row of their tables', async () => {
    expect(await idp('apply', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(await clientOf(realm, 'sallyport-web')).toMatchObject({
      publicClient: false,
      standardFlowEnabled: true,
      implicitFlowEnabled: false,
      directAccessGrantsEnabled: false,
      serviceAccountsEnabled: false,
      redirectUris: [`${PUBLIC_URL}/callback`],
      attributes: {
        'post.logout.redirect.uris': `${PUBLIC_URL}/logout`,
        'backchannel.logout.url': `${PUBLIC_URL}/auth/backchannel-logout`,
        'backchannel.logout.session.required': 'true',
      },
    });
    expect(await clientOf(realm, 'sallyport-cli')).toMatchObject({
      publicClient: true,
      standardFlowEnabled: true,
      consentRequired: false,
      serviceAccountsEnabled: false,
      redirectUris: ['http://localhost:53593/callback'],
      attributes: {
        'pkce.code.challenge.method': 'S256',
        'oauth2.device.authorization.grant.enabled': 'true',
      },
    });
    expect(await clientOf(realm, 'sallyport-service')).toMatchObject({
      publicClient: false,
      standardFlowEnabled: false,
      serviceAccountsEnabled: true,
      redirectUris: [],
    });
  });

  it('apply writes each secret into the places of the requirement, of mode 0600, and the deployment variables', () => {
    expect(filesOf(realm.folder).toSorted()).toEqual([
      'cloud-cp/control-plane-services/client_secret',
      'cloud-cp/core-admin-secrets/client_secret',
      'cloud-cp/core-admin-secrets/oidc_client_secret',
      'cloud-cp/core-secret-auth/client_secret',
      'cloud/cloud-secret-auth/client_secret',
      'deployment.env',
    ]);
    for (const file of filesOf(realm.folder))
      expect(statSync(join(realm.folder, file)).mode & 0o777).toBe(0o600);
    const variables = readFileSync(join(realm.folder, 'deployment.env'), 'utf8');
    expect(variables).toContain(`OIDC_BASE_URL='${realm.issuer}'\n`);
    expect(variables).toContain(`AUTH_TOKEN_URL='${realm.issuer}/protocol/openid-connect/token'\n`);
    for (const [name, value] of [
      ['OIDC_CLIENT_ID', 'sallyport-web'],
      ['CLI_CLIENT_ID', 'sallyport-cli'],
      ['INTERNAL_CLIENT_ID', 'sallyport-service'],
      ['AUTH_CLIENT_ID', 'sallyport-service'],
    ] as const)
      expect(variables).toContain(`${name}='${value}'\n`);
  });

  it('apply again changes nothing, here and there', async () => {
    const applied = await realm.snapshot();
    const { code, stdout } = await idp('apply', '--yes', '--json');
    const answer = JSON.parse(stdout) as {
      readonly steps: readonly { readonly action: string }[];
      readonly files: readonly { readonly state: string }[];
    };
    expect([code, new Set(answer.steps.map(({ action }) => action))]).toEqual([
      0,
      new Set(['unchanged']),
    ]);
    expect(new Set(answer.files.map(({ state }) => state))).toEqual(new Set(['unchanged']));
    expect(await realm.snapshot()).toBe(applied);
  });

  it('check proves by use that each application has its grants and no other', async () => {
    const { code, stdout } = await idp('check');
    expect([code, stdout]).toEqual([0, expect.stringContaining(' 0 failed, 0 not decided')]);
    for (const line of [
      'sallyport-web: grant authorization_code: permitted',
      'sallyport-web: no grant client_credentials: refused',
      'sallyport-cli: grant urn:ietf:params:oauth:grant-type:device_code: permitted',
      'sallyport-cli: PKCE required: a request without a challenge is refused',
      'sallyport-cli: no grant client_credentials: refused',
      'sallyport-service: grant client_credentials: permitted',
      `sallyport-service: audience and scope of its token: ${PUBLIC_URL}, all`,
      'sallyport-service: no grant authorization_code: refused',
      'sallyport-service: no grant password: refused',
    ])
      expect(stdout).toContain(`ok   ${line}\n`);
  });

  it('drift is shown field by field by plan, found by check, and taken back by apply', async () => {
    const native = await clientOf(realm, 'sallyport-cli');
    await realm.ask(`/clients/${native.id}`, 'PUT', {
      ...native,
      directAccessGrantsEnabled: true,
      redirectUris: ['http://localhost:53593/callback', 'https://evil.example.com/*'],
      attributes: { ...native.attributes, 'oauth2.device.authorization.grant.enabled': 'false' },
    });
    const plan = await idp('plan');
    expect(plan.stdout).toContain('~ client sallyport-cli\n');
    expect(plan.stdout).toContain('    directAccessGrantsEnabled: true -> false\n');
    expect(plan.stdout).toContain(
      '    redirectUris: http://localhost:53593/callback https://evil.example.com/* -> http://localhost:53593/callback\n',
    );
    expect(plan.stdout).toContain(
      '    attributes.oauth2.device.authorization.grant.enabled: false -> true\n',
    );
    expect(plan.stdout).toContain('0 to create, 1 to change, 0 to delete, 3 unchanged');
    const check = await idp('check');
    expect(check.code).toBe(1);
    expect(check.stdout).toContain('FAIL sallyport-cli: no grant password: it is permitted');
    expect(check.stdout).toContain(
      'FAIL sallyport-cli: grant urn:ietf:params:oauth:grant-type:device_code: it is switched off',
    );
    expect((await idp('apply', '--yes')).code).toBe(0);
    expect((await idp('check')).code).toBe(0);
  });

  it('a secret that is not the application’s is named by check, and not shown', async () => {
    const service = await clientOf(realm, 'sallyport-service');
    await realm.ask(`/clients/${service.id}/client-secret`, 'POST', {});
    const { code, stdout } = await idp('check');
    expect(code).toBe(1);
    expect(stdout).toContain(
      'FAIL sallyport-service: client secret: the client is known, and this secret is not its own',
    );
    expect((await idp('apply', '--yes')).stdout).toContain('nothing to change');
    expect((await idp('check')).code).toBe(0);
  });

  it('a wrong password of the administrator is refused by name, and changes nothing', async () => {
    const applied = await realm.snapshot();
    const { code, stderr } = await realm.idp(
      'apply',
      PUBLIC_URL,
      '--yes',
      '--admin-user',
      'not-the-administrator',
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('to the administrator')]);
    expect(await realm.snapshot()).toBe(applied);
  });

  it('apply --manifests writes the four Secrets as one file of mode 0600, each with its own keys alone', async () => {
    const out = join(realm.folder, 'manifests');
    expect((await idp('apply', '--yes', '--manifests', '--out', out)).code).toBe(0);
    const file = join(out, 'secrets.yaml');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const secrets = parseAllDocuments(readFileSync(file, 'utf8')).map(
      (document) => document.toJS() as Manifest,
    );
    const service = readFileSync(
      join(realm.folder, 'cloud/cloud-secret-auth/client_secret'),
      'utf8',
    );
    expect(
      secrets.map(({ kind, metadata, stringData }) => [
        kind,
        `${metadata.namespace}/${metadata.name}`,
        Object.keys(stringData),
        stringData['client_secret'] === service,
      ]),
    ).toEqual([
      ['Secret', 'cloud-cp/core-admin-secrets', ['client_secret', 'oidc_client_secret'], true],
      ['Secret', 'cloud-cp/core-secret-auth', ['client_secret'], true],
      ['Secret', 'cloud-cp/control-plane-services', ['client_secret'], true],
      ['Secret', 'cloud/cloud-secret-auth', ['client_secret'], true],
    ]);
  });

  it('--rotate-refresh-tokens makes a token of the realm good for one use', async () => {
    expect((await idp('plan', '--rotate-refresh-tokens')).stdout).toContain(
      '    revokeRefreshToken: false -> true\n',
    );
    expect((await idp('apply', '--rotate-refresh-tokens', '--yes')).code).toBe(0);
    expect(await realm.ask('')).toMatchObject({
      revokeRefreshToken: true,
      refreshTokenMaxReuse: 0,
    });
    expect((await idp('plan')).stdout).toContain('each is good for one use');
  });

  it('destroy leaves nothing of ours: the realm is byte for byte what it was', async () => {
    expect((await idp('destroy', '--yes')).code).toBe(0);
    expect(await realm.snapshot()).toBe(before);
    expect((await idp('destroy', '--yes')).stdout).toContain('nothing to remove');
  });

  it('no output of any command held a secret', async () => {
    const secrets = filesOf(realm.folder)
      .filter((file) => file.endsWith('secret'))
      .map((file) => readFileSync(join(realm.folder, file), 'utf8'));
    expect(secrets).toHaveLength(5);
    for (const secret of [...secrets, realm.adminPassword])
      expect(said.join('\n')).not.toContain(secret);
  });
});

describe.skipIf(KEYCLOAK.isLeftOut)('Keycloak: sallyport idp on a realm that others use', () => {
  let realm: Realm;
  let before: string;

  beforeAll(async () => {
    realm = await makeRealm({
      displayName: 'Company',
      ssoSessionIdleTimeout: 900,
      clientScopes: [
        {
          name: 'all',
          protocol: 'openid-connect',
          description: 'of another application',
          attributes: { 'include.in.token.scope': 'true' },
        },
        ...['profile', 'email', 'offline_access'].map((name) => ({
          name,
          protocol: 'openid-connect',
          attributes: { 'include.in.token.scope': 'true' },
        })),
      ],
      clients: [
        {
          clientId: 'intranet',
          protocol: 'openid-connect',
          secret: 'secret-of-the-intranet',
          redirectUris: ['https://intranet.example.com/*'],
          optionalClientScopes: ['all'],
        },
        { clientId: 'taken', protocol: 'openid-connect', publicClient: true },
      ],
      users: [{ username: 'grace', enabled: true, email: 'grace@example.com' }],
    });
    before = await realm.snapshot();
  }, 400_000);
  afterAll(() => realm.remove());

  it('refuses a client ID that another application has, and changes nothing', async () => {
    const { code, stdout, stderr } = await realm.idp(
      'apply',
      PUBLIC_URL,
      '--yes',
      '--web-client-id',
      'taken',
    );
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('client taken is there already and of another application');
    expect(await realm.snapshot()).toBe(before);
  });

  it('works beside them, and leaves other clients, scopes and people byte for byte', async () => {
    expect((await realm.idp('apply', PUBLIC_URL, '--yes')).code).toBe(0);
    const { code, stdout } = await realm.idp('check', PUBLIC_URL);
    expect([code, stdout]).toEqual([0, expect.stringContaining(' 0 failed')]);
    const others = async (): Promise<string> => {
      const clients = (await realm.ask('/clients?max=1000')) as readonly Client[];
      const people = await realm.ask('/users?max=1000');
      const scopes = await realm.ask('/client-scopes');
      return JSON.stringify([
        clients.filter(({ clientId }) => !CLIENTS.includes(clientId)),
        people,
        scopes,
        await realm.ask(''),
      ]);
    };
    const beside = await others();
    expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).code).toBe(0);
    expect(await others()).toBe(beside);
    expect(await realm.snapshot()).toBe(before);
  });

  it('keeps two deployments apart: one is removed, the other stays as it is', async () => {
    const other = 'https://other.example.com';
    const ids = [
      '--web-client-id',
      'o-web',
      '--native-client-id',
      'o-cli',
      '--service-client-id',
      'o-service',
    ];
    expect((await realm.idp('apply', PUBLIC_URL, '--yes')).code).toBe(0);
    const one = await realm.snapshot();
    expect((await realm.idp('apply', other, '--yes', ...ids)).code).toBe(0);
    const taken = await realm.idp('plan', other);
    expect([taken.code, taken.stdout]).toEqual([
      1,
      expect.stringContaining(`and of the deployment ${PUBLIC_URL}`),
    ]);
    expect((await realm.idp('destroy', other, '--yes')).code).toBe(0);
    expect(await realm.snapshot()).toBe(one);
    expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).code).toBe(0);
    expect(await realm.snapshot()).toBe(before);
  });
});
