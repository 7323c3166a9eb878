/**
 * Pods made through a real API server come out with their API key, by webhook and by policy: one suite for both.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  environmentsOf,
  type Injection,
  installPolicy,
  installWebhook,
  podOf,
} from './injection.ts';
import { ENTRY, POD_CASES } from './pod-cases.ts';

const WAYS = [
  ['a webhook', installWebhook],
  ['a policy', installPolicy],
] as const;

describe.skipIf(API_SERVER.isLeftOut).each(WAYS)('With %s', (_, install) => {
  let cluster: Cluster;
  let injection: Injection;
  let namespace: string;
  beforeAll(async () => {
    for (const name of ['helm', 'kubectl'] as const) await programPath(name);
    cluster = await openCluster();
    injection = await install();
    namespace = await cluster.makeNamespace({ [injection.namespaceLabel]: 'true' });
  }, BUILD_TIMEOUT_MS);
  afterAll(() => injection?.remove());

  const podsOf = (within: string) => `/api/v1/namespaces/${within}/pods`;
  const create = (body: object, within = namespace, query = '') =>
    cluster.call('POST', `${podsOf(within)}${query}`, { body });

  it.each(POD_CASES)(
    'a selected pod $title',
    async ({ initContainers = [], containers, expected, warnings = [] }) => {
      const answer = await create(podOf({ initContainers, containers }));
      expect([answer.status, environmentsOf(answer.body)]).toEqual([201, expected]);
      expect(answer.warnings).toEqual(warnings.map((text) => expect.stringMatching(text)));
      const { name } = answer.body.metadata;
      const kept = await cluster.call('GET', `${podsOf(namespace)}/${name}`);
      expect(environmentsOf(kept.body)).toEqual(expected);
    },
  );

  const spec = { containers: [{ name: 'main' }] };
  const untouched = { main: [] };

  it('a pod without the label stays as it is', async () => {
    for (const labels of [{}, { 'sallyport/inject-api-key': 'false' }]) {
      const { status, body } = await create(podOf(spec, { labels }));
      expect([status, environmentsOf(body)]).toEqual([201, untouched]);
    }
  });

  it('a pod in a namespace without the label stays as it is', async () => {
    for (const labels of [{}, { [injection.namespaceLabel]: 'false' }]) {
      const other = await cluster.makeNamespace(labels);
      const { status, body } = await create(podOf(spec), other);
      expect([status, environmentsOf(body)]).toEqual([201, untouched]);
    }
  });

  it('a dry run shows what would come of a pod, and leaves none', async () => {
    const body = podOf(spec, { name: 'dry', generateName: undefined });
    const answer = await create(body, namespace, '?dryRun=All');
    expect([answer.status, environmentsOf(answer.body)]).toEqual([201, { main: [ENTRY] }]);
    expect((await cluster.call('GET', `${podsOf(namespace)}/dry`)).status).toBe(404);
  });

  it('a container that is added to a running pod to look into it gets no key', async () => {
    const { body } = await create(podOf(spec));
    const path = `${podsOf(namespace)}/${body.metadata.name}/ephemeralcontainers`;
    const added = {
      spec: { ephemeralContainers: [{ name: 'debugger', image: 'tools' }] },
    };
    const contentType = 'application/strategic-merge-patch+json';
    const answer = await cluster.call('PATCH', path, { body: added, contentType });
    expect(answer.status).toBe(200);
    const { ephemeralContainers } = answer.body['spec'] as { ephemeralContainers: object[] };
    expect(ephemeralContainers).toEqual([expect.not.objectContaining({ env: expect.anything() })]);
    expect(environmentsOf(answer.body)).toEqual({ main: [ENTRY] });
  });

  it('a pod under the strictest Pod Security comes out allowed, and another is refused by its own message', async () => {
    const strict = await cluster.makeNamespace({
      [injection.namespaceLabel]: 'true',
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    const securityContext = {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    };
    const allowed = await create(
      podOf({ containers: [{ name: 'main', securityContext }] }),
      strict,
    );
    expect([allowed.status, environmentsOf(allowed.body)]).toEqual([201, { main: [ENTRY] }]);
    const refused = await create(podOf(spec), strict);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('violates PodSecurity'),
    ]);
  });

  it('a pod that kubectl applies twice has the key once', async () => {
    const manifest = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      ...podOf(spec, { name: 'applied', generateName: undefined, namespace }),
    });
    for (const said of ['created', 'unchanged']) {
      const { code, stdout, stderr } = await cluster.kubectl(
        ['apply', '--validate=strict', '--filename=-'],
        manifest,
      );
      expect([code, stdout, stderr]).toEqual([0, `pod/applied ${said}\n`, '']);
    }
    const { body } = await cluster.call('GET', `${podsOf(namespace)}/applied`);
    expect(environmentsOf(body)).toEqual({ main: [ENTRY] });
  });

  it('a pod that two injections select has the key once', async () => {
    const second = await install();
    onTestFinished(() => second.remove());
    const both = await cluster.makeNamespace({
      [injection.namespaceLabel]: 'true',
      [second.namespaceLabel]: 'true',
    });
    const { status, body } = await create(podOf(spec), both);
    expect([status, environmentsOf(body)]).toEqual([201, { main: [ENTRY] }]);
  });
});
