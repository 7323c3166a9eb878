/**
 * What the commands `sallyport idp` were given, checked.
 *
 * @module
 */

import { resolve } from 'node:path';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import {
  createDeploymentSpec,
  type DeploymentSpec,
  type KeycloakAdminCredentials,
} from '@sallyport/idp/provision';
import { accept, isLoopbackHost, type Result, refuse } from '@sallyport/protocol';
import type { Environment } from '../profile/sources.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';
import type { Provider } from './providers.ts';
import { canHaveFolder } from './secret-layout.ts';

/** Options that lead to a realm of Keycloak. */
export interface RealmOptions {
  readonly issuer?: string;
  readonly caFile?: string;
  readonly dangerouslyAllowPlainHttp?: boolean;
  readonly adminUser?: string;
  readonly adminPasswordFile?: string;
  readonly adminClientId?: string;
  readonly adminClientSecretFile?: string;
  /** Absent for a command that administrates nothing. */
  readonly adminRealm?: string;
}

/** Options that all four commands have. */
export interface SetupOptions extends RealmOptions {
  readonly provider: Provider;
  readonly publicUrl?: string;
  readonly webClientId: string;
  readonly nativeClientId: string;
  readonly serviceClientId: string;
  readonly furtherService?: readonly string[];
  readonly cliRefreshTokens?: boolean;
  readonly out: string;
  readonly createRealm?: boolean;
  readonly rotateRefreshTokens?: boolean;
  readonly json?: boolean;
}

/** A deployment and the folder that its files are in. */
export interface Setup {
  readonly spec: DeploymentSpec;
  readonly publicUrl: string;
  /** As given, byte for byte; empty where none was. */
  readonly issuer: string;
  /** Absolute. */
  readonly folder: string;
}

/** A realm of a Keycloak, and who administrates it. */
export interface KeycloakPlace {
  readonly url: string;
  readonly realm: string;
  readonly adminRealm: string;
  readonly credentials: KeycloakAdminCredentials;
}

