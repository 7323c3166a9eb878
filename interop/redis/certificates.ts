/**
 * An authority for one test, and what it has signed.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findPart, type Part, requirePart } from '../parts.ts';

/** The program that makes them. */
export const OPENSSL: Part = findPart('openssl');

/** A certificate and its key, as files. */
export interface KeyPairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Files of one authority. */
export interface Certificates {
  readonly caFile: string;
  /** For one host name, and `127.0.0.1`. */
  readonly server: KeyPairFiles;
  /** For clients that have to prove who they are. */
  readonly client: KeyPairFiles;
}

/** Makes an authority in a folder, and signs a server and a client. */
export function createCertificates(folder: string, host = 'localhost'): Certificates {
  const filesOf = (name: string): KeyPairFiles => ({
    certFile: join(folder, `${name}.crt`),
    keyFile: join(folder, `${name}.key`),
  });
  const create = (name: string, more: readonly string[]): KeyPairFiles => {
    const files = filesOf(name);
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
    const out = ['-keyout', files.keyFile, '-out', files.certFile, '-days', '2'];
    execFileSync(
      requirePart(OPENSSL),
      ['req', '-x509', ...key, ...out, '-subj', `/CN=${name} of a test`, ...more],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    return files;
  };
  const authority = create('authority', []);
  const signed = ['-CA', authority.certFile, '-CAkey', authority.keyFile];
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  const names = ['-addext', `subjectAltName=DNS:${host},IP:127.0.0.1`];
  return {
    caFile: authority.certFile,
    server: create('server', [...signed, ...leaf, ...names]),
    client: create('client', [...signed, ...leaf]),
  };
}
