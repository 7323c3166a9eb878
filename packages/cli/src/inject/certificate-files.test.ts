import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, createServerCertificate } from '../up/certificate.ts';
import { commonName, signCertificate } from '../up/sign-certificate.ts';
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

function certify(key: KeyObject): string {
  const name = commonName('localhost');
  const notAfter = NOW + 86_400_000;
  const fields = { subject: name, issuer: name, notBefore: NOW, notAfter, key, extensions: [] };
  return signCertificate(fields, createAuthority(NOW).key).toString();
}

function toKeyFile(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}

function toPem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
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

  it.each([
    ['breaks off', (other: string) => other.slice(0, 300)],
    ['breaks off in its last line', (other: string) => other.slice(0, -5)],
    ['holds something else', () => toPem('AAAA')],
  ])(
    'are refused when the certificate after the first one %s, by the name of the file',
    (_, second) => {
      const own = issue();
      const paths = write(`${own.cert}${second(issue().cert)}`, own.key);
      expect(readCertificate(paths)).toEqual({
        ok: false,
        error: expect.stringMatching(/\d+\.crt: .+ \(ERR_OSSL_\w+\)$/),
      });
    },
  );

  it('are refused when the key is too weak for TLS, by the name of the file and the cause', () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
    expect(readCertificate(write(certify(weak), toKeyFile(weak)))).toEqual({
      ok: false,
      error: expect.stringMatching(/\d+\.crt: .*ee key too small \(ERR_SSL_EE_KEY_TOO_SMALL\)$/),
    });
    const strong = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
    expect(readCertificate(write(certify(strong), toKeyFile(strong)))).toMatchObject({ ok: true });
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
