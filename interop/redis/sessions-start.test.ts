import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../../conformance/wire/exchange.ts';
import { run, temporaryFolder } from '../../conformance/wire/process.ts';
import { type RotatingIdp, startRotatingIdp } from '../../conformance/wire/rotating-idp.ts';
import { expectFailurePage } from '../../conformance/wire/sign-in.ts';
import { logOf, PATIENCE } from '../../conformance/wire/workers.ts';
import { createCertificates, OPENSSL } from './certificates.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';
import { type SharedSessions, startSharedSessions, UNKNOWN_COOKIE } from './shared-sessions.ts';

const WRONG_PASSWORD = 'wrong-canary-93b7-of-a-file';
const RIGHT_PASSWORD = 'right-canary-5e1f-of-a-server';

type RedisBlock = Readonly<Record<string, unknown>>;

const start = async (options: RedisOptions): Promise<RedisServer> => {
  const redis = await startRedis(options);
  onTestFinished(() => redis.stop());
  return redis;
};
const addressesOf = ({ port }: RedisServer) => [`127.0.0.1:${port}`];
const serveOn = async (redis: RedisBlock): Promise<SharedSessions> => {
  const shared = await startSharedSessions({ processes: 1, file: redisFile(redis) });
  onTestFinished(() => shared.stop());
  return shared;
};
const folder = (): string => {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  return path;
};
const readiness = async ({ publicUrl }: SharedSessions) =>
  (await exchange(`${publicUrl}/readyz`)).status;

/** It starts, says that it cannot work, and begins to once that is mended; nothing is restarted. */
async function expectWaits(shared: SharedSessions, mend: () => Promise<void> | void) {
  const answer = await shared.me(0, UNKNOWN_COOKIE);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  const { received, hasBegun } = await shared.trySignIn();
  expectFailurePage(received, 'store_unavailable', 503);
  expect(hasBegun).toBe(false);
  // The IdP is known by now.
  expect(await readiness(shared)).toBe(503);
  const said = [answer.body, JSON.stringify(answer.headers), received.body].join('\n');
  await mend();
  await expect.poll(() => readiness(shared), PATIENCE).toBe(200);
  const cookie = await shared.signIn();
  expect((await shared.me(0, cookie)).status).toBe(200);
  return said + shared.running(0).stdout() + shared.running(0).stderr();
}

describe.skipIf(REDIS.isLeftOut)('redis-server: serve, started on a Redis', () => {
  let idp: RotatingIdp;
  beforeAll(async () => {
    idp = await startRotatingIdp();
  });
  afterAll(() => idp.close());

  /** Runs it to its end. */
  const serve = (redis: RedisBlock) => {
    const path = folder();
    const file = join(path, 'sallyport.yaml');
    writeFileSync(file, redisFile(redis).join('\n'));
    const environment = { ...idp.environment, SALLYPORT_STATE_DIRECTORY: path };
    return run(['serve', '--port', '0', '--config', file], environment);
  };

  it('without an append-only file: one line that says what to set, and exit code 1', async () => {
    const redis = await start({ appendOnly: false });
    const { code, stdout, stderr } = await serve({ addresses: addressesOf(redis) });
    expect([code, stdout]).toEqual([1, '']);
    const lines = stderr.trim().split('\n');
    expect(lines.filter((line) => !line.includes('"event":"addresses_to_register"'))).toEqual([
      expect.stringMatching(
        /^sallyport: SP_STORE_UNSUITABLE \(store:redis\): .*appendonly to yes.*session\.redis\.allowWithoutAppendOnlyFile$/,
      ),
    ]);
  });

  it('without an append-only file where that is accepted: it works, and warns once', async () => {
    const redis = await start({ appendOnly: false });
    const allowed = { addresses: addressesOf(redis), allowWithoutAppendOnlyFile: true };
    const shared = await serveOn(allowed);
    expect((await shared.me(0, await shared.signIn())).status).toBe(200);
    const warnings = logOf(shared.running(0)).filter(({ level }) => level === 'warn');
    expect(warnings.map(({ event }) => event)).toEqual(['session_store_without_append_only_file']);
  });

  it('that keeps everything: it works, and warns of nothing', async () => {
    const redis = await start({ appendOnly: true });
    const shared = await serveOn({ addresses: addressesOf(redis) });
    await expect.poll(() => readiness(shared), PATIENCE).toBe(200);
    expect((await shared.me(0, await shared.signIn())).status).toBe(200);
    expect((await shared.me(0, '')).status).toBe(401);
    expect(
      logOf(shared.running(0)).filter(({ level }) => level === 'warn' || level === 'error'),
    ).toEqual([]);
    expect(await shared.running(0).stop()).toBe(0);
  });

  it('that is not there yet: it starts, readiness and sign-in say so, and it works once it is there', async () => {
    const redis = await start({ appendOnly: true });
    await redis.shutDown();
    const shared = await serveOn({ addresses: addressesOf(redis) });
    const said = await expectWaits(shared, () => redis.restart());
    expect(said).toContain('session_store_unusable');
    // Away later, it is a matter of sessions alone.
    await redis.shutDown();
    await expect.poll(async () => (await shared.me(0, UNKNOWN_COOKIE)).status).toBe(503);
    expect(await readiness(shared)).toBe(200);
  });

  it('with a wrong password: neither that nor the right one is printed, and a changed file is read', async () => {
    const redis = await start({ appendOnly: true, password: RIGHT_PASSWORD });
    const passwordLocation = join(folder(), 'password');
    writeFileSync(passwordLocation, WRONG_PASSWORD, { mode: 0o600 });
    const shared = await serveOn({ addresses: addressesOf(redis), passwordLocation });
    const said = await expectWaits(shared, () => writeFileSync(passwordLocation, RIGHT_PASSWORD));
    expect(said).toContain('the server refuses the user name or password');
    for (const secret of [WRONG_PASSWORD, RIGHT_PASSWORD]) expect(said).not.toContain(secret);
    expect(said).not.toContain('canary');
  });

  it.skipIf(OPENSSL.isLeftOut)(
    'with a wrong CA: nothing of key or certificate is printed, and a changed file is read',
    async () => {
      const redis = await start({ appendOnly: true, tls: 'mutual', password: RIGHT_PASSWORD });
      const path = folder();
      const { caFile: wrongCa } = createCertificates(path);
      const caFile = join(path, 'believed.crt');
      writeFileSync(caFile, readFileSync(wrongCa));
      const passwordLocation = join(path, 'password');
      writeFileSync(passwordLocation, RIGHT_PASSWORD, { mode: 0o600 });
      const { certFile = '', keyFile = '' } = redis.access.client ?? {};
      const shared = await serveOn({
        addresses: addressesOf(redis),
        passwordLocation,
        tls: { enabled: true, caFile, certFile, keyFile },
      });
      const said = await expectWaits(shared, () =>
        writeFileSync(caFile, readFileSync(redis.access.caFile ?? '')),
      );
      expect(said).toContain('session_store_unusable');
      const lines = [keyFile, certFile, wrongCa].flatMap((file) =>
        readFileSync(file, 'utf8').split('\n'),
      );
      const contents = lines.filter((line) => line !== '' && !line.startsWith('-----'));
      expect(contents.length).toBeGreaterThan(10);
      for (const content of contents) expect(said).not.toContain(content);
      expect(said).not.toContain('canary');
    },
  );
});