const KEYCLOAK_ISSUER = /^(?<url>https?:\/\/[^?#]+?)\/realms\/(?<realm>[^/?#]+)$/;
const ADMIN_PASSWORD = 'SALLYPORT_IDP_ADMIN_PASSWORD';
const ADMIN_CLIENT_SECRET = 'SALLYPORT_IDP_ADMIN_CLIENT_SECRET';
const SECRET_TERMS: FileTerms = { maxBytes: 4_096, mayBeLink: true, owner: 'any_user' };

/** Checks what every provider needs. Reads nothing. */
export function readSetup(options: SetupOptions): Result<Setup, Failure> {
  const { publicUrl, issuer = '', webClientId, nativeClientId, serviceClientId } = options;
  if (publicUrl === undefined)
    return wrongUsage(
      '--public-url: expected the address of the platform, such as https://platform.example.com',
    );
  const problem = issuer === '' ? undefined : findIssuerProblem(options);
  if (problem !== undefined) return wrongUsage(`--issuer: ${problem}`);
  const tooLong = options.furtherService?.find((clientId) => !canHaveFolder(clientId));
  if (tooLong !== undefined)
    return wrongUsage('--further-service: expected a client ID that can be the name of a folder');
  try {
    const ids = { web: webClientId, native: nativeClientId, service: serviceClientId };
    const spec = createDeploymentSpec(publicUrl, ids, {
      furtherServices: options.furtherService ?? [],
      nativeRefreshTokens: options.cliRefreshTokens === true,
    });
    return accept({ spec, publicUrl, issuer, folder: resolve(options.out) });
  } catch (error) {
    if (error instanceof Error && error.name === 'SallyportError')
      return wrongUsage(error.message.replace(/^\w+ \(\w+\): /, ''));
    throw error;
  }
}

function findIssuerProblem({
  issuer = '',
  dangerouslyAllowPlainHttp = false,
}: RealmOptions): string | undefined {
  const url = URL.parse(issuer);
  // A URL's parser passes over line ends and blanks, which then stand in files and requests.
  if (url === null || !/^https?:$/.test(url.protocol) || /[\s\p{Cc}]/u.test(issuer))
    return 'expected a URL such as https://idp.example.com/realms/platform';
  if (url.username !== '' || url.password !== '')
    return 'expected a URL without a user and a password in it';
  const isPlain = url.protocol === 'http:' && !isLoopbackHost(url.hostname);
  return isPlain && !dangerouslyAllowPlainHttp
    ? `${url.origin} would get the administrator's password and the client secrets by plain http; give --dangerously-allow-plain-http if no one can listen in between`
    : undefined;
}

/** Reads the address of a realm, and the administrator's secret from the environment or a file. */
export function readKeycloakPlace(
  options: RealmOptions,
  environment: Environment,
): Result<KeycloakPlace, Failure> {
  const problem = findIssuerProblem(options);
  if (problem !== undefined) return wrongUsage(`--issuer: ${problem}`);
  const { url, realm } = KEYCLOAK_ISSUER.exec(options.issuer ?? '')?.groups ?? {};
  if (url === undefined || realm === undefined)
    return wrongUsage(
      '--issuer: expected the address of a realm, such as https://keycloak.example.com/realms/platform, without a slash at its end',
    );
  const { adminRealm = 'master' } = options;
  const name = decode(realm);
  if (name === undefined) return wrongUsage('--issuer: expected a name of a realm behind /realms/');
  if (!isName(adminRealm)) return wrongUsage('--admin-realm: expected the name of a realm');
  const credentials = readCredentials(options, environment);
  if (!credentials.ok) return credentials;
  return accept({ url, realm: name, adminRealm, credentials: credentials.value });
}

/** The name of a realm as it stands in a path; undefined for one that a path cannot have. */
function decode(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment);
    return isName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Dots alone would lead to another object than a realm. */
function isName(name: string): boolean {
  return !/^\.{0,2}$/.test(name) && !/[/\\\p{Cc}]/u.test(name);
}

/** Whether an administrator is named, by an option or by the variable of a secret. */
export function namesAdministrator(options: RealmOptions, environment: Environment): boolean {
  return [
    options.adminUser,
    options.adminPasswordFile,
    options.adminClientId,
    options.adminClientSecretFile,
    environment[ADMIN_PASSWORD],
    environment[ADMIN_CLIENT_SECRET],
  ].some((given) => (given ?? '') !== '');
}

function readCredentials(
  options: RealmOptions,
  environment: Environment,
): Result<KeycloakAdminCredentials, Failure> {
  const { adminUser, adminClientId } = options;
  if (adminUser !== undefined && adminClientId !== undefined)
    return wrongUsage('--admin-user and --admin-client-id exclude each other');
  if (adminClientId !== undefined) {
    const file = options.adminClientSecretFile;
    const secret = readSecret('--admin-client-secret-file', file, ADMIN_CLIENT_SECRET, environment);
    return secret.ok
      ? accept({ kind: 'client', clientId: adminClientId, clientSecret: secret.value })
      : secret;
  }
  const file = options.adminPasswordFile;
  const password = readSecret('--admin-password-file', file, ADMIN_PASSWORD, environment);
  return password.ok
    ? accept({ kind: 'user', username: adminUser ?? 'admin', password: password.value })
    : password;
}

/** Never from the command line, which every user of the machine can read. */
function readSecret(
  option: string,
  file: string | undefined,
  variable: string,
  environment: Environment,
): Result<string, Failure> {
  if (file === undefined) {
    const value = environment[variable] ?? '';
    return value === '' ? wrongUsage(`set ${variable}, or give ${option}`) : accept(value);
  }
  const read = readBoundedFile(file, SECRET_TERMS);
  if (!read.ok) return wrongUsage(`${option}: found ${read.error.found}, expected a file`);
  const value = read.value.replace(/\r?\n$/, '');
  return value === '' ? wrongUsage(`${option}: the file is empty`) : accept(value);
}

/** A wrong command line. */
export function wrongUsage(description: string): Result<never, Failure> {
  return refuse({ error: 'usage', description, hint: '', exitCode: EXIT.usage });
}
