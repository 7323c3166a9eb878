/**
 * Reading and writing Secrets on a real API server: from a pod, and by kubectl.
 *
 * @module
 */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { openSecrets, type SecretAccess } from '../../packages/cli/src/cluster/open-secrets.ts';
import type { SecretStore } from '../../packages/cli/src/cluster/secret-store.ts';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { createWebhookCertificates } from './webhook-certificates.ts';

const text = (value: string) => new Map([['client_secret', Buffer.from(value)]]);

describe.skipIf(API_SERVER.isLeftOut)('Secrets of a namespace', () => {
  const { path: folder, remove } = temporaryFolder();
  let cluster: Cluster;
  let namespace: string;
  beforeAll(async () => {
    cluster = await openCluster();
    namespace = await cluster.makeNamespace();
    await allow(namespace, 'reader-and-writer', ['get', 'create', 'update']);
  }, BUILD_TIMEOUT_MS);
  afterAll(remove);

  /** A service account that may do this with Secrets. */
  async function allow(within: string, name: string, verbs: readonly string[]): Promise<void> {
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${within}`;
    const metadata = { name };
    const role = { metadata, rules: [{ apiGroups: [''], resources: ['secrets'], verbs }] };
    const binding = {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: within }],
    };
    for (const [path, body] of [
      [`/api/v1/namespaces/${within}/serviceaccounts`, { metadata }],
      [`${roles}/roles`, role],
      [`${roles}/rolebindings`, binding],
    ] as const)
      expect((await cluster.call('POST', path, { body })).status).toBe(201);
  }

  /** What Kubernetes mounts into a pod of the account, and the variables it sets. */
  async function mount(account: string, token?: string) {
    const path = join(folder, account);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'token'), token ?? (await cluster.issueToken(namespace, account)));
    writeFileSync(join(path, 'ca.crt'), cluster.authority);
    writeFileSync(join(path, 'namespace'), namespace);
    return path;
  }
  function variables() {
    const { hostname, port } = new URL(cluster.access.url);
    return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  }
  function open(access: SecretAccess, environment = variables(), account?: string): SecretStore {
    const opened = openSecrets(access, environment, account);
    if (!opened.ok) throw new Error(opened.error);
    return opened.value;
  }

  /** kubectl as the administrator, for this process. */
  async function useKubectl(): Promise<void> {
    const { PATH = '', KUBECONFIG } = process.env;
    process.env['PATH'] = `${dirname(await programPath('kubectl'))}:${PATH}`;
    process.env['KUBECONFIG'] = cluster.access.kubeconfig;
    onTestFinished(() => {
      process.env['PATH'] = PATH;
      if (KUBECONFIG === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = KUBECONFIG;
    });
  }

  describe.each([
    ['from a pod', async () => open({}, variables(), await mount('reader-and-writer'))],
    [
      'by kubectl',
      async () => {
        await useKubectl();
        return open({ namespace, by: 'kubectl' });
      },
    ],
  ])('%s', (way, openStore) => {
    const name = `secret-${way.replaceAll(' ', '-')}`;

    it('are created, read, and replaced by what was read', async () => {
      const store = await openStore();
      expect(await store.read(name)).toMatchObject({ ok: false, error: { reason: 'not_found' } });
      const created = await store.create(name, text('first'), { app: 'test' });
      expect(created).toMatchObject({ ok: true, value: { name, namespace } });
      const read = await store.read(name);
      if (!read.ok) throw new Error(read.error.description);
      expect(read.value.data).toEqual(text('first'));
      const updated = await store.update(read.value, text('second'));
      expect(updated).toMatchObject({ ok: true, value: { data: text('second') } });
      const { body } = await cluster.call('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`);
      expect([body.metadata.labels, body['data'], body['type']]).toEqual([
        { app: 'test' },
        { client_secret: Buffer.from('second').toString('base64') },
        'Opaque',
      ]);
    });

    it('are not created twice', async () => {
      const store = await openStore();
      const twice = `${name}-twice`;
      expect((await store.create(twice, text('first'))).ok).toBe(true);
      const second = await store.create(twice, text('second'));
      expect(second).toMatchObject({ ok: false, error: { reason: 'already_exists' } });
      const read = await store.read(twice);
      expect(read.ok && read.value.data).toEqual(text('first'));
    });

    it('are replaced by one of two that read the same, and the other learns of it', async () => {
      const store = await openStore();
      const raced = `${name}-raced`;
      await store.create(raced, text('first'));
      const read = await store.read(raced);
      if (!read.ok) throw new Error(read.error.description);
      const results = await Promise.all([
        store.update(read.value, text('one')),
        store.update(read.value, text('other')),
      ]);
      expect(
        results.map((result) => (result.ok ? 'done' : result.error.reason)).toSorted(),
      ).toEqual(['conflict', 'done']);
    });

    it('are asked for by no name that means something else', async () => {
      const store = await openStore();
      for (const other of ['..', '../configmaps/x', '--all-namespaces', ''])
        expect(await store.read(other)).toMatchObject({ ok: false, error: { reason: 'failed' } });
    });
  });

  it('are kept from an account that has no permission, and the API server says which', async () => {
    await allow(namespace, 'reader', ['get']);
    const store = open({}, variables(), await mount('reader'));
    expect(await store.create('kept-from', text('x'))).toMatchObject({
      ok: false,
      error: { reason: 'forbidden', description: expect.stringContaining('cannot create') },
    });
    expect(await store.read('kept-from')).toMatchObject({
      ok: false,
      error: { reason: 'not_found' },
    });
  });

  it('are asked for with the token that is mounted at the time', async () => {
    const account = await mount('reader-and-writer', 'made-up-token');
    const store = open({}, variables(), account);
    const refused = await store.read('any');
    expect(refused).toMatchObject({ ok: false, error: { reason: 'unauthorized' } });
    expect(JSON.stringify(refused)).not.toContain('made-up-token');
    // As the kubelet exchanges it.
    const token = await cluster.issueToken(namespace, 'reader-and-writer');
    await mount('reader-and-writer', token);
    expect(await store.read('any')).toMatchObject({ ok: false, error: { reason: 'not_found' } });
  });

  it('are not asked for where another authority speaks for the API server', async () => {
    const account = await mount('reader-and-writer');
    const other = createWebhookCertificates(join(folder, 'other'));
    writeFileSync(join(account, 'ca.crt'), other.authority);
    onTestFinished(() => writeFileSync(join(account, 'ca.crt'), cluster.authority));
    expect(await open({}, variables(), account).read('any')).toMatchObject({
      ok: false,
      error: { reason: 'unreachable', description: expect.stringContaining('not trusted') },
    });
  });

  it('say in words that nothing answers, and that kubectl is not there', async () => {
    const nowhere = { ...variables(), KUBERNETES_SERVICE_PORT: String(await freePort()) };
    expect(await open({}, nowhere, await mount('reader-and-writer')).read('any')).toMatchObject({
      ok: false,
      error: { reason: 'unreachable', description: expect.stringContaining('nothing listens') },
    });
    const { PATH = '' } = process.env;
    onTestFinished(() => {
      process.env['PATH'] = PATH;
    });
    process.env['PATH'] = join(folder, 'empty');
    expect(await open({ by: 'kubectl' }).read('any')).toMatchObject({
      ok: false,
      error: { reason: 'failed', description: expect.stringContaining('not on the PATH') },
    });
  });

  it('do not flow without end: a server that answers more than 4 MiB is not listened to', async () => {
    await useKubectl();
    const endless = createServer((_, res) => {
      res.setHeader('content-type', 'application/json');
      for (let piece = 0; piece < 80; piece += 1) res.write('x'.repeat(65_536));
      res.end();
    });
    onTestFinished(() => void endless.close());
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const program = join(folder, 'bin/kubectl');
    mkdirSync(dirname(program), { recursive: true });
    const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
    writeFileSync(program, `#!/bin/sh\nexec curl -s ${url}\n`);
    chmodSync(program, 0o755);
    process.env['PATH'] = `${dirname(program)}:${process.env['PATH'] ?? ''}`;
    const read = await open({ by: 'kubectl' }).read('any');
    expect(read).toMatchObject({ ok: false, error: { reason: 'failed' } });
    expect(JSON.stringify(read).length).toBeLessThan(1_000);
  });
});
