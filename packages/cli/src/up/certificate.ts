/**
 * Makes the two certificates of this machine: an authority that may speak for the loopback alone, and
 * the server certificate it signs.
 *
 * @module
 */

import {
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  type X509Certificate,
} from 'node:crypto';
import { bitString, context, oid, sequence, TAG, unsigned, value } from './der.ts';
import { commonName, extension, keyIdOf, signCertificate, TRUE } from './sign-certificate.ts';

/** A certificate and the key it is about. */
export interface KeyedCertificate {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** The one name of the loopback that the server certificate stands for. */
export const LOOPBACK_NAME = 'localhost';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_652;
/** Some clients take no longer-lived server certificate from any authority, their owner's included. */
const SERVER_DAYS = 397;
/** A client whose clock is a little behind takes the certificate too. */
const BACKDATE_MS = 3_600_000;

const OID = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

const LOOPBACK_ADDRESSES: readonly Buffer[] = [
  Buffer.from([127, 0, 0, 1]),
  Buffer.concat([Buffer.alloc(15), Buffer.from([1])]),
];

/**
 * Makes an authority for ten years, with a new P-256 key.
 *
 * Its name constraints limit it to `localhost`, `127.0.0.1` and `::1`: a stolen key is worth nothing for any other
 * host.
 *
 * @see [RFC 5280 section 4.2.1.10](https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.10) name constraints
 */
export function createAuthority(now: number): KeyedCertificate {
  const key = newKey();
  // Each folder of state has its own authority, and they must not share a name.
  const name = commonName(`Sallyport development ${randomBytes(4).toString('hex')}`);
  const permitted = [
    context(2, 'primitive', Buffer.from(LOOPBACK_NAME)),
    ...LOOPBACK_ADDRESSES.map((address) =>
      context(7, 'primitive', address, Buffer.alloc(address.length, 0xff)),
    ),
  ];
  const extensions = [
    extension(OID.basicConstraints, sequence(TRUE, unsigned(Buffer.from([0]))), 'critical'),
    // keyCertSign and cRLSign, bits 5 and 6.
    extension(OID.keyUsage, bitString(Buffer.from([0b0000_0110]), 7), 'critical'),
    extension(
      OID.nameConstraints,
      sequence(context(0, 'constructed', ...permitted.map((base) => sequence(base)))),
      'critical',
    ),
    extension(OID.subjectKeyIdentifier, value(TAG.octetString, keyIdOf(key))),
  ];
  const notAfter = now + AUTHORITY_DAYS * DAY_MS;
  const certificate = signCertificate(
    { subject: name, issuer: name, notBefore: now - BACKDATE_MS, notAfter, key, extensions },
    key,
  );
  return { certificate, key };
}

/**
 * Makes a server certificate with a new P-256 key, for at most 397 days and no longer than its
 * authority lives. A certificate of its own, because some clients (rustls) accept no authority as the
 * server's.
 *
 * It names no address: BoringSSL, and with it every gRPC client in C and Python, refuses a chain in
 * which a certificate with addresses meets an authority with constraints on them. A client therefore
 * has to say `localhost`.
 *
 * @param names - DNS names. The authority's constraints decide which of them mean anything.
 */
export function createServerCertificate(
  authority: KeyedCertificate,
  now: number,
  names: readonly string[] = [LOOPBACK_NAME],
): KeyedCertificate {
  const key = newKey();
  const alternatives = names.map((dns) => context(2, 'primitive', Buffer.from(dns)));
  const extensions = [
    extension(OID.basicConstraints, sequence(), 'critical'),
    // digitalSignature, bit 0.
    extension(OID.keyUsage, bitString(Buffer.from([0b1000_0000]), 1), 'critical'),
    extension(OID.extendedKeyUsage, sequence(oid(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(...alternatives)),
    extension(
      OID.authorityKeyIdentifier,
      sequence(context(0, 'primitive', keyIdOf(authority.key))),
    ),
    extension(OID.subjectKeyIdentifier, value(TAG.octetString, keyIdOf(key))),
  ];
  const notAfter = Math.min(
    now - BACKDATE_MS + SERVER_DAYS * DAY_MS - 1_000,
    authority.certificate.validToDate.getTime(),
  );
  const certificate = signCertificate(
    {
      subject: commonName(names[0] ?? ''),
      issuer: subjectOf(authority.certificate),
      notBefore: now - BACKDATE_MS,
      notAfter,
      key,
      extensions,
    },
    authority.key,
  );
  return { certificate, key };
}

/** An authority of ours has one name attribute, so its name can be written again from its text. */
function subjectOf(certificate: X509Certificate): Buffer {
  return commonName(certificate.subject.replace(/^CN=/, ''));
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}
