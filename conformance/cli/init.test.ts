import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type TemporaryFolder, temporaryFolder } from '../wire/process.ts';
import { sharedHost } from '../wire/service-host.ts';
import { makeHome } from './command.ts';
import { createCommandHost } from './command-host.ts';
import { hasTerminal, startOnTerminal } from './screen.ts';

const DOMAIN = 'platform.example.com';
const host = createCommandHost();
let idp: FakeIdp;
beforeAll(async () => {
  idp = await startFakeIdp('sallyport-web');
});
afterAll(async () => {
  host.stop();
  await idp.close();
});

function makePlace(): TemporaryFolder {
  const place = temporaryFolder();
  onTestFinished(() => place.remove());
  return place;
}

const init = (place: TemporaryFolder, ...args: string[]) =>
  host.run(['init', ...args, '--offline'], {}, place.path);
const given = () => ['--public-url', DOMAIN, '--issuer', idp.issuer];

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

describe('sallyport init', () => {
  it('makes a folder that serve runs from: a person is sent to the identity provider and signed in', async () => {
    const place = makePlace();
    const secret = join(place.path, 'web-secret');
    writeFileSync(secret, 'canary-secret\n', { mode: 0o600 });
    const made = await init(place, 'my', ...given(), '--client-secret-file', './web-secret');
    expect(made.code, made.stderr).toBe(0);
    expect(made.stdout).toMatch(
      /\n\nDone[.] Not running yet: start it with sallyport serve --config my\/sallyport.yaml\nThen check it with sallyport doctor --config my\/sallyport.yaml\n$/,
    );
    const config = join(place.path, 'my/sallyport.yaml');
    const checked = await host.run(
      ['serve', '--check', '--online', '--config', config],
      {},
      place.path,
    );
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    expect(checked.stdout).toContain(`answered as configured:\n  ${idp.issuer}\n`);
    const running = await sharedHost().start(['serve', '--port', '0', '--config', config], {});
    onTestFinished(async () => void (await running.stop()));
    const sent = await exchange(`${running.url}/login?redirect_url=%2Fx`, {
      headers: { host: DOMAIN, 'x-forwarded-proto': 'https', 'sec-fetch-mode': 'navigate' },
    });
    expect([sent.status, sent.location]).toEqual([
      302,
      expect.stringContaining(`${idp.issuer}/authorize?`),
    ]);
    const asked = new URL(sent.location ?? '').searchParams;
    expect(asked.get('redirect_uri')).toBe(`https://${DOMAIN}/callback`);
    const attempt = sent.setCookies.map((line) => line.split(';')[0]).join('; ');
    const back = await exchange(`${running.url}/callback?${idp.authorize(sent.location ?? '')}`, {
      headers: { host: DOMAIN, cookie: attempt, 'sec-fetch-mode': 'navigate' },
    });
    expect([back.status, back.location]).toEqual([302, `https://${DOMAIN}/x`]);
    expect(made.stdout + made.stderr + running.stderr()).not.toContain('canary');
  });

  it('names no fault where all is well so far: what is not running or written yet is left out, and said', async () => {
    const place = makePlace();
    const { code, stdout } = await host.run(['init', 'my', ...given()], {}, place.path);
    expect(code).toBe(0);
    expect(stdout).toContain(': not running yet\n');
    expect(stdout).toContain(': not written yet\n');
    expect(stdout).not.toContain('FAIL');
    expect(stdout).not.toContain('needs ');
  });

  it('names an issuer that is given wrong, and that alone', async () => {
    const place = makePlace();
    const wrong = ['--public-url', DOMAIN, '--issuer', `${idp.issuer}/`, '--json'];
    const { code, stdout } = await host.run(['init', 'my', ...wrong], {}, place.path);
    expect(code).toBe(0);
    const { doctor } = JSON.parse(stdout) as { readonly doctor: { readonly findings: object[] } };
    expect(doctor.findings).toEqual([expect.objectContaining({ code: 'issuer_slash' })]);
  });

  it('leaves nothing behind when a file cannot be written, and what was there before as it was', async () => {
    const place = makePlace();
    mkdirSync(join(place.path, 'etc/conf.d'), { recursive: true });
    mkdirSync(join(place.path, 'my/secrets'), { recursive: true });
    // The folder of the recipe cannot be made.
    for (const file of ['etc/sallyport', 'etc/conf.d/other.conf', 'my/notes'])
      writeFileSync(join(place.path, file), 'mine');
    const before = listFiles(place.path);
    const { code, stdout, stderr } = await init(place, 'my', ...given(), '--proxy-folder', 'etc');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('cannot be written (E');
    expect(listFiles(place.path)).toEqual(before);
    for (const file of before) expect(readFileSync(join(place.path, file), 'utf8')).toBe('mine');
    expect(readdirSync(join(place.path, 'my')).toSorted()).toEqual(['notes', 'secrets']);
    expect(readdirSync(join(place.path, 'my/secrets'))).toEqual([]);
    // With another folder the same command goes through.
    expect((await init(place, 'my', ...given())).code).toBe(0);
  });

  it('writes nothing beside a recipe file that only other options write', async () => {
    const place = makePlace();
    mkdirSync(join(place.path, 'etc/sallyport'), { recursive: true });
    writeFileSync(join(place.path, 'etc/sallyport/verdict-cache.conf'), 'mine');
    const { code, stderr } = await init(place, 'my', ...given(), '--proxy-folder', 'etc');
    expect([code, stderr]).toEqual([1, expect.stringContaining('there already: etc/sallyport')]);
    expect(listFiles(place.path)).toEqual(['etc/sallyport/verdict-cache.conf']);
  });

  it('writes configuration, key ring, places of secrets and the recipe, for this user alone', async () => {
    const place = makePlace();
    const { stdout } = await init(place, 'my', ...given());
    const folder = join(place.path, 'my');
    const files = listFiles(folder).filter((file) => !file.startsWith('nginx/sallyport/'));
    expect(files).toEqual([
      'nginx/conf.d/sallyport.conf',
      'sallyport.yaml',
      'secrets/README.md',
      'state/key-ring.json',
    ]);
    expect(listFiles(join(folder, 'nginx/sallyport'))).toContain('check.conf');
    for (const file of files) expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600);
    for (const secret of ['cloud-cp/core-admin-secrets', 'cloud/cloud-secret-auth'])
      expect(statSync(join(folder, 'secrets', secret)).mode & 0o777, secret).toBe(0o700);
    expect(readFileSync(join(folder, 'nginx/sallyport/upstream.conf'), 'utf8')).toContain(
      '127.0.0.1:8080',
    );
    expect(stdout).toMatch(
      new RegExp(
        `^  sallyport-web +redirect_uri +https://${DOMAIN.replaceAll('.', '[.]')}/callback$`,
        'm',
      ),
    );
    expect(stdout).toMatch(
      /^ {2}sallyport-cli +redirect_uri +http:\/\/localhost:53593\/callback$/m,
    );
    expect(stdout).toMatch(
      /\n\nWhat the doctor says of it now:\n\nok [\s\S]*: not written yet\n[\s\S]*\n\nNo fault found, .*\n\nDone[.] Still to do: write the secret of the web app sallyport-web into my\/secrets\/cloud-cp\/core-admin-secrets\/oidc_client_secret\nNot running yet: start it with .*\nThen check it with .*\n$/,
    );
  });

  it('writes recipe and site into the folder of nginx, for the public URL and the port, over nothing there', async () => {
    const place = makePlace();
    const args = [...given(), '--proxy-folder', 'etc', '--port', '8181'];
    const { code, stdout } = await init(place, 'my', ...args);
    expect(code).toBe(0);
    expect(listFiles(join(place.path, 'my')).join()).not.toContain('nginx');
    const site = readFileSync(join(place.path, 'etc/conf.d/sallyport.conf'), 'utf8');
    for (const line of [
      'listen 443 ssl http2;',
      `server_name ${DOMAIN};`,
      `if ($host != ${DOMAIN}) {`,
    ])
      expect(site).toContain(line);
    const upstream = readFileSync(join(place.path, 'etc/sallyport/upstream.conf'), 'utf8');
    expect(upstream).toContain('server 127.0.0.1:8181;');
    expect(readFileSync(join(place.path, 'my/sallyport.yaml'), 'utf8')).toContain('port: 8181');
    expect(stdout).toMatch(/^ {2}\d+[.] {2}etc: nginx -t, and nginx -s reload$/m);
    const again = await init(place, 'other', ...args);
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining(
        'there already: etc/conf.d/sallyport.conf, etc/sallyport (15 files);',
      ),
    ]);
    expect(listFiles(place.path).join()).not.toContain('other');
  });

  it.each([
    ['--proxy-folder without a proxy', ['--proxy', 'none', '--proxy-folder', 'etc']],
    ['port 0, which nginx could not find', ['--port', '0']],
  ])('refuses %s', async (_, args) => {
    const place = makePlace();
    expect((await init(place, 'my', ...given(), ...args)).code).toBe(2);
    expect(listFiles(place.path)).toEqual([]);
  });

  it('writes over nothing, and then writes nothing at all', async () => {
    const place = makePlace();
    expect((await init(place, 'my', ...given(), '--proxy', 'none')).code).toBe(0);
    const before = readFileSync(join(place.path, 'my/sallyport.yaml'), 'utf8');
    const other = ['--public-url', 'other.example.com', '--issuer', idp.issuer];
    const again = await init(place, 'my', ...other);
    expect([again.code, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toContain('there already: my (3 files); nothing was written');
    expect(readFileSync(join(place.path, 'my/sallyport.yaml'), 'utf8')).toBe(before);
    expect(listFiles(join(place.path, 'my')).join()).not.toContain('nginx');
  });

  it('leaves alone what else is in the folder, such as secrets of sallyport idp apply', async () => {
    const place = makePlace();
    writeFileSync(join(place.path, 'notes'), 'mine');
    const secret = 'secrets/cloud-cp/core-admin-secrets/oidc_client_secret';
    mkdirSync(dirname(join(place.path, secret)), { recursive: true });
    writeFileSync(join(place.path, secret), 'x'.repeat(20), { mode: 0o600 });
    const { code, stdout } = await init(place, '.', ...given(), '--proxy', 'none');
    expect(code).toBe(0);
    expect(readFileSync(join(place.path, 'notes'), 'utf8')).toBe('mine');
    expect(readFileSync(join(place.path, secret), 'utf8')).toBe('x'.repeat(20));
    // It is there: nothing is left to do about it.
    expect(stdout).not.toMatch(/not written yet|put the secret|Still to do/);
  });

  it.each([
    ['a public URL by plain http', ['--public-url', 'http://platform.example.com'], 'publicUrl'],
    ['a domain with a path', ['--public-url', 'platform.example.com/x'], 'publicUrl'],
    ['an issuer that is no URL', ['--issuer', 'idp'], 'baseUrl'],
    ['an unknown proxy', ['--proxy', 'apache'], 'expected one of nginx'],
    ['a secret that is not there', ['--client-secret-file', './missing'], 'no such file'],
  ])('refuses %s before anything is written', async (_, wrong, named) => {
    const place = makePlace();
    const { code, stderr } = await init(place, 'my', ...given(), ...wrong);
    expect(code).toBe(2);
    expect(stderr).toContain(named);
    expect(listFiles(place.path)).toEqual([]);
  });

  it('writes nothing into a folder that others may write to, also through a link', async () => {
    const place = makePlace();
    const open = join(place.path, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    symlinkSync(open, join(place.path, 'link'));
    for (const name of ['open', 'link', 'open/new']) {
      const { code, stdout, stderr } = await init(place, name, ...given());
      expect([name, code, stdout]).toEqual([name, 1, '']);
      expect(stderr).toContain(`others may write to ${realpathSync(open)}`);
    }
    expect(listFiles(place.path)).toEqual([]);
  });

  it('writes over no link, and not to where it leads', async () => {
    const place = makePlace();
    mkdirSync(join(place.path, 'my'));
    symlinkSync(join(place.path, 'elsewhere'), join(place.path, 'my/sallyport.yaml'));
    const { code } = await init(place, 'my', ...given());
    expect(code).toBe(1);
    expect(existsSync(join(place.path, 'elsewhere'))).toBe(false);
  });

  it('shows commands that a shell reads as they are meant, whatever stands in the issuer', async () => {
    const place = makePlace();
    const issuer = 'https://idp.example.com/realms/a;$(touch$IFS-x)';
    const { code, stdout } = await init(
      place,
      'my folder',
      '--public-url',
      DOMAIN,
      '--issuer',
      issuer,
    );
    expect(code).toBe(0);
    expect(stdout).toContain(` --issuer '${issuer}' --out 'my folder/secrets'`);
    expect(stdout).toContain("sallyport serve --config 'my folder/sallyport.yaml'");
  });

  it('asks nothing without a terminal, and says what to give', async () => {
    const place = makePlace();
    const { code, stderr } = await init(place, 'my', '--issuer', idp.issuer);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--public-url and --issuer')]);
  });

  it('takes a text as it is, whatever YAML would make of it', async () => {
    const place = makePlace();
    const clientId = '"[b]#{c}&*!';
    const made = await init(place, 'my', ...given(), '--web-client-id', clientId, '--json');
    expect(made.code, made.stdout).toBe(0);
    const secret = 'my/secrets/cloud-cp/core-admin-secrets/oidc_client_secret';
    writeFileSync(join(place.path, secret), 'x'.repeat(20), { mode: 0o600 });
    const { stdout } = await host.run(
      ['serve', '--check', '--json', '--config', 'my/sallyport.yaml'],
      {},
      place.path,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      config: { auth: { userAuth: { openId: { clientId } } } },
    });
  });

  it('as JSON has files, addresses, next steps and what the doctor found', async () => {
    const { code, stdout } = await init(makePlace(), 'my', ...given(), '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      files: expect.arrayContaining(['my/sallyport.yaml']),
      register: {
        redirect_uri: `https://${DOMAIN}/callback`,
        native_redirect_uri: 'http://localhost:53593/callback',
      },
      next: expect.arrayContaining(['sallyport serve --config my/sallyport.yaml']),
      doctor: { ok: true },
    });
  });
});

