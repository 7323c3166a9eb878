import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../wire/platform.ts';
import { run, type TemporaryFolder, temporaryFolder } from '../wire/process.ts';

const PUBLIC_URL = 'https://platform.example.com';

describe('sallyport idp at the embedded identity provider', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane();
  });
  afterAll(() => plane.stop());

  it('check proves by use what "sallyport up" has registered, and shows no secret', async () => {
    const checked = await run(['idp', 'check', '--provider', 'embedded', '--state', plane.state]);
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    expect(checked.stdout).toContain('ok   sallyport-service: grant client_credentials: permitted');
    expect(checked.stdout).toContain(' 0 failed, 0 not decided');
    for (const name of ['web-client-secret', 'service-client-secret'])
      expect(checked.stdout).not.toContain(
        readFileSync(join(plane.state, 'idp', name), 'utf8').trim(),
      );
  });

  it('check without the secret of an application ends with 1, and names the file', async () => {
    const file = join(plane.state, 'idp', 'service-client-secret');
    renameSync(file, `${file}.away`);
    try {
      const checked = await run(['idp', 'check', '--provider', 'embedded', '--state', plane.state]);
      expect([checked.code, checked.stderr]).toEqual([1, expect.stringContaining(file)]);
      expect(checked.stdout).toContain(' 0 failed');
    } finally {
      renameSync(`${file}.away`, file);
    }
  });

  it('check without a running one ends with 1, and proves nothing', async () => {
    const checked = await run(['idp', 'check', '--provider', 'embedded', '--state', '/nowhere']);
    expect([checked.code, checked.stdout]).toEqual([1, '']);
  });
});

