/**
 * The identity provider that a command issues API keys at: that of a running `sallyport up`.
 *
 * @module
 */

import { resolve } from 'node:path';
import { type ApiKeyIssuer, createApiKeyAdminClient } from '@sallyport/idp/api-keys';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';
import { readApiKeyAdminFile } from '../up/api-key-admin-file.ts';

/** Options that lead to the identity provider. */
export interface IssuerOptions {
  /** State folder of `sallyport up`. */
  readonly state: string;
  readonly json?: boolean;
}

/** An issuer, and the platform that it issues for. */
export interface OpenedIssuer {
  readonly issuer: ApiKeyIssuer;
  readonly publicUrl: URL;
}

/** Finds the issuer. Sends nothing yet. */
export function openIssuer({ state }: IssuerOptions): Result<OpenedIssuer, Failure> {
  const admin = readApiKeyAdminFile(resolve(state));
  if (!admin.ok)
    return refuse({
      error: 'no_issuer',
      description: admin.error,
      hint: 'Start it, or name its folder with --state.',
      exitCode: EXIT.failure,
    });
  const { issuer, publicUrl, token } = admin.value;
  return accept({
    issuer: createApiKeyAdminClient({ url: issuer, token, fetch }),
    publicUrl: new URL(publicUrl),
  });
}
