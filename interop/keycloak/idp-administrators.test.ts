import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { KEYCLOAK } from './keycloak-part.ts';
import { askKeycloak, type Ended, makeRealm, nameRealm, type Realm } from './realm.ts';
import { makeServiceAccount } from './service-account.ts';

const PUBLIC_URL = 'https://platform.example.com';

const exists = async (realm: Realm): Promise<boolean> =>
  ((await askKeycloak('?briefRepresentation=true')) as readonly { readonly realm: string }[]).some(
    ({ realm: name }) => name === realm.name,
  );

/** The one sentence of a refusal. */
const refused = (sentence: string) => ({ code: 1, stderr: `sallyport: ${sentence}\n` });

describe.skipIf(KEYCLOAK.isLeftOut)('Keycloak: a realm that is not there', () => {
  let realm: Realm;
  beforeAll(async () => {
    realm = await nameRealm();
  }, 400_000);
  afterAll(() => realm.remove());

  it.each(['plan', 'apply'])('%s names it in one sentence, and makes nothing', async (command) => {
    const ended = await realm.idp(command, PUBLIC_URL, ...(command === 'apply' ? ['--yes'] : []));
    const sentence = `there is no realm ${realm.name}; create it, or give --create-realm`;
    if (command === 'apply')
      expect(ended).toMatchObject(refused(`nothing was changed: ${sentence}`));
    else
      expect([ended.code, ended.stdout]).toEqual([
        1,
        expect.stringContaining(`problem: ${sentence}\n`),
      ]);
    expect(await exists(realm)).toBe(false);
    expect(readdirSync(realm.folder)).toEqual([]);
  });

  it('destroy names it, too, and does not take it for one in which nothing is left', async () => {
    const { code, stdout, stderr } = await realm.idp('destroy', PUBLIC_URL, '--yes');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`nothing was removed: there is no realm ${realm.name} at `);
  });

  it('apply --create-realm makes it and sets it up; check proves it, and apply again changes nothing', async () => {
    const applied = await realm.idp('apply', PUBLIC_URL, '--yes', '--create-realm');
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    expect(applied.stdout).toContain(`+ realm ${realm.name}\n`);
    expect(await realm.ask('')).toMatchObject({ realm: realm.name, enabled: true });
    expect((await realm.idp('check', PUBLIC_URL)).stdout).toContain(' 0 failed, 0 not decided');
    const before = await realm.snapshot();
    const again = await realm.idp('apply', PUBLIC_URL, '--yes', '--create-realm');
    expect(again.stdout).toContain('nothing to change');
    expect(await realm.snapshot()).toBe(before);
  });

  it('destroy leaves the realm', async () => {
    expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).code).toBe(0);
    expect(await exists(realm)).toBe(true);
    expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).stdout).toContain('nothing to remove');
  });

  it('a service account with the role create-realm makes it; without the role it makes nothing', async () => {
    const other = await nameRealm();
    const asAccount = async (roles: readonly string[]): Promise<Ended> => {
      const account = await makeServiceAccount('master', roles);
      onTestFinished(() => account.remove());
      const args = ['--yes', '--create-realm', '--rotate-refresh-tokens', ...account.options];
      return other.idpAs(account.environment, 'apply', PUBLIC_URL, ...args);
    };
    expect(await asAccount([])).toMatchObject(
      refused(
        'the administrator lacks the role create-realm in the realm master; POST /admin/realms is refused (SP_CONFIG_INVALID)',
      ),
    );
    expect(await exists(other)).toBe(false);
    expect(readdirSync(other.folder)).toEqual([]);
    const made = await asAccount(['create-realm']);
    onTestFinished(() => other.remove());
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(await other.ask('')).toMatchObject({ revokeRefreshToken: true });
    expect((await other.idp('check', PUBLIC_URL)).code).toBe(0);
  });
});

