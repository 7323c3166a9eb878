/**
 * The key ring as a Secret, on a real API server, with the permissions that the chart gives.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { createRingSecret, rotateRingSecret } from '../../packages/cli/src/admin/ring-secret.ts';
import { openSecrets } from '../../packages/cli/src/cluster/open-secrets.ts';
import type { SecretStore } from '../../packages/cli/src/cluster/secret-store.ts';
import { parseRing } from '../../packages/server/src/session/key-ring-document.ts';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { render } from './helm.ts';
import { listPods } from './pod-mounts.ts';

const NOON = Date.parse('2026-01-01T12:00:00Z');
const WEEK_MS = 604_800_000;
const RING = 'sallyport-key-ring';
const RBAC = new Set(['ServiceAccount', 'Role', 'RoleBinding']);

describe.skipIf(API_SERVER.isLeftOut)('The key ring in a Secret', () => {
  const { path: folder, remove } = temporaryFolder();
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await openCluster();
    await programPath('helm');
  }, BUILD_TIMEOUT_MS);
  afterAll(remove);

  /** A namespace with the accounts and permissions that the chart renders, hooks included. */
  async function install(): Promise<string> {
    const namespace = await cluster.makeNamespace();
    const objects = await render({ chart: 'sallyport', namespace });
    const items = objects.filter(({ kind }) => RBAC.has(kind));
    expect(items).toHaveLength(6);
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const applied = await cluster.kubectl(['apply', '--validate=strict', '--filename=-'], list);
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    return namespace;
  }

  /** The Secrets of a namespace, as a pod of one of the chart's accounts reaches them. */
  async function open(
    namespace: string,
    account: 'creation' | 'rotation',
  ): Promise<SecretStore & { readonly token: string }> {
    const token = await cluster.issueToken(namespace, `sallyport-key-ring-${account}`);
    const mounted = join(folder, `${namespace}-${account}`);
    mkdirSync(mounted, { recursive: true });
    writeFileSync(join(mounted, 'token'), token);
    writeFileSync(join(mounted, 'ca.crt'), cluster.authority);
    writeFileSync(join(mounted, 'namespace'), namespace);
    const { hostname, port } = new URL(cluster.access.url);
    const variables = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const opened = openSecrets({}, variables, mounted);
    if (!opened.ok) throw new Error(opened.error);
    return { ...opened.value, token };
  }

  async function readRing(namespace: string): Promise<string> {
    const { body } = await cluster.call('GET', `/api/v1/namespaces/${namespace}/secrets/${RING}`);
    const data = body['data'] as Readonly<Record<string, string>>;
    return Buffer.from(data['key-ring.json'] ?? '', 'base64').toString();
  }

  it('is made with one key, and is the same byte for byte after the second installation', async () => {
    const namespace = await install();
    const store = await open(namespace, 'creation');
    expect(await createRingSecret(store, RING, NOON)).toBe(true);
    const first = await readRing(namespace);
    expect(parseRing(first)).toHaveLength(1);
    expect(await createRingSecret(store, RING, NOON + WEEK_MS)).toBe(false);
    expect(await readRing(namespace)).toBe(first);
  });

  it('is made once by six installations at once', async () => {
    const namespace = await install();
    const store = await open(namespace, 'creation');
    const made = await Promise.all(
      Array.from({ length: 6 }, () => createRingSecret(store, RING, NOON)),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(parseRing(await readRing(namespace))).toHaveLength(1);
  });

  it('a Secret of that name without a ring is refused by its key, and stays as it is', async () => {
    const namespace = await install();
    const store = await open(namespace, 'creation');
    await store.create(RING, new Map([['other', Buffer.from('kept')]]));
    await expect(createRingSecret(store, RING, NOON)).rejects.toThrow(
      `the Secret ${RING} cannot be used: it has no key key-ring.json`,
    );
    expect(await readRing(namespace)).toBe('');
  });

  it('keeps the keys of two rotations at once, and of five', async () => {
    const namespace = await install();
    await createRingSecret(await open(namespace, 'creation'), RING, NOON);
    const store = await open(namespace, 'rotation');
    for (const count of [2, 5]) {
      const before = parseRing(await readRing(namespace)).map(({ kid }) => kid);
      const added = await Promise.all(
        Array.from({ length: count }, () => rotateRingSecret(store, RING, NOON, WEEK_MS)),
      );
      const kids = parseRing(await readRing(namespace)).map(({ kid }) => kid);
      expect(kids.toSorted()).toEqual([...before, ...added].toSorted());
    }
  });

  it('a rotation keeps what else is in the Secret', async () => {
    const namespace = await install();
    const creator = await open(namespace, 'creation');
    await createRingSecret(creator, RING, NOON);
    const patch = { metadata: { labels: { team: 'ours' } }, stringData: { note: 'kept' } };
    await cluster.call('PATCH', `/api/v1/namespaces/${namespace}/secrets/${RING}`, {
      body: patch,
      contentType: 'application/merge-patch+json',
    });
    await rotateRingSecret(await open(namespace, 'rotation'), RING, NOON, WEEK_MS);
    const { body } = await cluster.call('GET', `/api/v1/namespaces/${namespace}/secrets/${RING}`);
    expect(body.metadata.labels).toMatchObject({ team: 'ours' });
    expect(body['data']).toMatchObject({ note: Buffer.from('kept').toString('base64') });
    expect(parseRing(await readRing(namespace))).toHaveLength(2);
  });

  it('without a Secret a rotation fails and makes none', async () => {
    const namespace = await install();
    const store = await open(namespace, 'rotation');
    await expect(rotateRingSecret(store, RING, NOON, WEEK_MS)).rejects.toThrow(/not found/);
    expect(await createRingSecret(await open(namespace, 'creation'), RING, NOON)).toBe(true);
  });

  describe('permissions', () => {
    let namespace: string;
    beforeAll(async () => {
      namespace = await install();
      await createRingSecret(await open(namespace, 'creation'), RING, NOON);
    });

    it.each([
      ['rotation', 'GET', 'secrets/core-admin-secrets'],
      ['rotation', 'GET', 'secrets'],
      ['rotation', 'GET', 'pods'],
      ['rotation', 'GET', 'configmaps/sallyport'],
      ['rotation', 'GET', `default/secrets/${RING}`],
      ['rotation', 'DELETE', `secrets/${RING}`],
      ['rotation', 'POST', 'secrets', { metadata: { name: 'another' } }],
      [
        'rotation',
        'PUT',
        'secrets/core-admin-secrets',
        { metadata: { name: 'core-admin-secrets' } },
      ],
      ['creation', 'GET', 'secrets/core-admin-secrets'],
      ['creation', 'GET', 'secrets'],
      ['creation', 'DELETE', `secrets/${RING}`],
      ['creation', 'PUT', `secrets/${RING}`, { metadata: { name: RING } }],
      ['creation', 'POST', 'pods', { metadata: { name: 'another' } }],
    ] as const)('%s may not %s %s', async (account, method, path, body?: object) => {
      const { token } = await open(namespace, account);
      const place = `/api/v1/namespaces/${path.startsWith('default/') ? '' : `${namespace}/`}`;
      const call = body === undefined ? { token } : { token, body };
      expect((await cluster.call(method, `${place}${path}`, call)).status).toBe(403);
    });
  });

  it('only the pods of the two jobs have an account: those of the service have none', async () => {
    const pods = listPods(await render({ chart: 'sallyport' }));
    const accounts = pods.map(({ workload, pod }) => [
      workload.kind,
      pod.serviceAccountName,
      pod.automountServiceAccountToken,
    ]);
    expect(accounts).toEqual([
      ['Deployment', undefined, false],
      ['CronJob', 'sallyport-key-ring-rotation', true],
      ['Job', 'sallyport-key-ring-creation', true],
    ]);
  });

  it('Helm never renders the Secret, with whatever values', async () => {
    for (const keyRing of [{}, { create: false }, { secretName: 'ours' }]) {
      const objects = await render({ chart: 'sallyport', values: { keyRing } });
      expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    }
  });
});
