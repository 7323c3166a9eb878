/**
 * The webhook while it is away, while it stands still, and while its certificate changes.
 *
 * @module
 */

import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { API_SERVER, type ApiAnswer, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  environmentsOf,
  type Injection,
  type InjectionOptions,
  installWebhook,
  podOf,
  withAddress,
} from './injection.ts';
import { ENTRY } from './pod-cases.ts';
import { startReadyBalancer } from './ready-balancer.ts';
import { startWebhook, type Webhook } from './webhook.ts';

const SPEC = { containers: [{ name: 'main' }] };
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const PATIENCE = { timeout: 20_000, interval: 50 };
/** Pods under way at once, as of several executors. */
const STREAMS = 3;

describe.skipIf(API_SERVER.isLeftOut)('The webhook', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    await programPath('helm');
    cluster = await openCluster();
  }, BUILD_TIMEOUT_MS);

  /** Installed, with a namespace whose pods it is asked about. */
  async function install(options: InjectionOptions) {
    const injection = await installWebhook(options);
    onTestFinished(() => injection.remove());
    const namespace = await cluster.makeNamespace({ [injection.namespaceLabel]: 'true' });
    const create = (metadata: object = {}): Promise<ApiAnswer> =>
      cluster.call('POST', `/api/v1/namespaces/${namespace}/pods`, {
        body: podOf(SPEC, metadata),
      });
    return { injection, webhook: injection.webhook as Webhook, namespace, create };
  }

  it('that is away with Fail keeps pods with the label from being made, and no others', async () => {
    const { webhook, create } = await install({ failurePolicy: 'Fail' });
    expect((await create()).status).toBe(201);
    await webhook.process.kill();
    const refused = await create();
    expect([refused.status, refused.body.message]).toEqual([
      500,
      expect.stringMatching(/failed calling webhook "inject-api-key\.sallyport-inject\..*refused/),
    ]);
    expect((await create({ labels: {} })).status).toBe(201);
    const elsewhere = await cluster.makeNamespace();
    const path = `/api/v1/namespaces/${elsewhere}/pods`;
    expect((await cluster.call('POST', path, { body: podOf(SPEC) })).status).toBe(201);
  });

  it('that is away with Ignore lets them be made without the key, and nothing says so', async () => {
    const { webhook, create } = await install({ failurePolicy: 'Ignore' });
    expect(environmentsOf((await create()).body)).toEqual({ main: [ENTRY] });
    await webhook.process.kill();
    const { status, warnings, body } = await create();
    expect([status, warnings, environmentsOf(body)]).toEqual([201, [], { main: [] }]);
  });

  it('that stands still holds a pod for its time-out, and then with Fail it is refused', async () => {
    const { webhook, create } = await install({ failurePolicy: 'Fail', timeoutSeconds: 1 });
    webhook.process.signal('SIGSTOP');
    onTestFinished(() => webhook.process.signal('SIGCONT'));
    const refused = await create();
    expect([refused.status, refused.body.message]).toEqual([
      500,
      expect.stringContaining('context deadline exceeded'),
    ]);
  });

  it('whose certificate is of another authority is not asked, and with Fail the pod is refused', async () => {
    const { injection, webhook, create } = await install({ failurePolicy: 'Fail' });
    await believe(injection, webhook, webhook.certificates.prepareAuthority());
    // It takes up a changed configuration after a moment.
    await expect.poll(async () => (await create()).status, PATIENCE).toBe(500);
    const { body } = await create();
    expect(body.message).toContain('certificate signed by unknown authority');
    const asked = await webhook.metric('sallyport_inject_reviews_total{outcome="injected"}');
    expect((await create()).status).toBe(500);
    expect(await webhook.metric('sallyport_inject_reviews_total{outcome="injected"}')).toBe(asked);
  });

  it('whose certificate and authority change under a stream of pods loses none', async () => {
    const { injection, webhook, create } = await install({ failurePolicy: 'Fail' });
    const answers: ApiAnswer[] = [];
    let isOver = false;
    const streams = Array.from({ length: STREAMS }, async () => {
      while (!isOver) answers.push(await create());
    });
    const changed = (times: number) =>
      expect
        .poll(
          () => webhook.metric('sallyport_inject_certificate_changes_total{result="loaded"}'),
          PATIENCE,
        )
        .toBe(times);
    const madeSince = async (before: number) =>
      expect.poll(() => answers.length, PATIENCE).toBeGreaterThan(before + STREAMS * 3);
    try {
      webhook.certificates.renew();
      await changed(1);
      await madeSince(answers.length);
      // As docs/task-pods.md says: the old and the new authority, then the certificate, then the new one alone.
      const old = webhook.certificates.authority;
      const next = webhook.certificates.prepareAuthority();
      await believe(injection, webhook, `${old}${next}`);
      await madeSince(answers.length);
      webhook.certificates.renew('new authority');
      await changed(2);
      await madeSince(answers.length);
      await believe(injection, webhook, next);
      await madeSince(answers.length);
    } finally {
      isOver = true;
      await Promise.all(streams);
    }
    const lost = answers.filter(
      ({ status, body }) => status !== 201 || environmentsOf(body)['main']?.length !== 1,
    );
    expect(lost.map(({ body }) => body.message)).toEqual([]);
    // Dry runs at the start were asked about, too.
    const reviews = await webhook.metric('sallyport_inject_reviews_total{outcome="injected"}');
    expect(reviews).toBeGreaterThanOrEqual(answers.length);
  });

  it('of which one of two replicas stops under a stream of pods loses none', async () => {
    const { injection, webhook: first, create } = await install({ failurePolicy: 'Fail' });
    const second = await startWebhook({ drainDelay: '2s' });
    const third = await startWebhook({ drainDelay: '2s' });
    const balancer = await startReadyBalancer([second.port, third.port]);
    onTestFinished(async () => {
      balancer.close();
      for (const replica of [second, third]) await replica.stop();
    });
    const authorities = [second, third].map(({ certificates }) => certificates.authority).join('');
    await believe(injection, first, authorities, `https://localhost:${balancer.port}/inject`);
    // Connections to the address before are gone with its process.
    await first.process.kill();
    const answers: ApiAnswer[] = [];
    let isOver = false;
    const reviews = (replica: Webhook) =>
      replica.metric('sallyport_inject_reviews_total{outcome="injected"}');
    await expect.poll(async () => (await create()).status, PATIENCE).toBe(201);
    const streams = Array.from({ length: STREAMS }, async () => {
      while (!isOver) answers.push(await create());
    });
    try {
      // The API server keeps connections: it may ask one of the two alone, and that is the one to stop.
      await expect
        .poll(async () => Math.max(await reviews(second), await reviews(third)), PATIENCE)
        .toBeGreaterThan(STREAMS * 2);
      const [asked, other] =
        (await reviews(second)) > (await reviews(third)) ? [second, third] : [third, second];
      expect(await asked.process.stop()).toBe(0);
      expect(balancer.ready()).toEqual([other.port]);
      const before = await reviews(other);
      await expect.poll(() => reviews(other), PATIENCE).toBeGreaterThan(before + STREAMS * 3);
    } finally {
      isOver = true;
      await Promise.all(streams);
    }
    const lost = answers.filter(
      ({ status, body }) => status !== 201 || environmentsOf(body)['main']?.length !== 1,
    );
    expect(lost.map(({ body }) => body.message)).toEqual([]);
  });

  /** Has the API server believe these authorities. */
  async function believe(
    { name }: Injection,
    webhook: Webhook,
    authorities: string,
    url: string = webhook.url,
  ): Promise<void> {
    const { body } = await cluster.call('GET', `${CONFIGURATIONS}/${name}`);
    const updated = withAddress(body, url, authorities);
    const answer = await cluster.call('PUT', `${CONFIGURATIONS}/${name}`, { body: updated });
    expect(answer.status).toBe(200);
  }
});
