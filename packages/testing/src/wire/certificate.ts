/**
 * A certificate for the TLS tests.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = 'openssl';

/**
 * Makes a certificate for `localhost` that lives as long as the run; no key is kept in the repository.
 *
 * @returns `undefined` where openssl is missing, except in CI, which has to have it.
 */
export function makeCertificate(): { readonly key: string; readonly cert: string } | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-gateway-'));
  try {
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    const args =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1';
    execFileSync(PROGRAM, [...args.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error;
    return undefined;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
