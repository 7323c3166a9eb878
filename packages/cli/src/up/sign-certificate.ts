/**
 * Writes and signs X.509 certificates.
 *
 * @module
 */

import {
  createHash,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { bitString, context, oid, sequence, TAG, time, unsigned, value } from './der.ts';

/** BOOLEAN; DER leaves a false one out. */
export const TRUE: Buffer = value(TAG.boolean, Buffer.from([0xff]));

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const SIGNATURE_ALGORITHM = sequence(oid(ECDSA_WITH_SHA256));
const SERIAL_OCTETS = 16;
const KEY_ID_OCTETS = 20;

/** What stands in a certificate. Names are DER, times epoch milliseconds. */
export interface CertificateFields {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Whose public half the certificate is about. */
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
}

/**
 * Signs a version 3 certificate with ECDSA and SHA-256, under a random serial number.
 *
 * @see [RFC 5280 section 4.1](https://www.rfc-editor.org/rfc/rfc5280#section-4.1)
 */
export function signCertificate(fields: CertificateFields, signer: KeyObject): X509Certificate {
  const serial = randomBytes(SERIAL_OCTETS);
  const version3 = context(0, 'constructed', unsigned(Buffer.from([2])));
  const toBeSigned = sequence(
    version3,
    unsigned(serial),
    SIGNATURE_ALGORITHM,
    fields.issuer,
    sequence(time(fields.notBefore), time(fields.notAfter)),
    fields.subject,
    publicKeyInfo(fields.key),
    context(3, 'constructed', sequence(...fields.extensions)),
  );
  const signature = sign('sha256', toBeSigned, signer);
  return new X509Certificate(sequence(toBeSigned, SIGNATURE_ALGORITHM, bitString(signature)));
}

/** One extension (RFC 5280 section 4.2). */
export function extension(id: string, content: Buffer, criticality?: 'critical'): Buffer {
  const critical = criticality === undefined ? [] : [TRUE];
  return sequence(oid(id), ...critical, value(TAG.octetString, content));
}

function publicKeyInfo(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

/** A key's identifier: RFC 7093 section 2, method 4, of the whole SubjectPublicKeyInfo. */
export function keyIdOf(key: KeyObject): Buffer {
  return createHash('sha256').update(publicKeyInfo(key)).digest().subarray(0, KEY_ID_OCTETS);
}

/** A distinguished name of one common name. */
export function commonName(text: string): Buffer {
  const attribute = sequence(oid(COMMON_NAME), value(TAG.utf8String, Buffer.from(text)));
  return sequence(value(TAG.set, attribute));
}
