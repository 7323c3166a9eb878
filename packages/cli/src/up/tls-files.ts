/**
 * Authority and server certificate of this machine, kept in the state folder.
 *
 * @module
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, writeWholeFile } from '@sallyport/config/files';
import {
  createAuthority,
  createServerCertificate,
  type KeyedCertificate,
  LOOPBACK_NAME,
} from './certificate.ts';

/** What a listener needs, and what its clients need. */
export interface TlsFiles {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
  /** Path of the authority's certificate: for `SSL_CERT_FILE`, `--cacert`, `caCertFilePath` and their like. */
  readonly caFile: string;
}

const FOLDER = 'tls';
const RENEW_BEFORE_MS = 30 * 86_400_000;

/**
 * Reads both certificates, and makes what is missing, damaged, or has less than 30 days left.
 *
 * A new authority has to be trusted anew by those who trusted the old one, so it is made only when
 * the old one cannot be used; a new server certificate needs no such step. Only the owner can read keys and
 * folder.
 *
 * @param now - Epoch milliseconds.
 */
export function openTlsFiles(stateDirectory: string, now: number): TlsFiles {
  const folder = join(stateDirectory, FOLDER);
  makeFolder(folder, 0o700);
  const caFile = join(folder, 'ca.pem');
  const caKeyFile = join(folder, 'ca-key.pem');
  const certFile = join(folder, 'server.pem');
  const keyFile = join(folder, 'server-key.pem');

  const kept = readPair(caFile, caKeyFile);
  const isAuthority = kept?.certificate.ca === true && isCurrent(kept.certificate, now);
  const authority = isAuthority ? kept : createAuthority(now);
  if (authority !== kept) writePair(authority, caFile, caKeyFile);

  const server = readPair(certFile, keyFile);
  const isServer =
    server !== undefined &&
    isCurrent(server.certificate, now) &&
    isSignedFor(server.certificate, authority.certificate);
  const current = isServer ? server : createServerCertificate(authority, now);
  if (current !== server) writePair(current, certFile, keyFile);
  return { key: spellKey(current), cert: current.certificate.toString(), caFile };
}

function isCurrent({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now && validToDate.getTime() - now >= RENEW_BEFORE_MS;
}

function isSignedFor(certificate: X509Certificate, authority: X509Certificate): boolean {
  return (
    certificate.checkIssued(authority) &&
    certificate.verify(authority.publicKey) &&
    // Exactly this one: a certificate that names addresses too is refused by some clients.
    certificate.subjectAltName === `DNS:${LOOPBACK_NAME}`
  );
}

/** `undefined` when either file is missing or damaged, or when they do not belong together. */
function readPair(certFile: string, keyFile: string): KeyedCertificate | undefined {
  try {
    const certificate = new X509Certificate(readFileSync(certFile));
    const key = createPrivateKey(readFileSync(keyFile));
    return certificate.checkPrivateKey(key) ? { certificate, key } : undefined;
  } catch {
    return undefined;
  }
}

/** The key first: a certificate without its key is seen at the next start, and replaced. */
function writePair(pair: KeyedCertificate, certFile: string, keyFile: string): void {
  writeWholeFile(keyFile, spellKey(pair), { mode: 0o600 });
  writeWholeFile(certFile, pair.certificate.toString(), { mode: 0o644 });
}

function spellKey({ key }: KeyedCertificate): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}
