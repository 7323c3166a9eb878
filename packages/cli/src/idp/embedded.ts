/**
 * The embedded identity provider of `sallyport up`, which sets itself up.
 *
 * @module
 */

import { join, resolve } from 'node:path';
import { createDeploymentSpec } from '@sallyport/idp/provision';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { ExitCode, Failure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { readApiKeyAdminFile } from '../up/api-key-admin-file.ts';
import { CLIENT_IDS } from '../up/deployment.ts';
import type { Setup } from './setup-options.ts';

const SETS_ITSELF_UP =
  'the embedded identity provider registers its applications at each start of "sallyport up"; there is nothing to apply';

/** Says that there is nothing to do. */
export function describeEmbedded(isJson: boolean, stdio: Stdio): ExitCode {
  if (isJson)
    stdio.out(
      JSON.stringify({ ok: true, provider: 'embedded', steps: [], notes: [SETS_ITSELF_UP] }),
    );
  else stdio.out(SETS_ITSELF_UP);
  return EXIT.ok;
}

/** Finds a running one by the state folder of its `sallyport up`, with the files of its secrets by client ID. */
export function readEmbeddedSetup(
  state: string,
  out: string,
): Result<Setup & { readonly secretFiles: ReadonlyMap<string, string> }, Failure> {
  const folder = resolve(state);
  const admin = readApiKeyAdminFile(folder);
  if (!admin.ok)
    return refuse({
      error: 'no_issuer',
      description: admin.error,
      hint: 'Start it, or name its folder with --state.',
      exitCode: EXIT.failure,
    });
  const { issuer, publicUrl } = admin.value;
  return accept({
    spec: createDeploymentSpec(publicUrl, CLIENT_IDS),
    publicUrl,
    issuer,
    folder: resolve(out),
    secretFiles: new Map([
      [CLIENT_IDS.web, join(folder, 'idp', 'web-client-secret')],
      [CLIENT_IDS.service, join(folder, 'idp', 'service-client-secret')],
    ]),
  });
}
