/**
 * The chart `sallyport`, rendered by helm: what an installation needs, and what is refused.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadClientSettings } from '@sallyport/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../conformance/wire/command-file.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  chartFolder,
  findObject,
  HELM,
  helm,
  type KubernetesObject,
  render,
  tryRender,
} from './helm.ts';

const run = promisify(execFile);

/** What `serve --check` says of a rendered configuration, with the secret file where the test put it. */
async function check(objects: readonly KubernetesObject[]): Promise<string> {
  const { path: folder, remove } = temporaryFolder();
  try {
    const { data } = findObject(objects, 'ConfigMap', 'sallyport');
    const config = join(folder, 'sallyport.yaml');
    const secret = join(folder, 'oidc_client_secret');
    writeFileSync(config, (data as Record<string, string>)['sallyport.yaml'] ?? '');
    writeFileSync(secret, 'made-up-for-this-test', { mode: 0o440 });
    const { stdout, stderr } = await run(
      process.execPath,
      [COMMAND, 'serve', '--check', '--config', config],
      {
        env: { OIDC_CLIENT_SECRET_FILE: secret, SALLYPORT_STATE_DIRECTORY: folder },
      },
    );
    expect(stderr).toBe('');
    return stdout;
  } finally {
    remove();
  }
}

describe.skipIf(HELM.isLeftOut)('The charts', () => {
  beforeAll(async () => void (await programPath('helm')), BUILD_TIMEOUT_MS);

  it.each([
    [
      'sallyport',
      'publicUrl, global.OIDC_BASE_URL, global.OIDC_CLIENT_ID, global.CLI_CLIENT_ID, global.INTERNAL_CLIENT_ID, global.AUTH_TOKEN_URL, image.repository',
    ],
    ['sallyport-dataplane', 'publicUrl, global.AUTH_CLIENT_ID'],
  ] as const)(
    'says in one sentence what is missing in %s when it is rendered bare',
    async (chart, missing) => {
      const { code, stdout, stderr } = await helm(['template', chart, chartFolder(chart)]);
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain(`required values are missing: ${missing} (`);
      const lint = await helm(['lint', chartFolder(chart)]);
      expect(lint.stdout + lint.stderr).toContain(`required values are missing: ${missing} (`);
    },
  );

  it.each([
    ['by default', {}, []],
    [
      'with Redis by TLS',
      {
        redis: {
          addresses: ['redis-0:6379'],
          username: 'sallyport',
          passwordSecret: { name: 'redis' },
          tls: { enabled: true, caSecret: { name: 'redis-ca' }, certificateSecret: 'redis-client' },
        },
      },
      ['session.store', 'session.redis.tls.certFile', 'session.redis.passwordLocation'],
    ],
    [
      'with sentinels',
      {
        redis: {
          addresses: ['sentinel-0:26379', 'sentinel-1:26379'],
          mode: 'sentinel',
          sentinelMaster: 'sessions',
          sentinelPasswordSecret: { name: 'redis' },
        },
      },
      ['session.redis.sentinelMaster', 'session.redis.sentinelPasswordLocation'],
    ],
    ['with metrics', { metrics: { enabled: true } }, ['observe.metrics.host']],
    [
      'with settings of its own',
      { config: { trustedProxies: ['10.0.0.0/8'], rateLimit: { perMinute: 100_000 } } },
      ['trustedProxies', 'rateLimit.perMinute'],
    ],
  ])('%s the service accepts the configuration, without a warning', async (_, values, given) => {
    const said = await check(await render({ chart: 'sallyport', values }));
    expect(said).toMatch(/^ok: /m);
    for (const key of given) expect(said).toMatch(new RegExp(`^  ${key} +from file`, 'm'));
  });

  it.each([
    ['sallyport', 'sallyport-services', 'admin', '/etc/secrets/client_secret'],
    ['sallyport', 'sallyport-services', 'union.auth', '/etc/secrets/union/client_secret'],
    [
      'sallyport',
      'sallyport-services',
      'executions.app.adminClient.connection',
      '/etc/secrets/union/client_secret',
    ],
    [
      'sallyport-dataplane',
      'sallyport-dataplane-services',
      'admin',
      '/etc/union/secret/client_secret',
    ],
    [
      'sallyport-dataplane',
      'sallyport-dataplane-services',
      'union.auth',
      '/etc/union/secret/client_secret',
    ],
  ] as const)(
    'a service of %s reads its client from %s, block %s',
    async (chart, name, block, file) => {
      const { data } = findObject(await render({ chart }), 'ConfigMap', name);
      const text = (data as Record<string, string>)['services.yaml'] ?? '';
      const sources = { env: {}, flags: {}, file: { path: 'services.yaml', text }, block };
      const loaded = loadClientSettings(sources);
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
      expect(loaded.value.warnings).toEqual([]);
      expect(JSON.stringify(loaded.value.settings)).toContain(JSON.stringify(file));
      expect(loaded.value.settings.endpoint?.origin).toBe('https://platform.example.com');
    },
  );

  it.each([
    ...(['sallyport', 'sallyport-dataplane'] as const).flatMap((chart) => [
      ...['/path', '/?query', '#fragment', ':port'].map(
        (end) =>
          [
            chart,
            { publicUrl: `https://platform.example.com${end}` },
            'publicUrl is no origin',
          ] as const,
      ),
      [chart, { publicUrl: 'https://*' }, 'publicUrl is no origin'] as const,
      [chart, { publicUrl: 'https://*.example.com' }, 'publicUrl is no origin'] as const,
      ...['v1 # x', 'v1\nx: y', '-v1', 'v1@sha256'].map(
        (tag) => [chart, { image: { repository: 'sallyport', tag } }, '/image/tag'] as const,
      ),
      ...['a b', 'a # x', 'a\nx: y', 'https://r.example.com/a', 'a:v1', 'a/'].map(
        (repository) => [chart, { image: { repository } }, '/image/repository'] as const,
      ),
    ]),
    ...['app.kubernetes.io/instance', 'app.kubernetes.io/component', 'helm.sh/chart'].map(
      (label) =>
        ['sallyport', { podLabels: { [label]: 'x' } }, `podLabels must not have ${label}`] as const,
    ),
    [
      'sallyport',
      { podAnnotations: { 'sallyport/restart-checksum': 'x' } },
      'podAnnotations must not have sallyport/restart-checksum',
    ] as const,
  ])('%s refuses %j with the reason', async (chart, values, reason) => {
    const { code, stdout, stderr } = await tryRender({ chart, values });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(reason)]);
  });

  it.each([
    ['https://platform.example.com/', 'registry.example.com:5000/team/sallyport'],
    ['https://platform.example.com:8443', 'localhost/sallyport__x'],
    ['https://[::1]', '10.0.0.1:5000/a.b/c-d'],
  ])('sallyport takes the public URL %s and the image %s', async (publicUrl, repository) => {
    const image = { repository, tag: 'v1.2.3-rc.1_x' };
    const objects = await render({
      chart: 'sallyport',
      values: { publicUrl, image, podLabels: { team: 'platform' } },
    });
    expect(JSON.stringify(findObject(objects, 'Deployment', 'sallyport'))).toContain(
      `"${repository}:v1.2.3-rc.1_x"`,
    );
  });

  it('has settings that the service refuses, and then says what it says', async () => {
    const objects = await render({
      chart: 'sallyport',
      values: { config: { session: { idleTimeout: 'soon' } } },
    });
    await expect(check(objects)).rejects.toThrow(/session\.idleTimeout/);
  });
});
