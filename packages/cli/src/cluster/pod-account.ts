/**
 * The service account that Kubernetes mounts into a pod.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { accept, type Result, refuse } from '@sallyport/protocol';

/** Where Kubernetes mounts it. */
export const POD_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whom a call is made as, and whom it is made to. */
export interface PodAccount {
  /** Secret. */
  readonly token: string;
  /** Certificates (PEM) of the authorities that speak for the API server. */
  readonly authority: string;
  /** The pod's own. */
  readonly namespace: string;
}

/** Files of a mounted volume are links. */
const TERMS: FileTerms = { maxBytes: 1_048_576, mayBeLink: true, owner: 'any_user' };
/** Of RFC 6750: nothing that could end a header line. */
const TOKEN = /^[\w.~+/-]+=*$/;

/** Whether there is a token; a pod may be made without (`automountServiceAccountToken: false`). */
export function hasPodAccount(folder: string): boolean {
  return existsSync(join(folder, 'token'));
}

/**
 * Reads the three files. The kubelet replaces them long before the token ends: a reader that opens them for each call needs
 * no other care.
 *
 * @returns Otherwise one sentence with the file and what was found; never its text.
 */
export function readPodAccount(folder: string): Result<PodAccount, string> {
  const texts: string[] = [];
  for (const name of ['token', 'ca.crt', 'namespace']) {
    const path = join(folder, name);
    const read = readBoundedFile(path, TERMS);
    if (!read.ok)
      return refuse(`${path}: found ${read.error.found}, expected what Kubernetes mounts`);
    texts.push(read.value.trim());
  }
  const [token = '', authority = '', namespace = ''] = texts;
  if (!TOKEN.test(token)) return refuse(`${join(folder, 'token')}: found no token`);
  if (!authority.includes('-----BEGIN CERTIFICATE-----'))
    return refuse(`${join(folder, 'ca.crt')}: found no certificate`);
  return accept({ token, authority, namespace });
}
