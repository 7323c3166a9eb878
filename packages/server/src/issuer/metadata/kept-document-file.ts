/**
 * The last good document of an authorization server, on disk: what a restart answers from while the
 * server is down.
 *
 * @module
 */

import { dirname } from 'node:path';
import {
  type FileTerms,
  makeFolder,
  readBoundedFile,
  writeWholeFileInBackground,
} from '@sallyport/config/files';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { parseStrictObject } from '../jwt/strict-json.ts';
import {
  type AuthorizationServerDocument,
  parseAuthorizationServerDocument,
} from './authorization-server-document.ts';

/** A document, and when it came from its server. */
export interface KeptDocument {
  readonly document: AuthorizationServerDocument;
  /** Epoch milliseconds. */
  readonly fetchedAt: number;
}

/** Where a document is from; a file of another origin is not read. */
export interface DocumentOrigin {
  readonly issuer: string;
  /** The first address it is asked for at. */
  readonly address: string;
  /** The setting of that name, as it is now. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[] | undefined;
}

/** Why a file is not used; for the log. `absent` is nothing to report. */
export type KeptDocumentProblem =
  | 'absent'
  | 'unreadable'
  | 'unsafe'
  | 'corrupt'
  | 'foreign'
  | 'old';

/** Longer than an unnoticed outage; short enough that endpoints which moved are not used for long. */
export const KEPT_DOCUMENT_MAX_AGE_MS = 86_400_000;
/** What a server's clock may be set back by between two runs. */
const CLOCK_SKEW_MS = 60_000;
const VERSION = 1;
const TERMS: FileTerms = {
  maxBytes: 1_048_576,
  mayBeLink: false,
  owner: 'any_user',
  closedTo: 'writing',
};

/**
 * Reads a kept document.
 *
 * Not used: a file that others can write, a link, one that is no kept document, of another issuer or
 * address, with a member that would not have been kept (keys), or older than a day.
 */
export function readKeptDocument(
  path: string,
  origin: DocumentOrigin,
  now: number,
): Result<KeptDocument, KeptDocumentProblem> {
  const read = readSafely(path);
  if (!read.ok) return read;
  const file = parseStrictObject(read.value);
  if (file?.['version'] !== VERSION || typeof file['fetchedAt'] !== 'number')
    return refuse('corrupt');
  const { issuer, address, fetchedAt } = file;
  if (issuer !== origin.issuer || address !== origin.address) return refuse('foreign');
  const written = JSON.stringify(file['document'] ?? null);
  const parsed = parseAuthorizationServerDocument(
    written,
    origin.issuer,
    origin.dangerouslyAllowPlainHttpTo,
  );
  if (!parsed.ok) return refuse(parsed.error.member === 'issuer' ? 'foreign' : 'corrupt');
  // Only parsed documents are written: an additional member was put there by another program.
  if (Object.keys(parsed.value).length !== Object.keys(file['document'] ?? {}).length)
    return refuse('corrupt');
  const age = now - fetchedAt;
  if (age > KEPT_DOCUMENT_MAX_AGE_MS || age < -CLOCK_SKEW_MS) return refuse('old');
  return accept({ document: parsed.value, fetchedAt });
}

/**
 * Keeps a document: whole or not at all, for the owner alone.
 *
 * @throws When the folder cannot be written.
 */
export async function writeKeptDocument(
  path: string,
  { issuer, address }: DocumentOrigin,
  { document, fetchedAt }: KeptDocument,
): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const text = JSON.stringify({ version: VERSION, issuer, address, fetchedAt, document });
  await writeWholeFileInBackground(path, `${text}\n`, { mode: 0o600 });
}

function readSafely(path: string): Result<string, KeptDocumentProblem> {
  const read = readBoundedFile(path, TERMS);
  if (read.ok) return read;
  switch (read.error.reason) {
    case 'absent':
      return refuse('absent');
    case 'unreadable':
    case 'link':
      return refuse('unreadable');
    case 'foreign':
    case 'not_regular':
    case 'open':
    case 'too_large':
      return refuse('unsafe');
  }
}
