import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../wire/process.ts';
import type { Ended } from './command.ts';
import { withoutPauses } from './device-code.ts';
import { clock, home, platform, useHomeAndPlatform } from './fixture.ts';

const CANARY = 'canary-of-another-file';
/** Only root can give a file away. */
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

useHomeAndPlatform();
/** A cloned repository, outside of the home. */
let cloned: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  platform.pollsUntilConfirmed = 0;
  cloned = temporaryFolder();
  mkdirSync(join(cloned.path, '.git'));
});
afterEach(() => cloned.remove());

const projectFile = (): string => join(cloned.path, '.sallyport.yaml');
const ownFile = (): string => join(home.path, '.config/sallyport/config.yaml');

function writeOwnFile(text: string): void {
  mkdirSync(join(home.path, '.config/sallyport'), { recursive: true });
  writeFileSync(ownFile(), text);
}

/** Two profiles at the same platform, which differ in their name. */
function writeProfiles(settings = ''): void {
  const block = (name: string): string =>
    `  ${name}:\n    admin:\n      endpoint: ${platform.url}\n${settings}`;
  writeOwnFile(`profile: one\nprofiles:\n${block('one')}${block('two')}`);
}

const inClone = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  folder = cloned.path,
): Promise<Ended> => home.run(args, environment, folder);

/** The profile a command in a folder is about; `undefined` when it is refused. */
async function selectedIn(
  folder: string,
  args: readonly string[] = [],
): Promise<string | undefined> {
  const { stdout } = await inClone(['status', '--json', '--offline', ...args], {}, folder);
  const answer = JSON.parse(stdout) as { profiles?: readonly { readonly profile: string }[] };
  return answer.profiles?.[0]?.profile;
}

