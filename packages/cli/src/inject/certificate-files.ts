/**
 * The webhook's certificate and key: two files that another program replaces.
 *
 * @module
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { findTlsFault, type TlsOptions } from '@sallyport/gateway/listeners';
import { accept, type Result, refuse } from '@sallyport/protocol';

/** Paths of both. */
export interface CertificatePaths {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate with its own key. */
export interface ReadCertificate extends TlsOptions {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Files of a mounted Secret are links, and belong to root. */
const TERMS: FileTerms = { maxBytes: 262_144, mayBeLink: true, owner: 'any_user' };

/**
 * Reads both, and sees that they belong together: while they are replaced one after the other they do not. TLS has to be able to use all of it: a file that is still being written ends within a certificate.
 *
 * Does not check who signed the certificate, for which names, nor whether it has expired: the API server does, and says so.
 *
 * @returns Otherwise the file and what is wrong, in one sentence without anything of the key.
 */
export function readCertificate(paths: CertificatePaths): Result<ReadCertificate, string> {
  const [certificate, key] = [paths.certificate, paths.key].map((path) =>
    readBoundedFile(path, TERMS),
  );
  if (certificate?.ok !== true)
    return refuse(
      `${paths.certificate}: found ${certificate?.error.found}, expected a certificate (PEM)`,
    );
  if (key?.ok !== true)
    return refuse(`${paths.key}: found ${key?.error.found}, expected a private key (PEM)`);
  let first: X509Certificate;
  try {
    first = new X509Certificate(certificate.value);
  } catch {
    return refuse(`${paths.certificate}: found no certificate (PEM)`);
  }
  try {
    if (!first.checkPrivateKey(createPrivateKey(key.value)))
      return refuse(`${paths.key}: found the key of another certificate than ${paths.certificate}`);
  } catch {
    return refuse(`${paths.key}: found no private key (PEM) without a passphrase`);
  }
  const pair = { cert: certificate.value, key: key.value };
  const fault = findTlsFault(pair);
  return fault === undefined
    ? accept({ ...pair, expiresAt: first.validToDate.getTime() })
    : refuse(`${paths.certificate}: found a certificate that TLS cannot use: ${fault}`);
}
