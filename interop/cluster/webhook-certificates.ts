/**
 * Certificates of a webhook in a folder that is exchanged as Kubernetes exchanges a mounted Secret.
 *
 * @module
 */

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAuthority,
  createServerCertificate,
  type KeyedCertificate,
} from '../../packages/cli/src/up/certificate.ts';

/** The folder, and what is in it at the time. */
export interface WebhookCertificates {
  readonly certFile: string;
  readonly keyFile: string;
  /** Certificate of the first authority, PEM. */
  readonly authority: string;
  /** Makes the authority of the next `new authority`. @returns Its certificate, PEM. */
  prepareAuthority(): string;
  /** Issues another certificate. */
  renew(by?: 'same authority' | 'new authority'): void;
  /** SHA-256 of the certificate that is there now. */
  fingerprint(): string;
  /** Puts texts in their place. */
  replace(certificate: string, key: string): void;
}

/** Makes the first certificate, for `localhost`. */
export function createWebhookCertificates(folder: string): WebhookCertificates {
  let authority = createAuthority(Date.now());
  const first = authority;
  let next: KeyedCertificate | undefined;
  let count = 0;
  let current: KeyedCertificate = issue();
  return {
    certFile: join(folder, 'tls.crt'),
    keyFile: join(folder, 'tls.key'),
    authority: first.certificate.toString(),
    prepareAuthority() {
      next = createAuthority(Date.now());
      return next.certificate.toString();
    },
    renew(by = 'same authority') {
      if (by === 'new authority') authority = next ?? createAuthority(Date.now());
      current = issue();
    },
    fingerprint: () => current.certificate.fingerprint256,
    replace: write,
  };

  function issue(): KeyedCertificate {
    const issued = createServerCertificate(authority, Date.now());
    write(issued.certificate.toString(), issued.key.export({ type: 'pkcs8', format: 'pem' }));
    return issued;
  }

  /** Both files are links through `..data`, which one rename exchanges. */
  function write(certificate: string, key: string): void {
    count += 1;
    const version = `..${count}`;
    mkdirSync(join(folder, version), { recursive: true });
    writeFileSync(join(folder, version, 'tls.crt'), certificate);
    writeFileSync(join(folder, version, 'tls.key'), key);
    symlinkSync(version, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    if (count > 1) return;
    for (const name of ['tls.crt', 'tls.key'])
      symlinkSync(join('..data', name), join(folder, name));
  }
}