describe.skipIf(!hasTerminal())("sallyport init on a terminal (needs util-linux's script)", () => {
  it('asks three questions, and for none that is answered by an option', async () => {
    const home = makeHome();
    onTestFinished(() => home.remove());
    const terminal = startOnTerminal(home, ['init', 'my', '--offline']);
    await terminal.shows('Address of the platform');
    terminal.type(`${DOMAIN}\r`);
    await terminal.shows('Issuer of the identity provider');
    terminal.type(`${idp.issuer}\r`);
    await terminal.shows('Reverse proxy (nginx, none) [nginx]');
    terminal.type('\r');
    const { code, screen } = await terminal.ended;
    expect([code, screen]).toEqual([0, expect.stringContaining('  my/sallyport.yaml')]);
    // Questions and doctor have ended: its last line is what is to be done next.
    expect(screen.trimEnd().split('\n\n').at(-1)).toMatch(/^Done[.] Still to do: /);
    expect(readFileSync(join(home.path, 'my/sallyport.yaml'), 'utf8')).toContain(
      `publicUrl: "https://${DOMAIN}"`,
    );
    const other = startOnTerminal(home, ['init', 'other', '--offline', ...given()]);
    expect(await other.shows('Reverse proxy')).not.toContain('Address of the platform');
    other.type('\u0003');
    expect((await other.ended).code).toBe(130);
    expect(listFiles(home.path).filter((file) => file.startsWith('other'))).toEqual([]);
  });

  it('ends with 130 at Ctrl-C while the doctor waits for the identity provider, and the folder is whole', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const home = makeHome();
    onTestFinished(() => home.remove());
    const issuer = ['--issuer', `http://127.0.0.1:${port}`, '--proxy', 'none'];
    const terminal = startOnTerminal(home, ['init', 'my', '--public-url', DOMAIN, ...issuer]);
    await terminal.shows("an answer of the identity provider's");
    terminal.type('\u0003');
    const { code, screen } = await terminal.ended;
    expect([code, screen]).toEqual([130, expect.stringContaining('sallyport: interrupted')]);
    expect(screen).toContain('Done. Still to do: ');
    expect(listFiles(join(home.path, 'my'))).toContain('state/key-ring.json');
  });
});
