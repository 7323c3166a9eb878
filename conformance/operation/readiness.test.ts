/**
 * What orchestrators and load balancers are answered.
 *
 * @module
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { scrape } from '../observe/scrape.ts';
import { exchange } from '../wire/exchange.ts';
import { callGrpc } from '../wire/grpc.ts';
import { showMetadata } from '../wire/metadata-asked.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { createServiceHost, type ServiceHost } from '../wire/service-host.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';

const HEALTH_CHECK = '/grpc.health.v1.Health/Check';
/** Longer than between two looks at the key ring's file. */
const LOOK_MS = 2_000;
/** Of `grpc.health.v1.HealthCheckResponse`. */
const [SERVING, NOT_SERVING] = ['0801', '0802'];

let service: Service;
let clock: MovedClock;
/** Follows the clock. */
let host: ServiceHost;
beforeAll(async () => {
  clock = await startMovedClock({ movesTimers: true });
  host = createServiceHost(clock);
});
afterAll(async () => {
  host.close();
  await clock.close();
});

async function readyz(headers: Readonly<Record<string, string>> = {}) {
  const { status, body } = await exchange(`${service.url}/readyz`, { headers });
  return { status, body: JSON.parse(body) as unknown };
}
async function health(): Promise<string | undefined> {
  return (await callGrpc(service.url + HEALTH_CHECK)).messages[0]?.toString('hex');
}

describe('Readiness', () => {
  afterEach(() => service.stop());

  it('names the identity provider while that is unknown, over HTTP and gRPC, and says ready once it is known', async () => {
    service = await startHostedService({ OIDC_BASE_URL: 'http://127.0.0.1:9' });
    expect(await readyz()).toEqual({
      status: 503,
      body: { status: 'not_ready', waiting_for: ['identity_provider', 'issuer_keys'] },
    });
    expect(await health()).toBe(NOT_SERVING);
    await service.stop();
    service = await startHostedService();
    await expect.poll(() => readyz(), PATIENCE).toEqual({ status: 200, body: { status: 'ready' } });
    expect(await health()).toBe(SERVING);
  });

  it('names the session store while that has never answered, over HTTP and gRPC', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'no-folder');
    writeFileSync(file, '');
    const port = await freePort();
    service = await startHostedService({
      SALLYPORT_STATE_DIRECTORY: file,
      SALLYPORT_METRICS_PORT: String(port),
    });
    await expect
      .poll(() => readyz(), PATIENCE)
      .toEqual({
        status: 503,
        body: { status: 'not_ready', waiting_for: ['session_store', 'key_ring'] },
      });
    expect(await health()).toBe(NOT_SERVING);
    const gauge = async () => (await scrape(port)).sum('sallyport_ready');
    expect(await gauge()).toBe(0);
    const unusable = () =>
      logOf(service.running).filter(({ event }) => event === 'session_store_unusable');
    expect(unusable()).toMatchObject([{ level: 'error', key: 'stateDirectory', folder: file }]);
    // The store is there again: the gauge says so without a request to /readyz.
    rmSync(file);
    await expect.poll(gauge, PATIENCE).toBe(1);
    expect((await readyz()).status).toBe(200);
    expect(unusable()).toHaveLength(1);
    folder.remove();
  });

  it('has nothing to do with /healthz: that says whether the process answers', async () => {
    service = await startHostedService({ OIDC_BASE_URL: 'http://127.0.0.1:9' });
    const { status, body } = await exchange(`${service.url}/healthz`);
    expect([status, JSON.parse(body)]).toEqual([200, { status: 'ok' }]);
  });
});

describe('Readiness without metadata with which a sign-in could succeed', () => {
  beforeAll(async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    idp.metadata = { issuer: undefined };
    service = await startHostedService({}, [], idp, [], host);
  });
  afterAll(async () => {
    await service.stop();
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri'])(
    'names the identity provider while its metadata has no %s: every sign-in would fail',
    async (name) => {
      await showMetadata(clock, service.idp, { [name]: undefined });
      const said = () => logOf(service.running).map(({ failure }) => String(failure));
      await expect.poll(said, PATIENCE).toContainEqual(expect.stringContaining(`names no ${name}`));
      expect(await readyz()).toMatchObject({
        status: 503,
        body: { waiting_for: ['identity_provider'] },
      });
      expect((await exchange(`${service.url}/login`)).status).toBe(503);
    },
  );
});

describe('Readiness without a key ring', () => {
  const folder = temporaryFolder();
  const ring = join(folder.path, 'key-ring.json');
  beforeAll(async () => {
    writeFileSync(ring, 'never read', { mode: 0o600 });
    service = await startHostedService(
      { SALLYPORT_STATE_DIRECTORY: folder.path },
      [],
      undefined,
      [],
      host,
    );
  });
  afterAll(async () => {
    await service.stop();
    folder.remove();
  });
  /** After the file was looked at again. */
  const later = async () => {
    await clock.advance(LOOK_MS);
    return readyz();
  };

  it.each(['', '{', '{"keys": []}', 'null'])(
    'names a key ring that was never read, of which the file holds %j',
    async (text) => {
      writeFileSync(ring, text);
      const waiting = { status: 503, body: { status: 'not_ready', waiting_for: ['key_ring'] } };
      await expect.poll(later, PATIENCE).toEqual(waiting);
      for (let looks = 0; looks < 3; looks += 1) expect(await later()).toEqual(waiting);
      expect(await health()).toBe(NOT_SERVING);
    },
  );

  it('is given once the ring can be read', async () => {
    rmSync(ring);
    await expect.poll(later, PATIENCE).toEqual({ status: 200, body: { status: 'ready' } });
  });
});

describe('Readiness of a service that is ready', () => {
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  it.each([
    {},
    { 'user-agent': 'kube-probe/1.34' },
    { 'user-agent': 'GoogleHC/1.0' },
    { 'user-agent': 'ELB-HealthChecker/2.0' },
    { 'user-agent': 'Mozilla/5.0', accept: 'text/html', 'sec-fetch-mode': 'navigate' },
  ])('is answered alike for every client, and so is every other path: %j', async (headers) => {
    await expect
      .poll(() => readyz(headers), PATIENCE)
      .toEqual({
        status: 200,
        body: { status: 'ready' },
      });
    const statuses = [];
    for (const path of ['/healthz', '/me'])
      statuses.push((await exchange(service.url + path, { headers })).status);
    // The name of a health checker gives no access to other paths.
    expect(statuses).toEqual([200, 401]);
  });
});