describe("A project's file is read only as a small regular file", () => {
  it.each<[string, () => void]>([
    [
      'a symbolic link to another file',
      () => {
        writeFileSync(join(home.path, 'shadow'), `root:${CANARY}:1:0\n`);
        symlinkSync(join(home.path, 'shadow'), projectFile());
      },
    ],
    [
      'a symbolic link to a file that names a profile',
      () => {
        writeFileSync(join(home.path, 'other.yaml'), 'profile: two\n');
        symlinkSync(join(home.path, 'other.yaml'), projectFile());
      },
    ],
    ['a symbolic link to nothing', () => symlinkSync('/nonexistent', projectFile())],
    ['a named pipe', () => execFileSync('mkfifo', [projectFile()])],
    [
      'a symbolic link to a named pipe',
      () => {
        execFileSync('mkfifo', [join(home.path, 'pipe')]);
        symlinkSync(join(home.path, 'pipe'), projectFile());
      },
    ],
    ['a folder', () => mkdirSync(projectFile())],
    [
      'a file of more than 64 KiB',
      () => writeFileSync(projectFile(), `profile: two\n#${'x'.repeat(65_536)}`),
    ],
  ])('%s ends the command at once, with the file and the way out', async (_, plant) => {
    writeProfiles();
    plant();
    const { code, stdout, stderr } = await inClone(['token', '--no-login']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(projectFile());
    expect(stderr).toContain('--profile');
    expect(stderr).not.toContain(CANARY);
    expect(await selectedIn(cloned.path, ['--profile', 'one'])).toBe('one');
    expect(platform.asked).toEqual([]);
  });

  it('a regular file of 64 KiB picks a profile', async () => {
    writeProfiles();
    const text = 'profile: two\n#';
    writeFileSync(projectFile(), text + 'x'.repeat(65_536 - text.length));
    expect(await selectedIn(cloned.path)).toBe('two');
  });

  it.each([
    ['a key', `${CANARY}: 1\n`],
    ['a value', `profile: [${CANARY}]\n`],
    ['text that is no YAML', `a: 1\n ${CANARY}: : [\n`],
    ['a profile that is not there', `profile: ${CANARY}\n`],
    ['a key that is no text', `? [${CANARY}]\n: 1\n`],
  ])('%s of it is never quoted', async (_, text) => {
    writeProfiles();
    writeFileSync(projectFile(), text);
    for (const args of [['status'], ['status', '--json'], ['token', '--no-login']]) {
      const { code, stdout, stderr } = await inClone(args);
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(`${projectFile()}:`);
      expect(stdout + stderr).not.toContain(CANARY);
    }
  });

  it.each([
    ['deep nesting', '['.repeat(9_000)],
    ['deep mappings', '? '.repeat(9_000)],
    ['anchors', `a: &a [x]\nb: [${'*a,'.repeat(9_000)}]\n`],
    ['60 KiB of brackets', '['.repeat(61_440)],
    ['60 KiB of keys', 'a:\n'.repeat(20_480)],
  ])('%s is a sentence, not a stack', async (_, text) => {
    writeProfiles();
    writeFileSync(projectFile(), text);
    const { code, stderr } = await inClone(['token', '--no-login']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sallyport: \S+\.sallyport\.yaml:\d+: [^\n]+\n/);
    expect(stderr).not.toMatch(/RangeError|Error:|node_modules/);
  });
});

describe("A person's own file", () => {
  it('may be a symbolic link, as those who keep such files elsewhere have it', async () => {
    writeProfiles();
    const elsewhere = join(home.path, 'dotfiles.yaml');
    renameSync(ownFile(), elsewhere);
    symlinkSync(elsewhere, ownFile());
    expect(await selectedIn(home.path)).toBe('one');
    const login = ['login', '--endpoint', platform.url, '--flow', 'device', '--profile', 'three'];
    const { code } = await withoutPauses(clock, platform, () => home.run(login));
    expect(code).toBe(0);
    expect(lstatSync(ownFile()).isSymbolicLink()).toBe(true);
    expect(readFileSync(elsewhere, 'utf8')).toContain('three:');
  });

  it.each<[string, () => void, string]>([
    ['a named pipe', () => execFileSync('mkfifo', [ownFile()]), 'no regular file'],
    ['a folder', () => mkdirSync(ownFile()), 'no regular file'],
    [
      'more than a file of settings can be',
      () => writeFileSync(ownFile(), `#${'x'.repeat(600_000)}`),
      'more than 524288 bytes',
    ],
    ['deep nesting', () => writeFileSync(ownFile(), '['.repeat(9_000)), 'deep nesting'],
    [
      'too much text',
      () => writeFileSync(ownFile(), `#${'x'.repeat(140_000)}`),
      'at most 131072 characters',
    ],
  ])('that is %s is a sentence with its path', async (_, plant, found) => {
    writeOwnFile('');
    rmSync(ownFile());
    plant();
    const { code, stderr } = await home.run(['token', '--no-login']);
    expect([code, stderr.includes(ownFile()), stderr.includes(found)]).toEqual([1, true, true]);
    expect(stderr).not.toContain('Error');
  });

  it('that is named and not there is a sentence with its path', async () => {
    const { code, stderr } = await home.run(['status', '--config', 'nosuch.yaml']);
    expect(code).toBe(1);
    expect(stderr).toContain(`${join(home.path, 'nosuch.yaml')}: found no such file`);
  });
});

describe("Credentials of an application go nowhere because of a project's file alone", () => {
  const SECRET = {
    CORE_CREDENTIALS_CLIENT_ID: 'ci',
    CORE_CREDENTIALS_CLIENT_SECRET: 'canary-client-secret-0123456789',
  };
  const apiKey = (host: string): string =>
    Buffer.from(`${host}:ci:canary-client-secret-0123456789:None`).toString('base64');

  it.each<[string, Record<string, string>]>([
    ['CORE_CREDENTIALS_CLIENT_SECRET', SECRET],
    [
      'FLYTE_CREDENTIALS_CLIENT_SECRET',
      {
        FLYTE_CREDENTIALS_CLIENT_ID: 'ci',
        FLYTE_CREDENTIALS_CLIENT_SECRET: SECRET.CORE_CREDENTIALS_CLIENT_SECRET,
      },
    ],
    [
      'the name of a variable',
      {
        CORE_CREDENTIALS_CLIENT_ID: 'ci',
        CORE_CREDENTIALS_CLIENT_SECRET_ENV_VAR: 'BUILD_SECRET',
        BUILD_SECRET: SECRET.CORE_CREDENTIALS_CLIENT_SECRET,
      },
    ],
    [
      'a command',
      {
        CORE_CREDENTIALS_AUTH_MODE: 'external_process',
        CORE_CREDENTIALS_COMMAND: 'echo canary-token-0123456789',
      },
    ],
  ])(
    'given by %s: no command asks the platform of the profile that the file picked',
    async (_, environment) => {
      writeProfiles();
      writeFileSync(projectFile(), 'profile: two\n');
      for (const args of [
        ['token'],
        ['whoami'],
        ['login'],
        ['status'],
        ['logout'],
        ['token', '--header', '--json'],
      ]) {
        const { code, stdout, stderr } = await inClone(args, environment);
        expect(code).toBe(1);
        for (const way of ['--profile', 'SALLYPORT_PROFILE', 'CORE_PLATFORM_URL'])
          expect(stdout + stderr).toContain(way);
      }
      expect(platform.asked).toEqual([]);
    },
  );

  it.each<[string, readonly string[], () => Record<string, string>]>([
    ['--profile', ['--profile', 'two'], () => ({})],
    ['SALLYPORT_PROFILE', [], () => ({ SALLYPORT_PROFILE: 'two' })],
    ['CORE_PLATFORM_URL', [], () => ({ CORE_PLATFORM_URL: platform.url })],
  ])('named by %s it is used', async (_, args, environment) => {
    writeProfiles();
    writeFileSync(projectFile(), 'profile: two\n');
    const { code, stdout } = await inClone(['token', ...args], { ...SECRET, ...environment() });
    expect([code, platform.secrets.has(stdout.trimEnd())]).toEqual([0, true]);
  });

  it('a token endpoint, a certificate or a trust in any of them of that profile does not go with CORE_PLATFORM_URL either', async () => {
    for (const line of [`tokenUrl: ${platform.url}/token`, 'insecureSkipVerify: true']) {
      writeProfiles(`      ${line}\n`);
      writeFileSync(projectFile(), 'profile: two\n');
      const { code } = await inClone(['token'], { ...SECRET, CORE_PLATFORM_URL: platform.url });
      expect(code).toBe(1);
    }
    expect(platform.asked).toEqual([]);
  });

  it('an API key is for the platform it names, and not for the token endpoint of that profile', async () => {
    writeProfiles(`      tokenUrl: ${platform.url}/token\n`);
    writeFileSync(projectFile(), 'profile: two\n');
    const { code } = await inClone(['token'], { EAGER_API_KEY: apiKey('platform.invalid') });
    expect([code, platform.asked]).toEqual([1, []]);
  });

  it('the profile that the own file names is used with them', async () => {
    writeProfiles();
    expect((await inClone(['token'], SECRET)).code).toBe(0);
  });

  it('a profile with credentials of its own can be picked', async () => {
    const own = 'BUILD_SECRET';
    writeProfiles(
      `      authType: ClientSecret\n      clientId: ci\n      clientSecretEnvVar: ${own}\n`,
    );
    writeFileSync(projectFile(), 'profile: two\n');
    const environment = { [own]: SECRET.CORE_CREDENTIALS_CLIENT_SECRET };
    expect((await inClone(['token'], environment)).code).toBe(0);
  });

  it('a person is asked to sign in at the platform of a picked profile', async () => {
    writeProfiles();
    writeFileSync(projectFile(), 'profile: two\n');
    expect((await inClone(['token', '--no-login'])).code).toBe(4);
  });
});

describe("Where a project's file is looked for", () => {
  it('in the repository around the working folder, and not above it', async () => {
    writeProfiles();
    const inner = join(cloned.path, 'vendor/inner');
    mkdirSync(join(inner, 'deep'), { recursive: true });
    writeFileSync(projectFile(), 'profile: two\n');
    expect(await selectedIn(join(inner, 'deep'))).toBe('two');
    mkdirSync(join(inner, '.git'));
    expect(await selectedIn(join(inner, 'deep'))).toBe('one');
  });

  it('in the home folder, and not above it', async () => {
    const below = join(home.path, 'work/deep');
    mkdirSync(below, { recursive: true });
    writeProfiles();
    writeFileSync(join(home.path, '.sallyport.yaml'), 'profile: two\n');
    expect(await selectedIn(below)).toBe('two');
    const environment = { HOME: below, XDG_CONFIG_HOME: join(home.path, '.config') };
    const { stdout } = await inClone(['status', '--json', '--offline'], environment, below);
    expect(JSON.parse(stdout)).toMatchObject({ profiles: [{ profile: 'one' }, {}] });
  });

  it('outside of both, in the working folder alone', async () => {
    writeProfiles();
    rmSync(join(cloned.path, '.git'), { recursive: true });
    mkdirSync(join(cloned.path, 'below'));
    writeFileSync(projectFile(), 'profile: two\n');
    expect(await selectedIn(join(cloned.path, 'below'))).toBe('one');
    expect(await selectedIn(cloned.path)).toBe('two');
  });

  it.skipIf(!isRoot)('one of another user counts for nothing, and that is said', async () => {
    writeProfiles();
    writeFileSync(projectFile(), 'profile: two\n');
    chownSync(projectFile(), NOBODY, NOBODY);
    const { code, stderr } = await inClone(['token', '--no-login']);
    expect(code).toBe(1);
    expect(stderr).toContain(`${projectFile()}: found a file of another user`);
    expect(await selectedIn(cloned.path, ['--profile', 'one'])).toBe('one');
  });
});

describe('Nothing that a file or folder is called moves the cursor', () => {
  const NAME = 'a\u001b[31m\u009b2Jb\u202ec';
  const isPrintable = (text: string): boolean => !/[\p{Cc}\p{Cf}]/u.test(text.replaceAll('\n', ''));

  it('not the folder of a project, whether its file is good or not', async () => {
    writeProfiles();
    const folder = join(cloned.path, NAME);
    mkdirSync(join(folder, '.git'), { recursive: true });
    for (const text of ['profile: two\n', 'x: 1\n', 'profile: nosuch\n', '[']) {
      writeFileSync(join(folder, '.sallyport.yaml'), text);
      const { stdout, stderr } = await inClone(['status', '--offline'], {}, folder);
      expect(stdout + stderr).toContain('a [31m 2Jb c');
      expect(isPrintable(stdout + stderr)).toBe(true);
    }
  });

  it('not a file or a key of settings', async () => {
    for (const text of [`"${NAME}": 1\n`, `admin:\n  endpoint: "${NAME}"\n  "${NAME}": 1\n`]) {
      writeFileSync(join(home.path, NAME), text);
      const { code, stderr } = await home.run(['status', '--config', NAME]);
      expect([code, isPrintable(stderr)]).toEqual([1, true]);
    }
    const path = join(home.path, 'a\u202eb');
    writeFileSync(path, 'x');
    const { stderr } = await home.run(['whoami', '--endpoint', platform.url, '--ca-file', path]);
    expect(stderr).toContain('a b: found no certificate');
    expect(isPrintable(stderr)).toBe(true);
  });
});

describe('Certificates', () => {
  it.each<[string, (path: string) => void, string]>([
    ['a named pipe', (path) => execFileSync('mkfifo', [path]), 'no regular file'],
    ['absent', () => {}, 'no such file'],
    ['a folder', (path) => mkdirSync(path), 'no regular file'],
    ['of something else', (path) => writeFileSync(path, 'text'), 'no certificate'],
  ])('from a file that is %s: a sentence with its path', async (_, plant, found) => {
    const path = join(home.path, 'ca.pem');
    plant(path);
    const { code, stderr } = await home.run([
      'whoami',
      '--endpoint',
      platform.url,
      '--ca-file',
      path,
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${path}: found ${found}`);
  });
});

describe('Compiled code', () => {
  const compiled = (): string => join(home.path, 'cache/sallyport/compiled');
  const run = (cache: string): Promise<Ended> =>
    home.start(['completion', 'bash'], { XDG_CACHE_HOME: cache }).ended;
  const isUsed = (): boolean => existsSync(compiled()) && readdirSync(compiled()).length > 0;

  it('is kept in a folder of mode 0700', async () => {
    expect((await run(join(home.path, 'cache'))).code).toBe(0);
    expect(isUsed()).toBe(true);
    expect(statSync(compiled()).mode & 0o777).toBe(0o700);
  });

  it('is kept nowhere below a folder that others can write to', async () => {
    for (const open of ['cache', 'cache/sallyport', 'cache/sallyport/compiled']) {
      rmSync(join(home.path, 'cache'), { recursive: true, force: true });
      mkdirSync(compiled(), { recursive: true, mode: 0o700 });
      chmodSync(join(home.path, open), 0o777);
      expect((await run(join(home.path, 'cache'))).code).toBe(0);
      expect(isUsed()).toBe(false);
    }
  });

  it('is kept nowhere where others can write to a folder further up, unless it is sticky', async () => {
    const above = join(home.path, 'above');
    const folder = join(above, 'between/cache');
    for (const [mode, isKept] of [
      [0o777, false],
      [0o1777, true],
    ] as const) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(above, mode);
      expect((await run(folder)).code).toBe(0);
      expect(existsSync(join(folder, 'sallyport/compiled'))).toBe(true);
      expect(readdirSync(join(folder, 'sallyport/compiled')).length > 0).toBe(isKept);
    }
  });

  it.skipIf(!isRoot)('is kept nowhere behind a link of another user to the caches', async () => {
    mkdirSync(join(home.path, 'own'), { mode: 0o700 });
    symlinkSync(join(home.path, 'own'), join(home.path, 'cache'));
    expect((await run(join(home.path, 'cache'))).code).toBe(0);
    expect(isUsed()).toBe(true);
    rmSync(join(home.path, 'own/sallyport'), { recursive: true });
    lchownSync(join(home.path, 'cache'), NOBODY, NOBODY);
    expect((await run(join(home.path, 'cache'))).code).toBe(0);
    expect(isUsed()).toBe(false);
  });

  it('is kept nowhere behind a symbolic link', async () => {
    mkdirSync(join(home.path, 'cache/sallyport'), { recursive: true, mode: 0o700 });
    mkdirSync(join(home.path, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(home.path, 'elsewhere'), compiled());
    expect((await run(join(home.path, 'cache'))).code).toBe(0);
    expect(readdirSync(join(home.path, 'elsewhere'))).toEqual([]);
  });

  it.skipIf(!isRoot)('is kept nowhere below a folder of another user', async () => {
    mkdirSync(compiled(), { recursive: true, mode: 0o700 });
    chownSync(compiled(), NOBODY, NOBODY);
    expect((await run(join(home.path, 'cache'))).code).toBe(0);
    expect(isUsed()).toBe(false);
  });

  it('is not kept in the working folder, whatever XDG_CACHE_HOME says', async () => {
    expect((await run('cache')).code).toBe(0);
    expect(existsSync(join(home.path, 'cache'))).toBe(false);
    expect(existsSync(join(home.path, '.cache/sallyport/compiled'))).toBe(true);
  });
});
