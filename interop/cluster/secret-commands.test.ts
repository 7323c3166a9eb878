/**
 * Option B of the secrets: the commands of docs/secrets.md, run as they stand there against a real API server.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { API_SERVER, type Cluster, openCluster, runProgram } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';

const PAGE = readFileSync(new URL('../../docs/secrets.md', import.meta.url), 'utf8');
const SERVICE_SECRET = 'made-up-secret-of-the-service-app';
const WEB_SECRET = 'made-up-secret-of-the-web-app';
const PASSWORD = 'made-up-database-password';

/** The blocks of commands in a chapter. */
function commandsOf(chapter: string): readonly string[] {
  const [, text = ''] = PAGE.split(`\n## ${chapter}\n`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands = '']) => commands);
}

describe.skipIf(API_SERVER.isLeftOut)('Option B, as the page has it', () => {
  const { path: folder, remove } = temporaryFolder();
  let cluster: Cluster;
  let controlPlane: string;
  let dataPlane: string;
  beforeAll(async () => {
    cluster = await openCluster();
    await programPath('kubectl');
    [controlPlane, dataPlane] = [
      await cluster.makeNamespace({}, 'cp'),
      await cluster.makeNamespace(),
    ];
    writeFileSync(join(folder, 'client_secret'), SERVICE_SECRET);
    writeFileSync(join(folder, 'oidc_client_secret'), WEB_SECRET);
    const body = {
      metadata: { name: 'control-plane-services' },
      data: { 'pass.txt': encode(PASSWORD) },
    };
    expect((await cluster.call('POST', pathOf(controlPlane), { body })).status).toBe(201);
  }, BUILD_TIMEOUT_MS);
  afterAll(remove);

  const encode = (text: string) => Buffer.from(text).toString('base64');
  const pathOf = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`;

  /** Runs commands in the namespaces of this test. */
  async function runCommands(commands: string) {
    const here = commands
      .replaceAll('--namespace cloud-cp', `--namespace ${controlPlane}`)
      .replaceAll(/--namespace cloud(?![-\w])/g, `--namespace ${dataPlane}`);
    const script = `set -euo pipefail; cd ${folder}; ${here}`;
    return runProgram('bash', ['-c', script], '', {
      PATH: `${dirname(await programPath('kubectl'))}:${process.env['PATH'] ?? ''}`,
      KUBECONFIG: cluster.access.kubeconfig,
    });
  }
  async function dataOf(namespace: string, name: string): Promise<unknown> {
    return (await cluster.call('GET', `${pathOf(namespace)}/${name}`)).body['data'];
  }

  it('creates each Secret in its namespace with the single key client_secret', async () => {
    const [create = ''] = commandsOf('Option B: by hand');
    const { code, stderr } = await runCommands(create);
    expect([code, stderr]).toEqual([0, '']);
    const data = { client_secret: encode(SERVICE_SECRET) };
    expect(await dataOf(controlPlane, 'core-admin-secrets')).toEqual(data);
    expect(await dataOf(controlPlane, 'core-secret-auth')).toEqual(data);
    expect(await dataOf(dataPlane, 'cloud-secret-auth')).toEqual(data);
  });

  it('does not replace a Secret that is there', async () => {
    const path = join(folder, 'client_secret');
    const [create = ''] = commandsOf('Option B: by hand');
    writeFileSync(path, 'another');
    const { code, stderr } = await runCommands(create);
    writeFileSync(path, SERVICE_SECRET);
    expect([code, stderr]).toEqual([1, expect.stringContaining('already exists')]);
    expect(await dataOf(controlPlane, 'core-admin-secrets')).toEqual({
      client_secret: encode(SERVICE_SECRET),
    });
  });

  it('adds client_secret to the control plane service secret beside the keys that are there', async () => {
    const [, add = ''] = commandsOf('Option B: by hand');
    const { code, stderr } = await runCommands(add);
    expect([code, stderr]).toEqual([0, '']);
    expect(await dataOf(controlPlane, 'control-plane-services')).toEqual({
      'pass.txt': encode(PASSWORD),
      client_secret: encode(SERVICE_SECRET),
    });
  });

  it('does not make the control plane service secret where it is missing', async () => {
    const [, add = ''] = commandsOf('Option B: by hand');
    const elsewhere = await cluster.makeNamespace();
    const { code, stderr } = await runCommands(
      add.replaceAll('--namespace cloud-cp', `--namespace ${elsewhere}`),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('not found')]);
    expect(await dataOf(elsewhere, 'control-plane-services')).toBeUndefined();
  });

  it('adds the secret of the web app to the admin service as one more key', async () => {
    const [, , add = ''] = commandsOf('Option B: by hand');
    const { code, stderr } = await runCommands(add);
    expect([code, stderr]).toEqual([0, '']);
    expect(await dataOf(controlPlane, 'core-admin-secrets')).toEqual({
      client_secret: encode(SERVICE_SECRET),
      oidc_client_secret: encode(WEB_SECRET),
    });
  });

  it('puts no secret into an argument', async () => {
    for (const commands of commandsOf('Option B: by hand'))
      expect(commands).not.toMatch(/--from-literal|--patch[= ](?!file)/);
    expect(commandsOf('Option B: by hand')).toHaveLength(3);
  });
});