describe('sallyport idp', () => {
  let folder: TemporaryFolder;
  beforeAll(() => {
    folder = temporaryFolder();
  });
  afterAll(() => folder.remove());

  const keycloak = ['--provider', 'keycloak', '--public-url', PUBLIC_URL];

  it.each([
    ['no public URL', ['--provider', 'keycloak'], '--public-url'],
    [
      'an issuer that is no realm',
      [...keycloak, '--issuer', 'https://kc.example.com'],
      'the address of a realm',
    ],
    [
      'a slash behind the realm',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/a/'],
      'without a slash',
    ],
    [
      'plain http to another machine',
      [...keycloak, '--issuer', 'http://kc.example.com/realms/a'],
      'by plain http',
    ],
    [
      'no password',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/a'],
      'SALLYPORT_IDP_ADMIN_PASSWORD',
    ],
    [
      'a realm that is a step up in the path',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/..'],
      'expected a name of a realm',
    ],
    [
      'a realm that is one when it is decoded',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/%2e%2E'],
      'expected a name of a realm',
    ],
    [
      'a realm with a slash in its name',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/a%2Fb'],
      'expected a name of a realm',
    ],
    [
      'a realm that cannot be decoded',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/%zz'],
      'expected a name of a realm',
    ],
    [
      'a realm of the administrator that is a step up in the path',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/a', '--admin-realm', '..'],
      '--admin-realm: expected the name of a realm',
    ],
    [
      'a line end in the issuer',
      [...keycloak, '--issuer', 'https://kc.example.com/realms/a\n'],
      '--issuer: expected a URL',
    ],
    [
      'a line end in the public URL',
      ['--provider', 'okta', '--public-url', `${PUBLIC_URL}\n`],
      'the public URL: expected one such as https://platform.example.com',
    ],
    [
      'a service app whose secret could have no folder',
      ['--provider', 'okta', '--public-url', PUBLIC_URL, '--further-service', '/'.repeat(86)],
      '--further-service: expected',
    ],
    [
      'two applications with one client ID',
      [...keycloak, '--web-client-id', 'sallyport-cli'],
      'three different',
    ],
  ])('%s is a wrong usage, in a sentence', async (_, args, said) => {
    const { code, stdout, stderr } = await run(['idp', 'plan', ...args]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(said)]);
  });

  it.each([
    [
      'issuer',
      ['--public-url', PUBLIC_URL, '--issuer', 'https://me:canary@kc.example.com/realms/a'],
    ],
    ['public URL', ['--public-url', 'https://me:canary@platform.example.com']],
  ])('a password in the %s is refused, and not repeated', async (_, args) => {
    const { code, stdout, stderr } = await run(['idp', 'plan', '--provider', 'keycloak', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('sallyport: ');
    expect(stderr).not.toContain('canary');
  });

  it('takes no password on the command line', async () => {
    const { stdout } = await run(['idp', 'apply', '--help']);
    expect(stdout).toContain('--admin-password-file');
    expect(stdout).not.toMatch(/--admin-password[ =]</);
    const given = await run(['idp', 'plan', ...keycloak, '--admin-password', 'canary']);
    expect([given.code, given.stderr]).toEqual([2, expect.not.stringContaining('canary')]);
  });

  it.each([
    ['okta', 'main.tf', 'okta_auth_server_policy_rule'],
    ['auth0', 'main.tf', 'auth0_resource_server'],
    ['entra', 'main.tf', 'azuread_application'],
    ['dex', 'dex.yaml', 'staticClients:'],
  ])(
    'apply writes the configuration of %s, says what it cannot, and changes nothing the second time',
    async (provider, file, text) => {
      const out = join(folder.path, provider);
      const args = [
        'idp',
        'apply',
        '--provider',
        provider,
        '--public-url',
        PUBLIC_URL,
        '--out',
        out,
      ];
      const first = await run(args);
      expect([first.code, first.stdout]).toEqual([
        0,
        expect.stringContaining(`written ${out}/${file}`),
      ]);
      expect(first.stderr).toContain('note: ');
      expect(readFileSync(join(out, file), 'utf8')).toContain(text);
      expect(statSync(join(out, file)).mode & 0o777).toBe(0o600);
      expect((await run(args)).stdout).toContain(`unchanged ${out}/${file}`);
    },
  );

  const dex = ['idp', 'apply', '--provider', 'dex', '--public-url', PUBLIC_URL, '--out'];

  it.each([
    ['a folder that others may write to', ''],
    ['a link to one', 'link'],
    ['a new folder below one', 'open/new'],
  ])('apply writes nothing into %s, in a sentence', async (what, name) => {
    const place = join(folder.path, what.replaceAll(' ', '-'));
    const open = join(place, 'open');
    mkdirSync(open, { recursive: true });
    chmodSync(open, 0o777);
    symlinkSync(open, join(place, 'link'));
    const out = join(place, name === '' ? 'open' : name);
    const { code, stdout, stderr } = await run([...dex, out]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`others may write to ${realpathSync(open)}`);
    expect(stderr).toContain("choose a folder of this user's own");
    expect(existsSync(join(out, 'dex.yaml'))).toBe(false);
  });

  it('apply writes into a folder of this user alone, and through a link to it', async () => {
    const own = join(folder.path, 'own');
    mkdirSync(own, { mode: 0o755 });
    symlinkSync(own, join(folder.path, 'link-to-own'));
    expect((await run([...dex, join(folder.path, 'link-to-own')])).code).toBe(0);
    expect(statSync(join(own, 'dex.yaml')).mode & 0o777).toBe(0o600);
  });

  it('apply refuses the folder before it asks the identity provider anything', async () => {
    const open = join(folder.path, 'open-for-keycloak');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const { code, stdout, stderr } = await run([
      ...['idp', 'apply', ...keycloak, '--issuer', 'https://kc.example.com/realms/a'],
      ...['--out', open],
    ]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`others may write to ${realpathSync(open)}`);
  });

  it.each(['okta', 'auth0', 'entra', 'dex', 'embedded'])(
    'destroy says how a setup of %s is removed',
    async (provider) => {
      const { code, stderr } = await run(['idp', 'destroy', '--provider', provider]);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('is not removed by this command'),
      ]);
    },
  );
});
