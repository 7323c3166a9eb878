import { existsSync, readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Home, makeHome, type UnderWay } from './command.ts';
import { hasTerminal, startOnTerminal } from './screen.ts';
import { type StallingKeycloak, startStallingKeycloak } from './stalling-keycloak.ts';

const PUBLIC_URL = 'https://platform.example.com';
const PASSWORD = { SALLYPORT_IDP_ADMIN_PASSWORD: 'canary-password' };

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

async function keycloak(
  ...[stallsAt]: Parameters<typeof startStallingKeycloak>
): Promise<StallingKeycloak> {
  const started = await startStallingKeycloak(stallsAt);
  onTestFinished(() => started.close());
  return started;
}

const words = (command: string, issuer: string): readonly string[] => [
  ...['idp', command, '--provider', 'keycloak', '--public-url', PUBLIC_URL, '--issuer', issuer],
  ...(command === 'apply' || command === 'destroy' ? ['--yes'] : []),
];

/** Sends the one signal that a Ctrl-C is, once the command waits for the answer that does not come. */
async function interruptOnce(stalled: Promise<void>, { child, ended }: UnderWay) {
  const isStalled = await Promise.race([stalled.then(() => true), ended.then(() => false)]);
  if (!isStalled) throw new Error(`it ended before: ${(await ended).stderr}`);
  child.kill('SIGINT');
  return ended;
}

/** Every request for one client but those of plans, which ask for it by its ID alone. */
const makesClient = (clientId: string) => (method: string, path: string, members: object) =>
  method === 'POST' &&
  path.endsWith('/clients') &&
  'clientId' in members &&
  members.clientId === clientId;

describe('sallyport idp, interrupted while Keycloak does not answer', () => {
  it.each(['plan', 'apply', 'destroy'])(
    '%s ends with 130, and nothing is changed',
    async (command) => {
      const { issuer, stalled, objects } = await keycloak((_, path) => path === '/admin/realms/a');
      const running = home.start(words(command, issuer), PASSWORD);
      const { code, stdout, stderr } = await interruptOnce(stalled, running);
      const said = command === 'plan' ? 'interrupted' : 'interrupted; nothing was changed';
      expect([code, stdout, stderr]).toEqual([130, '', `sallyport: ${said}\n`]);
      expect(objects()).toEqual([]);
    },
  );

  it('check ends with 130 in place of findings that were not made', async () => {
    const { issuer, stalled } = await keycloak(
      (method, path) => method === 'POST' && path.endsWith('/realms/a/token'),
    );
    const running = home.start(words('check', issuer), PASSWORD);
    const { code, stdout, stderr } = await interruptOnce(stalled, running);
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/sallyport: interrupted\n$/);
  });

  it('apply says what was done, what perhaps, and what not; it writes no secret, and the next one continues', async () => {
    let isStalling = true;
    const makes = makesClient('sallyport-cli');
    const { issuer, stalled, objects } = await keycloak(
      (...request) => isStalling && makes(...request),
    );
    const running = home.start(words('apply', issuer), PASSWORD);
    const { code, stderr } = await interruptOnce(stalled, running);
    expect([code, stderr]).toEqual([
      130,
      `sallyport: interrupted; done: client scope all, client sallyport-web; begun, and perhaps done: client sallyport-cli; not begun: client sallyport-service
  Run the same command again: it continues from there.
`,
    ]);
    expect(objects()).toEqual(['all', 'sallyport-web']);
    expect(existsSync(join(home.path, 'idp')) && readdirSync(join(home.path, 'idp'))).toBe(false);
    isStalling = false;
    const next = await home.run(words('apply', issuer), PASSWORD);
    expect([next.code, next.stderr]).toEqual([0, '']);
    expect(objects()).toEqual(['all', 'sallyport-web', 'sallyport-cli', 'sallyport-service']);
    expect(existsSync(join(home.path, 'idp/deployment.env'))).toBe(true);
  });

  it('apply says the same as JSON', async () => {
    const { issuer, stalled } = await keycloak(makesClient('sallyport-web'));
    const running = home.start([...words('apply', issuer), '--json'], PASSWORD);
    const { code, stdout, stderr } = await interruptOnce(stalled, running);
    expect([code, stderr]).toEqual([130, '']);
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      error: 'interrupted',
      description: expect.stringContaining('; done: client scope all; begun, and perhaps done: '),
      hint: expect.stringContaining('Run the same command again'),
    });
  });

  it('destroy says what was removed and what not, and the next one removes the rest', async () => {
    let isStalling = true;
    const { issuer, stalled, objects } = await keycloak(
      (method, path) => isStalling && method === 'DELETE' && path.endsWith('/sallyport-cli'),
    );
    expect((await home.run(words('apply', issuer), PASSWORD)).code).toBe(0);
    const running = home.start(words('destroy', issuer), PASSWORD);
    const { code, stderr } = await interruptOnce(stalled, running);
    expect([code, stderr]).toEqual([
      130,
      expect.stringContaining(
        'done: client sallyport-web; begun, and perhaps done: client sallyport-cli; not begun: client sallyport-service, client scope all\n',
      ),
    ]);
    expect(objects()).toEqual(['all', 'sallyport-cli', 'sallyport-service']);
    isStalling = false;
    expect((await home.run(words('destroy', issuer), PASSWORD)).code).toBe(0);
    expect(objects()).toEqual([]);
  });
});

describe('sallyport idp destroy', () => {
  it('ends with 1 where there is no such realm: a realm that is misspelled is not taken for an empty one', async () => {
    const { issuer } = await keycloak(() => false);
    const wrong = issuer.replace(/a$/, 'b');
    const { code, stdout, stderr } = await home.run(words('destroy', wrong), PASSWORD);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `sallyport: nothing was removed: there is no realm b at ${wrong}\n  Compare --issuer with the address of the realm.\n`,
    );
    const asJson = await home.run([...words('destroy', wrong), '--json'], PASSWORD);
    expect([asJson.code, JSON.parse(asJson.stdout)]).toMatchObject([
      1,
      { ok: false, error: 'not_found' },
    ]);
  });

  it('ends with 0 where nothing of the deployment is left in a realm that is there, and says for which public URL', async () => {
    const { issuer } = await keycloak(() => false);
    const { code, stdout } = await home.run(words('destroy', issuer), PASSWORD);
    expect(code).toBe(0);
    expect(stdout).toContain(
      `nothing in the realm a has the attribute sallyport.deployment with ${PUBLIC_URL}`,
    );
    expect(stdout).toMatch(/nothing to remove\n$/);
  });
});

describe.skipIf(!hasTerminal())(
  "sallyport idp on a terminal (needs util-linux's script), through a proxy that makes no tunnel",
  () => {
    it('says after a second what it waits for, and ends with 130 at Ctrl-C with a tidy screen', async () => {
      const sockets = new Set<Socket>();
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
        server.close();
      });
      const proxy = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const terminal = startOnTerminal(home, words('plan', 'https://idp.example.com/realms/a'), {
        ...PASSWORD,
        HTTPS_PROXY: `http://user:canary@${proxy}`,
      });
      await terminal.shows(`waiting for https://idp.example.com through the proxy ${proxy}`);
      terminal.type('\u0003');
      const { code, screen } = await terminal.ended;
      expect(code).toBe(130);
      expect(screen).not.toContain('waiting for');
      expect(screen.trimEnd()).toMatch(/sallyport: interrupted$/);
      expect(terminal.raw()).not.toContain('canary');
    });
  },
);
