/**
 * `sallyport idp check`: proves the applications by use.
 *
 * @module
 */

import { readBoundedFile } from '@sallyport/config/files';
import { type CheckedGrant, checkApplications } from '@sallyport/idp/grants';
import { listApplications } from '@sallyport/idp/provision';
import { accept, escapeUnprintable, type Result } from '@sallyport/protocol';
import { checkSettings } from '../idp/check-settings.ts';
import { readEmbeddedSetup } from '../idp/embedded.ts';
import { openNetwork } from '../idp/open-keycloak.ts';
import { readIssuer } from '../idp/read-issuer.ts';
import { findSecretFiles, listSecretPlaces } from '../idp/secret-layout.ts';
import { readSetup, type Setup, type SetupOptions, wrongUsage } from '../idp/setup-options.ts';
import type { Interruption } from '../process/interruption.ts';
import { type ExitCode, type Failure, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface IdpCheckOptions extends SetupOptions {
  readonly serviceScope?: string;
  readonly state: string;
}

/** A deployment, and the file of each application's secret by client ID. */
interface CheckedSetup extends Setup {
  readonly secretFiles: ReadonlyMap<string, string>;
}

const TERMS = { maxBytes: 65_536, mayBeLink: true, owner: 'any_user' } as const;
const SIGNS = { passed: 'ok  ', failed: 'FAIL', undecided: '?   ' } as const;

/**
 * Tries every grant with every application at the live issuer, and compares the settings of a Keycloak where an administrator
 * is named. Changes nothing there.
 *
 * @returns 1 when something is not as it should be, a secret cannot be read, or nothing could be proved.
 */
export async function checkIdp(
  options: IdpCheckOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const setup = findSetup(options);
  if (!setup.ok) return reportFailure(setup.error, isJson, stdio);
  const { spec, issuer, publicUrl, secretFiles } = setup.value;
  const network = await openNetwork({ ...options, issuer }, process.env, stdio, signal);
  if (!network.ok) return reportFailure(network.error, isJson, stdio);
  const mayUsePlainHttp = options.dangerouslyAllowPlainHttp === true;
  const metadata = await readIssuer(issuer, network.value, mayUsePlainHttp);
  const secrets = readSecrets(secretFiles, stdio);
  const endpoint = (name: string): Record<string, string> => {
    const value = metadata[name];
    return typeof value === 'string' ? { [name]: value } : {};
  };
  const findings = await checkApplications({
    applications: listApplications(spec),
    secrets,
    endpoints: {
      ...endpoint('authorization_endpoint'),
      ...endpoint('token_endpoint'),
      ...endpoint('device_authorization_endpoint'),
    },
    audience: publicUrl,
    ...(options.serviceScope === undefined ? {} : { serviceScope: options.serviceScope }),
    namesAudience: options.provider === 'auth0',
    fetch: network.value,
  });
  const settings = await checkSettings(options, setup.value, stdio, signal);
  // What was not answered for that reason is no finding.
  signal.throwIfAborted();
  const areSecretsRead = secrets.size === secretFiles.size;
  return report([...findings, ...settings], { issuer, areSecretsRead }, isJson, stdio);
}

function findSetup(options: IdpCheckOptions): Result<CheckedSetup, Failure> {
  if (options.provider === 'embedded') return readEmbeddedSetup(options.state, options.out);
  if (options.provider === 'dex')
    return wrongUsage('Dex cannot be the authorization server: there is nothing to check');
  const setup = readSetup(options);
  if (!setup.ok) return setup;
  const { spec, folder, issuer } = setup.value;
  if (issuer === '') return wrongUsage('--issuer: expected the issuer to check');
  const secretFiles = findSecretFiles(folder, spec, listSecretPlaces(spec, 'x'));
  return accept({ ...setup.value, secretFiles });
}

/** Reads what is there: a secret that is missing leaves its application unproved. */
function readSecrets(
  files: ReadonlyMap<string, string>,
  stdio: Stdio,
): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  for (const [clientId, file] of files) {
    const read = readBoundedFile(file, TERMS);
    if (!read.ok) {
      stdio.error(`note: ${file}: found ${read.error.found}, expected the secret of ${clientId}`);
      continue;
    }
    const secret = read.value.replace(/\r?\n$/, '');
    stdio.conceal(secret);
    secrets.set(clientId, secret);
  }
  return secrets;
}

function report(
  findings: readonly CheckedGrant[],
  { issuer, areSecretsRead }: { readonly issuer: string; readonly areSecretsRead: boolean },
  isJson: boolean,
  stdio: Stdio,
): ExitCode {
  const count = (result: CheckedGrant['result']): number =>
    findings.filter((finding) => finding.result === result).length;
  const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
  const isRight = areSecretsRead && failed === 0 && passed > 0;
  if (isJson) stdio.out(stdio.cleanse(JSON.stringify({ ok: isRight, issuer, findings })));
  else {
    for (const { clientId, tried, result, finding } of findings)
      stdio.out(
        stdio.cleanse(escapeUnprintable(`${SIGNS[result]} ${clientId}: ${tried}: ${finding}`)),
      );
    stdio.out(`${passed} passed, ${failed} failed, ${undecided} not decided`);
  }
  return isRight ? EXIT.ok : EXIT.failure;
}
