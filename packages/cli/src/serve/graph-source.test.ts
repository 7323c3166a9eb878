import { mkdirSync, rmdirSync } from 'node:fs';
import { loadConfig } from '@sallyport/config';
import { Readiness, type SessionStore } from '@sallyport/server';
import { createMetrics } from '@sallyport/server/observe';
import { NOON } from '@sallyport/testing/cli/sessions';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGraphSource } from './graph-source.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};

/** A source of graphs whose IdP never answers, in a folder of its own. */
async function begin(useAuth = true) {
  const folder = createTemporaryFolder();
  const loaded = loadConfig({ env: ENV, flags: { stateDirectory: folder } }, 'serve');
  if (!loaded.ok) throw new TypeError('the configuration is good');
  const { config: given } = loaded.value;
  const security = { ...given.server.security, useAuth };
  const config = { ...given, server: { ...given.server, security } };
  const state = { now: NOON, secretsClosed: 0, failure: undefined as Error | undefined };
  const stores: SessionStore[] = [];
  const readiness = new Readiness();
  const now = () => state.now;
  const metrics = createMetrics({ version: '0', nodeVersion: '0', now, monotonicMs: now });
  const source = await openGraphSource(config, readiness, {
    now,
    schedule: () => () => {},
    fetch: () => Promise.reject(new Error('away')),
    patientFetch: () => Promise.reject(new Error('away')),
    log: () => {},
    metrics: {
      ...metrics,
      timeStore(store) {
        stores.push(store);
        if (state.failure !== undefined) throw state.failure;
        return store;
      },
    },
  });
  onTestFinished(() => source.close());
  const create = () =>
    source.create(config, {
      webClient: { method: 'client_secret', secret: () => 'secret' },
      introspection: undefined,
      close: () => {
        state.secretsClosed += 1;
      },
    });
  const verdictSeries = () =>
    metrics
      .read()
      .filter(({ name }) => name === 'sallyport_verdicts_total')
      .flatMap(({ values }) => values);
  return { state, stores, source, create, verdictSeries, ringFile: config.session.keyRingFile };
}

const CLOSED: unknown = expect.objectContaining({ code: 'SP_STORE_UNAVAILABLE' });

describe('A graph', () => {
  it('knows the keys of the cookies once it has read them, without any request', async () => {
    const { state, create, ringFile } = await begin();
    mkdirSync(ringFile);
    const graph = create();
    expect(graph.knowledge().get('key_ring')).toBe(false);
    rmdirSync(ringFile);
    state.now += 1_000;
    expect(graph.knowledge().get('key_ring')).toBe(true);
    await graph.close();
  });

  it('made later does not wait for a store that has answered one before, and is away now', async () => {
    const { source, create } = await begin();
    const [before, after] = [create(), create()];
    expect(await before.waitingFor()).toEqual(['identity_provider', 'issuer_keys']);
    source.close();
    expect(await after.waitingFor()).toEqual(['identity_provider', 'issuer_keys']);
    await Promise.all([before.close(), after.close()]);
  });

  it('waits for a store that has never answered', async () => {
    const { source, create } = await begin();
    source.close();
    const graph = create();
    expect(await graph.waitingFor()).toEqual(['identity_provider', 'issuer_keys', 'session_store']);
    await graph.close();
  });
});

describe('What a graph is made from', () => {
  it('is closed with it, and not before', async () => {
    const { state, stores, create } = await begin();
    const graph = create();
    expect(state.secretsClosed).toBe(0);
    expect(stores[0]?.revocations()).toBeDefined();
    await graph.close();
    expect(state.secretsClosed).toBe(1);
    expect(() => stores[0]?.revocations()).toThrow(CLOSED);
  });

  it('is closed when it cannot be made; other graphs keep theirs', async () => {
    const { state, stores, create } = await begin();
    const graph = create();
    state.failure = new Error('no graph');
    expect(create).toThrow(state.failure);
    expect(state.secretsClosed).toBe(1);
    expect(() => stores[1]?.revocations()).toThrow(CLOSED);
    expect(stores[0]?.revocations()).toBeDefined();
    await graph.close();
  });
});

describe('The counts of verdicts', () => {
  it('have the same series without authentication as with it, all 0', async () => {
    const [enabled, disabled] = [await begin(), await begin(false)];
    for (const { create } of [enabled, disabled]) create();
    const series = enabled.verdictSeries();
    expect(series.length).toBeGreaterThan(0);
    const sorted = (values: typeof series) =>
      values.map((value) => JSON.stringify(value)).toSorted();
    expect(sorted(disabled.verdictSeries())).toEqual(sorted(series));
  });
});
