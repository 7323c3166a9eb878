/**
 * The chart's Ingress objects on a real API server.
 *
 * @module
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { HELM, type KubernetesObject, render } from './helm.ts';
import { ALL_BACKENDS } from './ingress-site.ts';

describe.skipIf(API_SERVER.isLeftOut || HELM.isLeftOut)('The API server of Kubernetes', () => {
  let cluster: Cluster;
  let namespace: string;
  beforeAll(async () => {
    await programPath('helm');
    cluster = await openCluster();
    namespace = await cluster.makeNamespace();
  }, BUILD_TIMEOUT_MS);

  async function renderIngresses(ingress: object): Promise<readonly KubernetesObject[]> {
    const values = { ingress: { enabled: true, backends: ALL_BACKENDS, ...ingress } };
    const objects = await render({ chart: 'sallyport', namespace, values });
    return objects.filter(({ kind }) => kind === 'Ingress');
  }

  const create = (body: object) =>
    cluster.call(
      'POST',
      `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses?dryRun=All&fieldValidation=Strict`,
      { body },
    );

  it.each([
    ['requirement', { profile: 'requirement' }],
    ['safe', { tlsSecret: 'platform-tls' }],
    ['safe with snippets', { snippets: true }],
  ])('takes every object strictly and without a warning: profile %s', async (_, ingress) => {
    const objects = await renderIngresses(ingress);
    expect(objects).toHaveLength(7);
    for (const object of objects) {
      const { status, warnings, body } = await create(object);
      expect([object.metadata.name, status, warnings, body.message]).toEqual([
        object.metadata.name,
        201,
        [],
        undefined,
      ]);
    }
  });

  it('would refuse a field that an Ingress does not have', async () => {
    const [object] = await renderIngresses({});
    const { spec } = object as unknown as { readonly spec: object };
    const { status, body } = await create({ ...object, spec: { ...spec, className: 'nginx' } });
    expect(status).toBe(400);
    expect(body.message).toContain('unknown field "spec.className"');
  });
});
