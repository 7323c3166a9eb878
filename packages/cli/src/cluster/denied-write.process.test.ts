import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAuthority, createServerCertificate } from '../up/certificate.ts';
import { createApiSecrets } from './api-secrets.ts';
import { createKubectlSecrets } from './kubectl-secrets.ts';
import type { SecretData } from './secret-store.ts';

const KEY = randomBytes(32).toString('base64url');
const RING = `{"keys":[{"kid":"2026","k":"${KEY}"}]}\n`;
const DATA: SecretData = new Map([
  ['key-ring.json', Buffer.from(RING)],
  ['passphrase', Buffer.from('correct horse')],
]);
const ENCODED = Buffer.from(RING).toString('base64');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function expectNoSecret(text: string): void {
  for (const secret of [KEY, ENCODED, ENCODED.slice(0, 40), 'correct horse'])
    expect(text).not.toContain(secret);
}

describe('A denial that quotes the object holds no secret', () => {
  it('when kubectl repeats it', async () => {
    const program = join(folder, 'kubectl');
    const words = "printf 'Error from server (Forbidden): denied: ' >&2; cat >&2; exit 1";
    writeFileSync(program, `#!/bin/sh\n${words}\n`);
    chmodSync(program, 0o755);
    vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const created = await createKubectlSecrets('cloud-cp').create('ring', DATA);
    if (created.ok) throw new Error('created');
    expect(created.error.reason).toBe('forbidden');
    expect(created.error.description).toContain('[secret]');
    expectNoSecret(created.error.description);
  });

  it('when the API server answers with it', async () => {
    const authority = createAuthority(Date.now());
    const { certificate, key } = createServerCertificate(authority, Date.now());
    const server = createServer(
      { cert: certificate.toString(), key: key.export({ type: 'pkcs8', format: 'pem' }) },
      (req, res) => {
        const deny = (body: string) => {
          res.statusCode = 403;
          res.end(JSON.stringify({ reason: 'Forbidden', message: `denied: ${body}` }));
        };
        void text(req).then(deny);
      },
    );
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const mounted = { token: 'eyJ.a.b', 'ca.crt': authority.certificate.toString() };
    for (const [name, content] of Object.entries({ ...mounted, namespace: 'cloud-cp' }))
      writeFileSync(join(folder, name), content);
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    const secrets = createApiSecrets({ accountFolder: folder, namespace: 'cloud-cp', origin });
    const created = await secrets.create('ring', DATA);
    if (created.ok) throw new Error('created');
    expect(created.error.reason).toBe('forbidden');
    expect(created.error.description).toContain('[secret]');
    expectNoSecret(created.error.description);
  });
});
