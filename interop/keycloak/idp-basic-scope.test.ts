import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../conformance/wire/process.ts';
import { KEYCLOAK } from './keycloak-part.ts';
import { makeRealm, type Realm } from './realm.ts';

const PUBLIC_URL = 'https://platform.example.com';
const CLIENTS = ['sallyport-web', 'sallyport-cli', 'sallyport-service'];

interface Linked {
  readonly id: string;
  readonly defaultClientScopes: readonly string[];
  readonly optionalClientScopes: readonly string[];
}

describe.skipIf(KEYCLOAK.isLeftOut)(
  'Keycloak: a realm whose defaults lack the client scope basic',
  () => {
    let realm: Realm;
    let before: string;
    let basic: string;
    let ada: string;
    beforeAll(async () => {
      realm = await makeRealm();
      const scopes = (await realm.ask('/client-scopes')) as { id: string; name: string }[];
      basic = scopes.find(({ name }) => name === 'basic')?.id ?? '';
      await realm.ask(`/default-default-client-scopes/${basic}`, 'DELETE');
      await realm.addAda();
      const [person] = (await realm.ask('/users')) as { id: string }[];
      ada = person?.id ?? '';
      before = await realm.snapshot();
    }, 400_000);
    afterAll(() => realm.remove());

    const clientOf = async (clientId: string): Promise<Linked> => {
      const [client] = (await realm.ask(`/clients?clientId=${clientId}`)) as readonly Linked[];
      if (client === undefined) throw new Error(`no client ${clientId}`);
      return client;
    };

    /** Claims that an access token of Ada for the client would have. */
    const exampleClaims = async (clientId: string): Promise<Readonly<Record<string, unknown>>> => {
      const { id } = await clientOf(clientId);
      const path = `/clients/${id}/evaluate-scopes/generate-example-access-token`;
      return (await realm.ask(`${path}?scope=openid&userId=${ada}`)) as Record<string, unknown>;
    };

    it('apply links it to each application: access tokens of people have sub', async () => {
      expect((await realm.idp('plan', PUBLIC_URL)).stdout).toContain(
        '    client scope basic: default\n',
      );
      expect(await realm.idp('apply', PUBLIC_URL, '--yes')).toMatchObject({ code: 0, stderr: '' });
      for (const clientId of CLIENTS)
        expect((await clientOf(clientId)).defaultClientScopes).toContain('basic');
      const { sub } = await exampleClaims('sallyport-cli');
      expect(sub).toBe(ada);
      const { stdout } = await realm.idp('check', PUBLIC_URL);
      expect(stdout).toContain(' 0 failed, 0 not decided');
      expect(stdout).toContain('ok   sallyport-cli: settings in the realm: as apply makes them\n');
      expect((await realm.idp('plan', PUBLIC_URL)).stdout).toContain('0 to create, 0 to change');
    });

    it('the clients of API keys have it, too', async () => {
      const place = ['--issuer', realm.issuer, '--public-url', PUBLIC_URL];
      const administrator = { SALLYPORT_IDP_ADMIN_PASSWORD: realm.adminPassword };
      const made = await run(
        ['apikey', 'create', '--organization', 'acme', '--cluster', 'east-1', ...place],
        administrator,
      );
      const [, clientId = ''] = Buffer.from(made.stdout.trim(), 'base64').toString().split(':');
      expect((await clientOf(clientId)).defaultClientScopes).toContain('basic');
      expect((await run(['apikey', 'revoke', clientId, ...place], administrator)).code).toBe(0);
    });

    it('check without an administrator compares no settings, and proves the rest', async () => {
      const { code, stdout } = await realm.idpAs({}, 'check', PUBLIC_URL);
      expect([code, stdout.includes('settings in the realm')]).toEqual([0, false]);
    });

    it('check by an administrator who is refused says that nothing is decided about settings', async () => {
      const wrong = { SALLYPORT_IDP_ADMIN_PASSWORD: 'canary-password' };
      const { code, stdout, stderr } = await realm.idpAs(wrong, 'check', PUBLIC_URL);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^\? +sallyport-web: settings in the realm: .*to the administrator/m),
      ]);
      expect(stdout + stderr).not.toContain('canary');
    });

    it('a link that was taken away is shown by plan, named by check, and made again by apply', async () => {
      for (const clientId of CLIENTS)
        await realm.ask(
          `/clients/${(await clientOf(clientId)).id}/default-client-scopes/${basic}`,
          'DELETE',
        );
      const plan = await realm.idp('plan', PUBLIC_URL);
      expect(plan.stdout.match(/ {4}client scope basic: \(none\) -> default\n/g)).toHaveLength(3);
      expect(plan.stdout).toContain('0 to create, 3 to change');
      expect(await exampleClaims('sallyport-cli')).not.toHaveProperty('sub');
      const check = await realm.idp('check', PUBLIC_URL);
      expect(check.code).toBe(1);
      for (const clientId of CLIENTS)
        expect(check.stdout).toContain(
          `FAIL ${clientId}: settings in the realm: client scope basic is absent, expected default\n`,
        );
      expect((await realm.idp('apply', PUBLIC_URL, '--yes')).code).toBe(0);
      expect((await realm.idp('check', PUBLIC_URL)).code).toBe(0);
    });

    it('a link on request is not enough: no request of ours asks for it', async () => {
      const { id } = await clientOf('sallyport-service');
      await realm.ask(`/clients/${id}/default-client-scopes/${basic}`, 'DELETE');
      await realm.ask(`/clients/${id}/optional-client-scopes/${basic}`, 'PUT', {});
      expect((await realm.idp('plan', PUBLIC_URL)).stdout).toContain(
        '    client scope basic: optional -> default\n',
      );
      expect((await realm.idp('check', PUBLIC_URL)).stdout).toContain(
        'FAIL sallyport-service: settings in the realm: client scope basic is optional, expected default\n',
      );
      expect((await realm.idp('apply', PUBLIC_URL, '--yes')).code).toBe(0);
      const after = await clientOf('sallyport-service');
      expect([
        after.defaultClientScopes.includes('basic'),
        after.optionalClientScopes.includes('basic'),
      ]).toEqual([true, false]);
      expect((await realm.idp('check', PUBLIC_URL)).code).toBe(0);
    });

    it('destroy leaves the realm as it was, without it among the defaults', async () => {
      expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).code).toBe(0);
      expect(await realm.snapshot()).toBe(before);
    });

    it('a realm without such a scope is told so by plan: a note, and no link', async () => {
      await realm.ask(`/client-scopes/${basic}`, 'DELETE');
      const { code, stdout } = await realm.idp('plan', PUBLIC_URL);
      expect(code).toBe(0);
      expect(stdout).toContain(`note: realm ${realm.name} has no client scope basic;`);
      expect(stdout).not.toContain('client scope basic: default');
      expect((await realm.idp('apply', PUBLIC_URL, '--yes')).code).toBe(0);
    });
  },
);
