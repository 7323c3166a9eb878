/**
 * The chart `sallyport`, rendered by helm: what an installation needs, and what is refused.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
    writeFileSync(secret, 'made-up-for-this-test');
    const { stdout } = await run(
      process.execPath,
      [COMMAND, 'serve', '--check', '--config', config],
      {
        env: { OIDC_CLIENT_SECRET_FILE: secret, SALLYPORT_STATE_DIRECTORY: folder },
      },
    );
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

  it('has a configuration that the service accepts', async () => {
    expect(await check(await render({ chart: 'sallyport' }))).toMatch(/^ok: /);
  });

  it('has settings that the service refuses, and then says what it says', async () => {
    const objects = await render({
      chart: 'sallyport',
      values: { config: { session: { idleTimeout: 'soon' } } },
    });
    await expect(check(objects)).rejects.toThrow(/session\.idleTimeout/);
  });

  it('refuses two replicas without Redis, with the reason', async () => {
    const { code, stderr } = await tryRender({ chart: 'sallyport', values: { replicas: 2 } });
    expect(code).toBe(1);
    expect(stderr).toContain('replicas is 2 without redis.addresses');
  });
});
