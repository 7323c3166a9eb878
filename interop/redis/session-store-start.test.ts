import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run, start, temporaryFolder } from '../../conformance/wire/process.ts';
import { REDIS } from './redis-process.ts';
import { type RedisOptions, startRedis } from './redis-server.ts';

/** A configuration for `serve` with sessions in Redis; the identity provider is not there. */
function writeConfig(redis: Readonly<Record<string, unknown>>, workers = 1): string {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const secret = join(folder.path, 'oidc_client_secret');
  writeFileSync(secret, 'a-secret-of-the-test', { mode: 0o600 });
  const file = join(folder.path, 'core.yaml');
  const openId = {
    baseUrl: 'http://127.0.0.1:9',
    clientId: 'web',
    clientSecretFile: secret,
  };
  const config = {
    publicUrl: 'http://localhost:8080',
    listen: { port: 0 },
    stateDirectory: folder.path,
    observe: { logLevel: 'error' },
    server: { workers },
    auth: {
      appAuth: { thirdPartyConfig: { flyteClient: { clientId: 'native' } } },
      userAuth: { openId },
    },
    session: { store: 'redis', redis },
  };
  // YAML includes JSON.
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function startServer(options: RedisOptions): Promise<readonly string[]> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return [`127.0.0.1:${server.port}`];
}

describe.skipIf(REDIS.isLeftOut)('redis-server: serve with sessions in Redis', () => {
  it.each([1, 2])(
    'says in one line (server.workers %d) that the server could lose sessions, and ends with 1',
    async (workers) => {
      const addresses = await startServer({ appendOnly: true, maxMemoryPolicy: 'allkeys-lru' });
      const { code, stdout, stderr } = await run([
        'serve',
        '--config',
        writeConfig({ addresses }, workers),
      ]);
      expect(code).toBe(1);
      expect(stdout).toBe('');
      const lines = stderr.trim().split('\n');
      const isOfStart = (line: string) => workers === 1 || line.includes('SP_STORE_UNSUITABLE');
      expect(lines.filter(isOfStart)).toEqual([
        'sallyport: SP_STORE_UNSUITABLE (store:redis): the server would drop sessions when it is full: set its maxmemory-policy to noeviction (it is allkeys-lru)',
      ]);
    },
  );

  it('starts while the server cannot be reached, and decides nothing about a session then', async () => {
    const addresses = [`127.0.0.1:${await freePort()}`];
    const serve = await start(['serve', '--config', writeConfig({ addresses })]);
    const cookie = `core_session=AAAAAAAA.${'A'.repeat(43)}`;
    const answer = await fetch(`${serve.url}/me`, { headers: { cookie } });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect((await fetch(`${serve.url}/me`)).status).toBe(401);
    expect(serve.stderr()).toContain('session_store_unusable');
    expect(await serve.stop()).toBe(0);
  });

  it('names a file it needs and cannot use, and ends with 1', async () => {
    const addresses = await startServer({ appendOnly: true });
    const passwordLocation = '/nowhere/redis-password';
    const config = writeConfig({ addresses, passwordLocation });
    const { code, stderr } = await run(['serve', '--config', config]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'SP_CONFIG_INVALID (store:redis): /nowhere/redis-password: session.redis.passwordLocation (password): found no such file',
    );
  });
});
