/**
 * The key ring as a Secret, on a real API server, with the permissions that the chart gives.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../conformance/wire/command-file.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { createRingSecret, rotateRingSecret } from '../../packages/cli/src/admin/ring-secret.ts';
import { openSecrets } from '../../packages/cli/src/cluster/open-secrets.ts';
import type { SecretStore } from '../../packages/cli/src/cluster/secret-store.ts';
import { parseRing } from '../../packages/server/src/session/key-ring-document.ts';
import { API_SERVER, type Cluster, openCluster, runProgram } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { findObject, render } from './helm.ts';
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

  describe('by the commands, through kubectl', () => {
    /** Runs the command as an operator would, outside the cluster. */
    async function sallyport(...args: readonly string[]) {
      const place = dirname(await programPath('kubectl'));
      return runProgram(process.execPath, [COMMAND, ...args], '', {
        PATH: `${place}:${process.env['PATH'] ?? ''}`,
        KUBECONFIG: cluster.access.kubeconfig,
      });
    }

    it('create-keys makes it once, and rotate-keys adds a key, with the settings of the ConfigMap and no secret', async () => {
      const namespace = await cluster.makeNamespace();
      const secret = `${namespace}/${RING}`;
      const created = await sallyport('create-keys', '--secret', secret, '--json');
      expect(JSON.parse(created.stdout)).toEqual({ created: true, secret });
      const first = await readRing(namespace);
      const again = await sallyport('create-keys', '--secret', secret);
      expect([again.code, again.stdout]).toEqual([0, `${secret} has a key ring; it stays\n`]);
      expect(await readRing(namespace)).toBe(first);

      const { data } = findObject(await render({ chart: 'sallyport' }), 'ConfigMap', 'sallyport');
      const config = join(folder, 'sallyport.yaml');
      writeFileSync(config, (data as Record<string, string>)['sallyport.yaml'] ?? '');
      const rotate = ['rotate-keys', '--config', config, '--secret', secret, '--json'];
      const rotated = await Promise.all([sallyport(...rotate), sallyport(...rotate)]);
      const kids = rotated.map(({ stdout }) => (JSON.parse(stdout) as { kid: string }).kid);
      const ring = await readRing(namespace);
      expect(parseRing(ring).map(({ kid }) => kid)).toEqual(expect.arrayContaining(kids));
      expect(parseRing(ring)).toHaveLength(3);
      const shown = rotated.map(({ stdout, stderr }) => stdout + stderr).join('');
      for (const { key } of parseRing(ring)) expect(shown + again.stdout).not.toContain(key);
    });

    it('says in one sentence that there is none, or that the option is no Secret', async () => {
      const namespace = await cluster.makeNamespace();
      const config = join(folder, 'minimal.yaml');
      writeFileSync(
        config,
        'publicUrl: https://platform.example.com\nserver: {security: {useAuth: false}}\n',
      );
      const rotate = ['rotate-keys', '--config', config, '--secret'];
      const missing = await sallyport(...rotate, `${namespace}/${RING}`);
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('not found')]);
      for (const place of ['a/b/c', 'Not_A/name', '']) {
        const refused = await sallyport(...rotate, place);
        expect([refused.code, refused.stderr]).toEqual([
          2,
          expect.stringContaining('a Secret is NAMESPACE/NAME or NAME'),
        ]);
      }
    });
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
