import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, createServerCertificate } from '../up/certificate.ts';
import { readCertificate } from './certificate-files.ts';

const NOW = Date.UTC(2026, 0, 1);

let folder: string;
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function issue() {
  const { certificate, key } = createServerCertificate(createAuthority(NOW), NOW);
  return {
    expires: certificate.validToDate.getTime(),
    cert: certificate.toString(),
    key: key.export({ type: 'pkcs8', format: 'pem' }),
  };
}

function write(cert: string, key: string) {
  count += 1;
  const paths = { certificate: join(folder, `${count}.crt`), key: join(folder, `${count}.key`) };
  writeFileSync(paths.certificate, cert);
  writeFileSync(paths.key, key);
  return paths;
}

describe('Certificate and key of the webhook', () => {
  it('are read together, with the end of the certificate', () => {
    const { cert, key, expires } = issue();
    expect(readCertificate(write(cert, key))).toEqual({
      ok: true,
      value: { cert, key, expiresAt: expires },
    });
  });

  it('may be followed by the certificates of authorities', () => {
    const [own, other] = [issue(), issue()];
    const read = readCertificate(write(`${own.cert}${other.cert}`, own.key));
    expect(read).toMatchObject({ ok: true, value: { expiresAt: own.expires } });
  });

  it('are refused when they do not belong together', () => {
    const read = readCertificate(write(issue().cert, issue().key));
    expect(read).toMatchObject({
      ok: false,
      error: expect.stringContaining('the key of another certificate'),
    });
  });

  it.each([
    ['no certificate', 'canary-7f3a', issue().key, 'found no certificate'],
    ['no key', issue().cert, 'canary-7f3a', 'found no private key'],
    ['no content', '', '', 'found no certificate'],
  ])('are refused when there is %s, and nothing of them is said', (_, cert, key, sentence) => {
    const read = readCertificate(write(cert, key));
    expect(read).toMatchObject({ ok: false, error: expect.stringContaining(sentence) });
    expect(JSON.stringify(read)).not.toContain('canary');
  });

  it('are refused when one is not there', () => {
    const { cert, key } = issue();
    const paths = write(cert, key);
    for (const missing of ['certificate', 'key'] as const)
      expect(readCertificate({ ...paths, [missing]: join(folder, 'absent') })).toMatchObject({
        ok: false,
        error: expect.stringContaining('absent: found no such file'),
      });
  });
});
