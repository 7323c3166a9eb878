import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { answerWith, type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeHome } from './cli/command.ts';
import { createCommandHost } from './cli/command-host.ts';
import { hasTerminal, startOnTerminal } from './cli/screen.ts';
import { WEB_CLIENT_ID } from './wire/platform.ts';
import { temporaryFolder } from './wire/process.ts';

const host = createCommandHost();
const folder = temporaryFolder();
const secretFile = join(folder.path, 'oidc_client_secret');
let idp: FakeIdp;
beforeAll(async () => {
  writeFileSync(secretFile, 'canary-secret', { mode: 0o600 });
  idp = await startFakeIdp(WEB_CLIENT_ID);
});
afterAll(async () => {
  host.stop();
  await idp.close();
  folder.remove();
});

const SETTINGS = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_CLIENT_ID: WEB_CLIENT_ID,
  CLI_CLIENT_ID: 'cli-client',
  OIDC_CLIENT_SECRET_FILE: secretFile,
  SALLYPORT_STATE_DIRECTORY: folder.path,
};
const check = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  host.run(['serve', ...args], { ...SETTINGS, OIDC_BASE_URL: idp.issuer, ...more }, folder.path);

describe('sallyport serve --check --online', () => {
  it('shows the issuer that was found beside the one configured', async () => {
    const { code, stdout } = await check(['--check', '--online']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`\nIssuers that answered as configured:\n  ${idp.issuer}\n\nok: .*\n$`),
      ),
    ]);
  });

  it('is not asked for by --check alone, and is a check without it', async () => {
    const asked = idp.requests.length;
    expect((await check(['--check'])).code).toBe(0);
    expect(idp.requests).toHaveLength(asked);
    expect((await check(['--online'])).stdout).toContain('answered as configured');
    expect(idp.requests).toHaveLength(asked + 1);
  });

  it('says that a slash at the end is all that differs, and ends with 1', async () => {
    const { code, stderr } = await check(['--online'], { OIDC_BASE_URL: `${idp.issuer}/` });
    expect([code, stderr]).toEqual([
      1,
      `issuer: configured ${idp.issuer}/, found ${idp.issuer}: they differ in the slash at the end alone, configure the one that was found\n`,
    ]);
  });

  it('ends with 5 where nothing listens, or nothing is found', async () => {
    const issuer = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr, stdout } = await check(['--online'], { OIDC_BASE_URL: issuer });
    expect(stdout).not.toMatch(/^ok/m);
    expect(stdout).not.toContain('answered as configured');
    expect([code, stderr]).toEqual([
      5,
      `issuer: configured ${issuer}, found none: nothing listens there\n`,
    ]);
    idp.answers.set('*', answerWith(404, 'nothing'));
    onTestFinished(() => idp.answers.clear());
    const missing = await check(['--online']);
    expect(missing.code).toBe(5);
    expect(missing.stderr).toContain('was answered with status 404');
  });

  it('as JSON has every issuer, and asks none that is not used', async () => {
    const both = await check(['--online', '--json']);
    expect(JSON.parse(both.stdout)).toMatchObject({
      ok: true,
      issuers: [{ configured: idp.issuer, found: idp.issuer, outcome: 'same', detail: '' }],
      register: {
        redirect_uri: 'https://platform.example.com/callback',
        post_logout_redirect_uri: 'https://platform.example.com/logout',
        backchannel_logout_uri: 'https://platform.example.com/auth/backchannel-logout',
        native_redirect_uri: 'http://localhost:53593/callback',
      },
    });
    expect(JSON.parse((await check(['--check', '--json'])).stdout)).not.toHaveProperty('issuers');
    expect(both.stdout + both.stderr).not.toContain('canary');
  });
});

describe.skipIf(!hasTerminal())(
  "sallyport serve --check --online on a terminal (needs util-linux's script)",
  () => {
    it('says after a second which issuer it waits for, and ends with 130 at Ctrl-C with a tidy screen', async () => {
      const server = createServer(() => {});
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const silent = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const home = makeHome();
      onTestFinished(() => home.remove());
      const settings = { ...SETTINGS, OIDC_BASE_URL: silent };
      const terminal = startOnTerminal(home, ['serve', '--check', '--online'], settings);
      await terminal.shows(`waiting for ${silent}`);
      terminal.type('\u0003');
      const { code, screen } = await terminal.ended;
      expect([code, screen.trim()]).toEqual([130, 'sallyport: interrupted']);
      expect(terminal.raw().endsWith('\u001b[?25hsallyport: interrupted\r\n')).toBe(true);
    });
  },
);