describe.skipIf(KEYCLOAK.isLeftOut)(
  'Keycloak: a service account of the realm as administrator',
  () => {
    let realm: Realm;
    beforeAll(async () => {
      realm = await makeRealm();
    }, 400_000);
    afterAll(() => realm.remove());

    /** What an account with these roles does; without `--yes` where the command has no such option. */
    const as = async (roles: readonly string[]) => {
      const account = await makeServiceAccount(realm.name, roles);
      const before = await realm.snapshot();
      return {
        before,
        run: (command: string, ...args: readonly string[]) =>
          realm.idpAs(account.environment, command, PUBLIC_URL, ...args, ...account.options),
      };
    };
    const lacks = (role: string) =>
      `the administrator lacks the role ${role} of the client realm-management in the realm ${realm.name}`;

    it.each([
      ['no role', [], 'view-realm', 'GET', ''],
      ['view-realm alone', ['view-realm'], 'view-clients', 'GET', '/client-scopes'],
    ])(
      'one with %s is told which lacks, and nothing is made',
      async (_, roles, lack, method, path) => {
        const { run, before } = await as(roles);
        expect(await run('apply', '--yes')).toMatchObject(
          refused(
            `${lacks(lack)}; ${method} /admin/realms/${realm.name}${path} is refused (SP_CONFIG_INVALID)`,
          ),
        );
        expect(await realm.snapshot()).toBe(before);
        expect(readdirSync(realm.folder)).toEqual([]);
      },
    );

    it('one that may only look can plan; apply is refused before it makes anything', async () => {
      const { run, before } = await as(['view-realm', 'view-clients']);
      const planned = await run('plan');
      expect([planned.code, planned.stdout]).toEqual([
        0,
        expect.stringContaining(`note: ${lacks('manage-clients')}\n`),
      ]);
      expect(await run('apply', '--yes')).toMatchObject(
        refused(`nothing was changed: ${lacks('manage-clients')}`),
      );
      expect(await realm.snapshot()).toBe(before);
      expect(readdirSync(realm.folder)).toEqual([]);
    });

    it('one that may not change the realm is told so by --rotate-refresh-tokens, and nothing is half made', async () => {
      const { run, before } = await as(['view-realm', 'manage-clients']);
      expect(await run('apply', '--yes', '--rotate-refresh-tokens')).toMatchObject(
        refused(
          `${lacks('manage-realm')}; PUT /admin/realms/${realm.name} is refused (SP_CONFIG_INVALID)`,
        ),
      );
      expect(await realm.snapshot()).toBe(before);
      expect(readdirSync(realm.folder)).toEqual([]);
    });

    it('one with manage-clients and view-realm sets it up, again without a change, and removes it', async () => {
      const { run, before } = await as(['view-realm', 'manage-clients']);
      expect(await run('apply', '--yes')).toMatchObject({ code: 0, stderr: '' });
      const applied = await realm.snapshot();
      expect((await run('apply', '--yes')).stdout).toContain('nothing to change');
      expect(await realm.snapshot()).toBe(applied);
      expect((await realm.idp('check', PUBLIC_URL)).code).toBe(0);
      expect(await run('destroy', '--yes')).toMatchObject({ code: 0, stderr: '' });
      expect(await realm.snapshot()).toBe(before);
    });

    it('one that may only look removes nothing', async () => {
      expect((await realm.idp('apply', PUBLIC_URL, '--yes')).code).toBe(0);
      const { run, before } = await as(['view-realm', 'view-clients']);
      expect(await run('destroy', '--yes')).toMatchObject(
        refused(`nothing was removed: ${lacks('manage-clients')}`),
      );
      expect(await realm.snapshot()).toBe(before);
      expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).code).toBe(0);
    });

    it('one with another secret is refused by name, and no output holds a secret', async () => {
      const account = await makeServiceAccount(realm.name, ['manage-clients', 'view-realm']);
      const wrong = { SALLYPORT_IDP_ADMIN_CLIENT_SECRET: 'canary-of-another-client' };
      const ended = await realm.idpAs(wrong, 'plan', PUBLIC_URL, ...account.options);
      expect([ended.code, ended.stderr]).toEqual([
        1,
        expect.stringContaining('to the administrator'),
      ]);
      const secret = account.environment['SALLYPORT_IDP_ADMIN_CLIENT_SECRET'] ?? '';
      for (const canary of ['canary', secret])
        expect(ended.stdout + ended.stderr).not.toContain(canary);
    });
  },
);
