/**
 * Cached login: what was discovered about a platform, so that the next command finds its stored token without
 * a request.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PlatformMetadata, TokenKey, TokenStore } from '@sallyport/client';
import {
  type FileTerms,
  makeFolder,
  readBoundedFile,
  writeWholeFile,
} from '@sallyport/config/files';

/** What a command would otherwise have to read or request. Holds no secret. */
export interface CachedLogin {
  /** Under which tokens are kept. */
  readonly key: TokenKey;
  readonly store: TokenStore['kind'];
  /** Header the token is sent in; lower case. */
  readonly header: string;
  /** Milliseconds before its end at which a token is replaced. */
  readonly refreshWindowMs: number;
  readonly metadata: PlatformMetadata;
  /** How the person signed in the last time; absent where that is not known. */
  readonly flow?: PersonalFlow | undefined;
}

/** A way in which a person signs in. */
export type PersonalFlow = (typeof PERSONAL_FLOWS)[number];

const PERSONAL_FLOWS = ['pkce', 'device_code'] as const;
const VERSION = 1;
const FILES_MAX = 64;
const TERMS: FileTerms = { maxBytes: 65_536, mayBeLink: false, owner: 'this_user' };

/**
 * Names a cached login by the inputs of a command: the same inputs give the same name, any other inputs another
 * one. Values may be secrets: only their hash is used.
 */
export function nameCachedLogin(given: Readonly<Record<string, string | undefined>>): string {
  const parts = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([VERSION, parts]))
    .digest('hex');
}

/**
 * Reads a cached login. A file of another user, or one that does not parse, counts as none: a cached login
 * decides where a refresh token is sent.
 */
export function readCachedLogin(folder: string, name: string): CachedLogin | undefined {
  try {
    const read = readBoundedFile(join(folder, `${name}.json`), TERMS);
    if (!read.ok) return undefined;
    const record: unknown = JSON.parse(read.value);
    return isCachedLogin(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes a cached login under each name. A failure is ignored: the next command asks the platform again.
 *
 * The oldest ones go when there are too many.
 */
export function writeCachedLogin(
  folder: string,
  names: readonly string[],
  what: CachedLogin,
): void {
  try {
    makeFolder(folder, 0o700);
    const text = JSON.stringify({ version: VERSION, ...what });
    for (const name of names) writeWholeFile(join(folder, `${name}.json`), text, { mode: 0o600 });
    prune(folder);
  } catch {
    // A read-only home still has its tokens; only the next command is slower.
  }
}

function prune(folder: string): void {
  const files = readdirSync(folder).map((file) => {
    const path = join(folder, file);
    return { path, modified: statSync(path).mtimeMs };
  });
  const byAge = files.sort((a, b) => b.modified - a.modified);
  for (const { path } of byAge.slice(FILES_MAX)) rmSync(path, { force: true });
}

function isCachedLogin(record: unknown): record is CachedLogin {
  if (typeof record !== 'object' || record === null) return false;
  const { version, key, store, header, refreshWindowMs, metadata, flow } = record as Record<
    string,
    unknown
  >;
  return (
    version === VERSION &&
    isTokenKey(key) &&
    (store === 'file' || store === 'keyring') &&
    typeof header === 'string' &&
    typeof refreshWindowMs === 'number' &&
    (flow === undefined || PERSONAL_FLOWS.some((known) => known === flow)) &&
    isMetadata(metadata)
  );
}

function isTokenKey(key: unknown): boolean {
  if (typeof key !== 'object' || key === null) return false;
  const { issuer, tokenEndpoint, endpoint, clientId, scopes, audience } = key as Record<
    string,
    unknown
  >;
  return (
    [issuer, tokenEndpoint, endpoint, clientId, audience].every(
      (text) => typeof text === 'string',
    ) &&
    Array.isArray(scopes) &&
    scopes.every((scope) => typeof scope === 'string')
  );
}

function isMetadata(metadata: unknown): boolean {
  if (typeof metadata !== 'object' || metadata === null) return false;
  const fields: Readonly<Record<keyof PlatformMetadata, 'text' | 'list' | 'flag'>> = {
    issuer: 'text',
    isIssuerNamed: 'flag',
    authorizationEndpoint: 'text',
    tokenEndpoint: 'text',
    deviceAuthorizationEndpoint: 'text',
    revocationEndpoint: 'text',
    codeChallengeMethods: 'list',
    clientId: 'text',
    redirectUri: 'text',
    scopes: 'list',
    audience: 'text',
    authorizationHeader: 'text',
  };
  return Object.entries(fields).every(([name, form]) => {
    const value = (metadata as Record<string, unknown>)[name];
    if (form === 'list') return Array.isArray(value);
    return typeof value === (form === 'text' ? 'string' : 'boolean');
  });
}
