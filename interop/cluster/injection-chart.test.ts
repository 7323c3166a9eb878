/**
 * The injection of the data plane's chart as it is rendered, and what is refused.
 *
 * @module
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { findObject, HELM, type KubernetesObject, render, tryRender } from './helm.ts';

const CHART = 'sallyport-dataplane';
const NAME = 'sallyport-inject';
const CA = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
const KEY = '-----BEGIN EC PRIVATE KEY-----\ncanary\n-----END EC PRIVATE KEY-----';
const image = { repository: 'registry.example.com/sallyport' };

/** What is refused: title, values, arguments, and the reason. */
type Refused = readonly [string, Readonly<Record<string, unknown>>, readonly string[], string];

function renderWebhook(
  webhook: object = { certificate: { caBundle: CA } },
  more: object = {},
): Promise<readonly KubernetesObject[]> {
  const injection = { mode: 'webhook', webhook };
  return render({ chart: CHART, namespace: 'cloud', values: { image, injection, ...more } });
}

function kindsOf(objects: readonly KubernetesObject[]): readonly string[] {
  return objects
    .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
    .filter((one) => one.includes('inject'))
    .toSorted();
}

describe.skipIf(HELM.isLeftOut)('The injection of the chart', () => {
  beforeAll(() => programPath('helm'), BUILD_TIMEOUT_MS);

  it('is off by default, and with injectSecret false in every mode', async () => {
    expect(kindsOf(await render({ chart: CHART }))).toEqual([]);
    const unionAuth = { injectSecret: false };
    expect(kindsOf(await renderWebhook(undefined, { unionAuth }))).toEqual([]);
  });

  it('by webhook is a server that asks the cluster nothing, and no permission', async () => {
    const objects = await renderWebhook();
    expect(kindsOf(objects)).toEqual([
      `ConfigMap/${NAME}`,
      `Deployment/${NAME}`,
      `MutatingWebhookConfiguration/${NAME}-cloud`,
      `PodDisruptionBudget/${NAME}`,
      `Service/${NAME}`,
    ]);
    const { spec } = findObject(objects, 'Deployment', NAME);
    expect(spec).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          containers: [{ securityContext: { readOnlyRootFilesystem: true } }],
        },
      },
    });
    expect(JSON.stringify(spec)).not.toMatch(/serviceAccountName|subPath/);
  });

  it('by webhook selects pods and namespaces by the labels of the configuration that it reads', async () => {
    const unionAuth = { podLabel: 'acme.example/key', namespaceLabel: 'acme.example/keys' };
    const objects = await renderWebhook(undefined, { unionAuth });
    const { webhooks } = findObject(objects, 'MutatingWebhookConfiguration', `${NAME}-cloud`);
    expect(webhooks).toMatchObject([
      {
        objectSelector: { matchLabels: { 'acme.example/key': 'true' } },
        namespaceSelector: { matchLabels: { 'acme.example/keys': 'true' } },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        clientConfig: { caBundle: Buffer.from(CA).toString('base64') },
      },
    ]);
    const { data } = findObject(objects, 'ConfigMap', NAME);
    expect(data).toEqual({ 'sallyport.yaml': expect.stringContaining('acme.example/key') });
  });

  it('by webhook has a certificate of cert-manager, with an issuer of its own or a given one', async () => {
    const own = await renderWebhook({ certificate: { certManager: { enabled: true } } });
    expect(kindsOf(own)).toEqual(expect.arrayContaining([`Certificate/${NAME}`, `Issuer/${NAME}`]));
    const configuration = findObject(own, 'MutatingWebhookConfiguration', `${NAME}-cloud`);
    expect(configuration.metadata.annotations).toEqual({
      'cert-manager.io/inject-ca-from': `cloud/${NAME}`,
    });
    expect(JSON.stringify(configuration)).not.toContain('caBundle');
    const issuerRef = { name: 'authority', kind: 'ClusterIssuer' };
    const given = await renderWebhook({
      certificate: { certManager: { enabled: true, issuerRef } },
    });
    expect(kindsOf(given)).not.toContain(`Issuer/${NAME}`);
    expect(findObject(given, 'Certificate', NAME)['spec']).toMatchObject({
      dnsNames: [`${NAME}.cloud.svc`],
      issuerRef,
    });
  });

  it('by policy has no server, and one more policy that only warns', async () => {
    const objects = await render({
      chart: CHART,
      namespace: 'cloud',
      values: { injection: { mode: 'policy' } },
      args: ['--kube-version', '1.36.0'],
    });
    expect(kindsOf(objects)).toEqual([
      `MutatingAdmissionPolicy/${NAME}-cloud`,
      `MutatingAdmissionPolicyBinding/${NAME}-cloud`,
      `ValidatingAdmissionPolicy/${NAME}-cloud`,
      `ValidatingAdmissionPolicyBinding/${NAME}-cloud`,
    ]);
    const binding = findObject(objects, 'ValidatingAdmissionPolicyBinding', `${NAME}-cloud`);
    expect(binding['spec']).toMatchObject({ validationActions: ['Warn'] });
  });

  it.each<Refused>([
    [
      'a policy below Kubernetes 1.36',
      { injection: { mode: 'policy' } },
      ['--kube-version', '1.35.4'],
      'needs Kubernetes 1.36 or later, where MutatingAdmissionPolicy is stable; this is v1.35.4: set injection.mode to webhook',
    ],
    [
      'a webhook without a certificate',
      { image, injection: { mode: 'webhook' } },
      [],
      'injection.mode webhook needs a certificate',
    ],
    [
      'a webhook with two authorities',
      {
        image,
        injection: {
          mode: 'webhook',
          webhook: { certificate: { caBundle: CA, certManager: { enabled: true } } },
        },
      },
      [],
      'exclude each other',
    ],
    [
      'a webhook without an image',
      { injection: { mode: 'webhook', webhook: { certificate: { caBundle: CA } } } },
      [],
      'injection.mode webhook needs image.repository',
    ],
    [
      'another mode',
      { injection: { mode: 'both' } },
      [],
      "value must be one of 'none', 'webhook', 'policy'",
    ],
    ...(
      [
        ['a private key behind its certificate', `${CA}\n${KEY}`, 'has a PRIVATE KEY'],
        ['a private key before its certificate', `${KEY}\n${CA}`, 'has a PRIVATE KEY'],
        ['text behind the authority', `${CA}\ncanary`, 'is not PEM of certificates alone'],
        ['text between authorities', `${CA}\ncanary\n${CA}`, 'is not PEM of certificates alone'],
        ['text alone as the authority', 'canary', 'is not PEM of certificates alone'],
        [
          'another block as the authority',
          '-----BEGIN PUBLIC KEY-----\ncanary\n-----END PUBLIC KEY-----',
          'is not PEM of certificates alone',
        ],
        ['an authority without an end', '-----BEGIN CERTIFICATE-----\ncanary', 'is not PEM of'],
      ] as const
    ).map(
      ([what, caBundle, reason]) =>
        [
          what,
          { image, injection: { mode: 'webhook', webhook: { certificate: { caBundle } } } },
          [],
          `caBundle ${reason}`,
        ] as const,
    ),
    ...(
      [
        [
          'metrics on the port of the webhook',
          { metrics: { enabled: true, port: 8443 } },
          'is 8443',
        ],
        ['no replica with the policy Fail', { replicas: 0 }, 'replicas is 0 with'],
        [
          'pods of the webhook that wait for the webhook',
          { podLabels: { 'sallyport/inject-api-key': 'true' } },
          'must not have sallyport/inject-api-key',
        ],
        ...['app.kubernetes.io/name', 'app.kubernetes.io/component', 'helm.sh/chart'].map(
          (label) =>
            [
              `the label ${label} again`,
              { podLabels: { [label]: 'x' } },
              `podLabels must not have ${label}`,
            ] as const,
        ),
        [
          'the annotation of the checksum again',
          { podAnnotations: { 'sallyport/restart-checksum': 'x' } },
          'podAnnotations must not have sallyport/restart-checksum',
        ],
      ] as const
    ).map(
      ([what, webhook, reason]) =>
        [
          what,
          {
            image,
            injection: { mode: 'webhook', webhook: { certificate: { caBundle: CA }, ...webhook } },
          },
          [],
          reason,
        ] as const,
    ),
    [
      'a namespace of Kubernetes',
      { namespaceOverride: 'kube-system' },
      [],
      'is kube-system, which',
    ],
    [
      'a release in a namespace of Kubernetes',
      {},
      ['--namespace', 'kube-public'],
      'is kube-public, which',
    ],
    [
      'one label for pods and namespaces',
      { unionAuth: { podLabel: 'a/b', namespaceLabel: 'a/b' } },
      [],
      'are the same label',
    ],
    ['a label that would end the line', { unionAuth: { podLabel: 'a: b' } }, [], 'podLabel'],
  ])('refuses %s with the reason', async (_, values, args, reason) => {
    const { code, stdout, stderr } = await tryRender({ chart: CHART, values, args });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('canary');
  });

  it('takes several authorities, labels of its own, and no replica where pods are admitted without', async () => {
    const caBundle = `\n${CA}\n\n${CA.replaceAll('\n', '\r\n')}\n`;
    const objects = await render({
      chart: CHART,
      values: {
        image,
        injection: {
          mode: 'webhook',
          failurePolicy: 'Ignore',
          webhook: {
            replicas: 0,
            certificate: { caBundle },
            podLabels: { team: 'platform' },
            metrics: { enabled: true, port: 8444 },
          },
        },
      },
    });
    const { webhooks } = findObject(objects, 'MutatingWebhookConfiguration', `${NAME}-cloud-cp`);
    const published = Buffer.from(caBundle.trim()).toString('base64');
    expect(webhooks).toMatchObject([{ clientConfig: { caBundle: published } }]);
  });
});
