import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { Browser } from './browser.ts';
import { exchange } from './exchange.ts';
import { type Service, startHostedService } from './platform.ts';
import { createServiceHost } from './service-host.ts';
import { askMe, expectSignsIn, SESSION_COOKIE } from './sign-in.ts';

describe('Services in one process', () => {
  const host = createServiceHost();
  afterAll(() => host.close());
  const start = (file: readonly string[] = [], environment = {}): Promise<Service> =>
    startHostedService(environment, [], undefined, file, host);

  it('have an IdP, state, configuration, variables and output of their own', async () => {
    const [one, other] = await Promise.all([
      start(['auth: {grpcAuthorizationHeader: one-header}']),
      start([], { CLI_CLIENT_ID: 'other-client' }),
    ]);
    for (const service of [one, other]) {
      const browser = new Browser();
      await expectSignsIn(service, browser);
      const elsewhere = service === one ? other : one;
      const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
      expect((await exchange(`${elsewhere.url}/me`, { headers: { cookie } })).status).toBe(401);
      expect(service.idp.tokenForms).toHaveLength(1);
      expect(service.running.stdout()).toBe(
        `ready ${service.url.replace('localhost', '127.0.0.1')}\n`,
      );
      expect(service.running.stderr()).toContain('"session_begun"');
      expect(service.running.stderr()).not.toContain(elsewhere.idp.issuer);
    }
    const configOf = async ({ url }: Service) => {
      const body = JSON.parse((await exchange(`${url}/config/v1/flyte_client`)).body);
      return [body.client_id, body.authorization_metadata_key];
    };
    expect(await configOf(one)).toEqual(['cli-client', 'one-header']);
    expect(await configOf(other)).toEqual(['other-client', 'core-authorization']);
    await Promise.all([one.stop(), other.stop()]);
  });

  it('get signals for themselves: one is stopped, the other answers; it starts again on its state', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    const browser = new Browser();
    await expectSignsIn(one, browser);
    expect(await one.running.stop()).toBe(0);
    await expect(exchange(`${one.url}/healthz`)).rejects.toThrow('ECONNREFUSED');
    expect((await exchange(`${other.url}/healthz`)).status).toBe(200);
    const again = await one.restart();
    expect(await askMe(again, browser)).toBe(200);
    await Promise.all([again.stop(), other.stop()]);
  });

  it('that cannot start say why, as a process of its own would, and hurt no other', async () => {
    const other = await start();
    const failure = await start(['bearer: {issuers: [{issuer: 1}]}']).catch(String);
    expect(failure).toContain('ended with 1');
    expect(failure).toContain('bearer.issuers');
    await expectSignsIn(other, new Browser());
    await other.stop();
  });
});

it('the process of services ends with the one that started it, also when that is killed', async () => {
  const program = `
    import { createServiceHost } from ${JSON.stringify(new URL('./service-host.ts', import.meta.url).href)};
    const host = createServiceHost();
    // Running services do not keep the process alive.
    setInterval(() => {}, 1_000);
    await host.start(['serve', '--check'], {}).catch(() => undefined);
    process.kill(process.pid, 'SIGKILL');`;
  const ended = spawnSync(
    process.execPath,
    ['--conditions=source', '--input-type=module', '-e', program],
    {
      // Resolves once nothing holds its output any more: the process of the services is gone, too.
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 30_000,
    },
  );
  expect([ended.signal, ended.error]).toEqual(['SIGKILL', undefined]);
});
