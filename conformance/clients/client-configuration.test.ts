import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, type Home, makeHome } from '../cli/command.ts';
import { createCommandHost } from '../cli/command-host.ts';
import { type FakePlatform, startFakePlatform } from '../cli/fake-platform.ts';
import { browserCommand, readRecord } from '../cli/scripted-browser.ts';
import { PATIENCE } from '../wire/workers.ts';

const SECRET = 'canary-of-the-file';
const host = createCommandHost();
afterAll(() => host.stop());
let home: Home;
let platform: FakePlatform;
beforeEach(async () => {
  home = makeHome(host);
  platform = await startFakePlatform();
  writeFileSync(join(home.path, 'client_secret'), SECRET, { mode: 0o600 });
});
afterEach(async () => {
  await platform.close();
  home.remove();
});

/** Host and port alone, as the requirement has them behind `dns:///`. */
const target = () => platform.url.replace('http://', 'dns:///');
const automation = () => ({
  endpoint: target(),
  insecure: 'true',
  authType: 'ClientSecret',
  clientId: 'automation',
  clientSecretLocation: join(home.path, 'client_secret'),
});

/** Runs a command with `admin` of these lines; `undefined` leaves one out. */
function run(
  admin: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string>> = {},
  command: readonly string[] = ['token'],
): Promise<Ended> {
  const lines = Object.entries(admin)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${name}: ${value}\n`);
  writeFileSync(join(home.path, 'config.yaml'), `admin:\n${lines.join('')}`);
  return home.run([...command, '--config', 'config.yaml'], environment);
}

const grants = () =>
  platform.asked
    .filter(({ path }) => path === '/token')
    .map(({ form, headers }) => ({
      type: form.get('grant_type'),
      credentials: Buffer.from(
        (headers.authorization ?? '').replace('Basic ', ''),
        'base64',
      ).toString(),
    }));
const MACHINE = { type: 'client_credentials', credentials: `automation:${SECRET}` };

/** The command failed on its settings before it sent a request, and shows no secret. */
function expectReported({ code, stdout, stderr }: Ended, ...words: readonly string[]): void {
  expect([code, stdout]).toEqual([1, '']);
  for (const word of words) expect(stderr).toContain(word);
  expect(stderr).not.toContain('canary');
  expect(platform.asked).toEqual([]);
}

describe('admin.endpoint', () => {
  it('dns:///<domain> is the platform that is asked for everything', async () => {
    const { code, stdout } = await run(automation());
    expect([code, platform.secrets.has(stdout.trimEnd())]).toEqual([0, true]);
    expect(platform.count('/flyteidl2.auth.AuthMetadataService/GetOAuth2Metadata')).toBe(1);
  });

  it.each(['dns://two.example', 'https://two.example/path', 'ftp://two.example', '7'])(
    '%s is reported with file, line and key, and no request is sent',
    async (endpoint) => {
      expectReported(
        await run({ ...automation(), endpoint, insecure: undefined }),
        'config.yaml:2: admin.endpoint: found',
      );
    },
  );

  it('of another platform leaves this one alone', async () => {
    const other = await startFakePlatform();
    try {
      const endpoint = other.url.replace('http://', 'dns:///');
      expect((await run({ ...automation(), endpoint })).code).toBe(0);
      expect(platform.asked).toEqual([]);
    } finally {
      await other.close();
    }
  });
});

describe('admin.insecure', () => {
  it.each(['false', undefined])(
    '%s: a platform without TLS is sent nothing at all',
    async (insecure) => {
      const { code, stdout } = await run({ ...automation(), insecure });
      expect([code, stdout]).toEqual([5, '']);
      expect(platform.asked).toEqual([]);
    },
  );

  it('true: the same platform is asked, and gives a token', async () => {
    const { code, stdout } = await run(automation());
    expect([code, platform.secrets.has(stdout.trimEnd()), grants()]).toEqual([0, true, [MACHINE]]);
  });

  it('what is no boolean is reported with file, line and key', async () => {
    expectReported(
      await run({ ...automation(), insecure: 'no' }),
      'config.yaml:3: admin.insecure: found "no", expected true or false',
    );
  });
});

describe('admin.authType', () => {
  const person = () => ({ endpoint: target(), insecure: 'true', authType: 'Pkce' });

  it('Pkce signs a person in by browser', async () => {
    const record = join(home.path, 'record');
    const login = ['login', '--browser', browserCommand(record)];
    const { code, stderr } = await run(person(), {}, login);
    await expect.poll(() => readRecord(record).length, PATIENCE).toBe(2);
    expect([code, stderr]).toEqual([0, expect.stringContaining('as Ada Lovelace')]);
    expect(readRecord(record)[0]?.argv?.at(-1)).toContain('code_challenge_method=S256');
    expect(grants()).toEqual([{ type: 'authorization_code', credentials: '' }]);
  });

  it('Pkce gives no token where no person can sign in', async () => {
    const { code, stdout } = await run(person());
    expect([code, stdout, grants()]).toEqual([4, '', []]);
  });

  it('ClientSecret asks no person, also where none is', async () => {
    const { code, stdout } = await run(automation(), { CI: 'true' });
    expect([code, platform.secrets.has(stdout.trimEnd())]).toEqual([0, true]);
    expect(grants()).toEqual([MACHINE]);
  });

  it.each(['pkce', 'Password'])('%s is reported with what it may be', async (authType) => {
    expectReported(
      await run({ ...automation(), authType }),
      `config.yaml:4: admin.authType: found "${authType}", expected one of Pkce, ClientSecret`,
    );
  });
});

describe('admin.clientId', () => {
  it('is the client that asks for the token', async () => {
    expect((await run({ ...automation(), clientId: 'robot' })).code).toBe(0);
    expect(grants()).toEqual([{ ...MACHINE, credentials: `robot:${SECRET}` }]);
  });

  it('that is missing is reported, with the variable that can give it', async () => {
    expectReported(
      await run({ ...automation(), clientId: undefined }),
      'admin.clientId (CORE_CREDENTIALS_CLIENT_ID): found nothing',
    );
  });
});

describe('admin.clientSecretLocation', () => {
  it('is the file whose content is sent, and nowhere shown', async () => {
    const { code, stdout, stderr } = await run(automation());
    expect([code, grants()]).toEqual([0, [MACHINE]]);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('that names no file is refused with path and key, and nothing is sent', async () => {
    const { code, stdout, stderr } = await run({
      ...automation(),
      clientSecretLocation: '/nowhere/client_secret',
    });
    expect([code, stdout, grants()]).toEqual([1, '', []]);
    for (const word of ['/nowhere/client_secret', 'admin.clientSecretLocation'])
      expect(stderr).toContain(word);
  });
});

describe('Environment variables instead of the file', () => {
  const bare = () => ({ endpoint: target(), insecure: 'true' });
  const VARIABLES = {
    CORE_CREDENTIALS_CLIENT_ID: 'from-environment',
    CORE_CREDENTIALS_CLIENT_SECRET: 'canary-of-the-environment',
    CORE_CREDENTIALS_AUTH_MODE: 'basic',
  };

  it('CORE_CREDENTIALS_CLIENT_ID is the client that asks, also when the file names another', async () => {
    const { CORE_CREDENTIALS_CLIENT_ID } = VARIABLES;
    await run(automation(), { CORE_CREDENTIALS_CLIENT_ID });
    expect(grants()).toEqual([{ ...MACHINE, credentials: `from-environment:${SECRET}` }]);
  });

  it('without CORE_CREDENTIALS_CLIENT_ID the others are refused, and the message says that it is missing', async () => {
    expectReported(
      await run(bare(), { ...VARIABLES, CORE_CREDENTIALS_CLIENT_ID: '' }),
      'admin.clientId (CORE_CREDENTIALS_CLIENT_ID): found nothing',
    );
  });

  it('CORE_CREDENTIALS_CLIENT_SECRET is what is sent, whatever the file says', async () => {
    const { CORE_CREDENTIALS_CLIENT_SECRET } = VARIABLES;
    await run(automation(), { CORE_CREDENTIALS_CLIENT_SECRET });
    const credentials = `automation:${CORE_CREDENTIALS_CLIENT_SECRET}`;
    expect(grants()).toEqual([{ ...MACHINE, credentials }]);
  });

  it('CORE_CREDENTIALS_CLIENT_SECRET with a newline at its end is reported by name and not shown', async () => {
    const secret = `${VARIABLES.CORE_CREDENTIALS_CLIENT_SECRET}\n`;
    expectReported(
      await run(bare(), { ...VARIABLES, CORE_CREDENTIALS_CLIENT_SECRET: secret }),
      '(CORE_CREDENTIALS_CLIENT_SECRET): found a secret with a newline at its end',
    );
  });

  it('CORE_CREDENTIALS_AUTH_MODE basic is ClientSecret, whatever the file says', async () => {
    const { code, stdout } = await run({ ...bare(), authType: 'Pkce' }, VARIABLES);
    expect([code, platform.secrets.has(stdout.trimEnd())]).toEqual([0, true]);
    const credentials = 'from-environment:canary-of-the-environment';
    expect(grants()).toEqual([{ ...MACHINE, credentials }]);
    const { CORE_CREDENTIALS_AUTH_MODE } = VARIABLES;
    expect(
      (await run({ ...automation(), authType: 'Pkce' }, { CORE_CREDENTIALS_AUTH_MODE })).code,
    ).toBe(0);
    expect(grants()).toHaveLength(2);
  });

  it('CORE_CREDENTIALS_AUTH_MODE with another word is reported by name', async () => {
    expectReported(
      await run(bare(), { ...VARIABLES, CORE_CREDENTIALS_AUTH_MODE: 'Basic ' }),
      'admin.authType (CORE_CREDENTIALS_AUTH_MODE): found "Basic "',
    );
  });
});
