/**
 * `sallyport healthcheck`, as a container runtime runs it: an exit code and one line.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startHostedService } from '../wire/platform.ts';
import { run, temporaryFolder } from '../wire/process.ts';
import { ready } from '../wire/reloads.ts';

describe('sallyport healthcheck', () => {
  let service: Service;
  let port: string;
  const { path: folder, remove } = temporaryFolder();
  const configFile = join(folder, 'sallyport.yaml');

  beforeAll(async () => {
    service = await startHostedService();
    ({ port } = new URL(service.url));
    await ready(service);
  });
  afterAll(async () => {
    await service.stop();
    remove();
  });

  it('ends with 0 for a ready service, found by the variables of its environment', async () => {
    expect(await run(['healthcheck'], { SALLYPORT_LISTEN_PORT: port })).toEqual({
      code: 0,
      stdout: `ready http://127.0.0.1:${port}\n`,
      stderr: '',
    });
  });

  it('finds it by its file, also while another key of the file is wrong', async () => {
    writeFileSync(configFile, `publicUrl: 7\nlisten: {host: 0.0.0.0, port: ${port}}\n`);
    expect(await run(['healthcheck', '--config', configFile, '--json'])).toEqual({
      code: 0,
      stdout: `{"ok":true,"probe":"ready","url":"http://0.0.0.0:${port}"}\n`,
      stderr: '',
    });
  });

  it('ends with 1 where nothing listens', async () => {
    const free = await freePort();
    expect(await run(['healthcheck', '--url', `http://127.0.0.1:${free}`])).toEqual({
      code: 1,
      stdout: '',
      stderr: `sallyport: http://127.0.0.1:${free}: connection refused\n`,
    });
  });

  it('ends with 1 for a service that waits for its identity provider; with --live with 0', async () => {
    const waiting = await startHostedService({ OIDC_BASE_URL: 'http://localhost:9' });
    try {
      const url = waiting.url.replace('localhost', '127.0.0.1');
      const failed = await run(['healthcheck', '--url', url, '--json']);
      expect([failed.code, JSON.parse(failed.stdout)]).toEqual([
        1,
        {
          ok: false,
          error: 'not_ready',
          description: `${url}: not ready, waits for identity_provider, issuer_keys`,
        },
      ]);
      expect(await run(['healthcheck', '--url', url, '--live'])).toMatchObject({
        code: 0,
        stdout: `alive ${url}\n`,
      });
    } finally {
      await waiting.stop();
    }
  });

  it('ends with 1 where the file does not say the place, and says the line', async () => {
    writeFileSync(configFile, 'listen: {port: 70000}\n');
    const { code, stderr } = await run(['healthcheck', '--config', configFile]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^sallyport: .*sallyport\.yaml:1: listen\.port.*\n$/),
    ]);
  });

  it.each(['https://localhost:8080', 'http://localhost:8080/path', 'http://a:b@localhost', 'x'])(
    'takes no --url but an origin of plain http or a socket: %s',
    async (url) => {
      expect(await run(['healthcheck', '--url', url])).toMatchObject({ code: 2, stdout: '' });
    },
  );
});
