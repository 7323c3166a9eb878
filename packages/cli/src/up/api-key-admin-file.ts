/**
 * How a command on this machine reaches the administration of API keys of a running `sallyport up`.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FileTerms, readBoundedFile, writeWholeFile } from '@sallyport/config/files';
import { accept, type Result, refuse } from '@sallyport/protocol';

/** What the file holds. */
export interface ApiKeyAdmin {
  /** Origin of the identity provider, on the loopback. */
  readonly issuer: string;
  readonly publicUrl: string;
  /** Capability of the administration: a secret. A new one at each start. */
  readonly token: string;
}

const FILE = 'api-key-admin.json';
const TOKEN_BYTES = 32;
const TERMS: FileTerms = {
  maxBytes: 4_096,
  mayBeLink: false,
  owner: 'this_user_or_root',
  closedTo: 'reading_and_writing',
};

/** Makes a capability of 256 random bits. */
export function createAdminToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/**
 * Writes the file, of mode 0600, into the state folder of a plane.
 *
 * @returns How to remove it again; the capability ends with its process.
 */
export function writeApiKeyAdminFile(stateDirectory: string, admin: ApiKeyAdmin): () => void {
  const path = join(stateDirectory, FILE);
  writeWholeFile(path, `${JSON.stringify(admin)}\n`, { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/**
 * Reads the file. It has to be this user's (or root's) and closed to others.
 *
 * @returns Otherwise a sentence for the operator, without any of the file's text.
 */
export function readApiKeyAdminFile(stateDirectory: string): Result<ApiKeyAdmin, string> {
  const path = join(stateDirectory, FILE);
  const text = readBoundedFile(path, TERMS);
  if (!text.ok)
    return refuse(
      text.error.reason === 'absent'
        ? `no "sallyport up" runs on the state folder ${stateDirectory}`
        : `${path} is ${text.error.found}; it has to be a file that only its owner can read`,
    );
  const admin = parse(text.value);
  return admin === undefined
    ? refuse(`${path} is not usable; start "sallyport up" again`)
    : accept(admin);
}

function parse(text: string): ApiKeyAdmin | undefined {
  try {
    const { issuer, publicUrl, token } = JSON.parse(text) as Record<string, unknown>;
    const isWhole =
      typeof issuer === 'string' &&
      /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(issuer) &&
      typeof publicUrl === 'string' &&
      URL.canParse(publicUrl) &&
      typeof token === 'string';
    return isWhole ? { issuer, publicUrl, token } : undefined;
  } catch {
    return undefined;
  }
}
