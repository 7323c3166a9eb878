/**
 * `sallyport apikey create`: an API key for one organization and cluster.
 *
 * @module
 */

import { lstatSync } from 'node:fs';
import { writeWholeFile } from '@sallyport/config/files';
import {
  type ApiKeyIssuer,
  type IssuedApiKeyClient,
  isClusterName,
  isOrganizationName,
} from '@sallyport/idp/api-keys';
import {
  type ApiKeySecret,
  accept,
  describeApiKeyRefusal,
  encodeApiKey,
  findApiKeySecret,
  type Result,
  refuse,
} from '@sallyport/protocol';
import { type IssuerOptions, type OpenedIssuer, openIssuer } from '../api-keys/open-issuer.ts';
import {
  createSecretManifest,
  formatSecretManifest,
  type SecretManifest,
} from '../api-keys/secret-manifest.ts';
import { type ExitCode, type Failure, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface ApiKeyCreateOptions extends IssuerOptions {
  readonly organization: string;
  readonly cluster: string;
  readonly endpoint?: string;
  readonly out?: string;
  readonly manifest?: boolean;
  readonly secretName: string;
  readonly namespace?: string;
}

/** A request whose every part was looked at before a client is registered for it. */
interface Checked extends OpenedIssuer {
  readonly host: string;
  readonly secret: ApiKeySecret;
}

/** A key that was issued. */
interface Issued {
  readonly client: IssuedApiKeyClient;
  readonly apiKey: string;
  readonly manifest: SecretManifest | undefined;
}

/** Stands in for a client's secret while the rest of a key is checked. */
const ANY_SECRET = 'x';

/**
 * Registers a client, and writes its key to stdout or a new file, once. What would refuse the key later is looked
 * for before; when the file cannot be written, the client is removed again.
 */
export async function createApiKey(options: ApiKeyCreateOptions, stdio: Stdio): Promise<ExitCode> {
  const isJson = options.json === true;
  const checked = await check(options, stdio);
  if (!checked.ok) return reportFailure(checked.error, isJson, stdio);
  const { issuer, host, publicUrl } = checked.value;
  const created = await issuer.create(options);
  if (!created.ok)
    return reportFailure(failure(created.error, REFUSALS[created.error]), isJson, stdio);
  stdio.conceal(created.value.clientSecret);
  const issued = encode(created.value, checked.value, options);
  if (!issued.ok) return giveUp(issuer, created.value, issued.error, isJson, stdio);
  const { client, apiKey, manifest } = issued.value;
  const content = manifest === undefined ? `${apiKey}\n` : formatSecretManifest(manifest);
  if (options.out !== undefined) {
    try {
      writeWholeFile(options.out, content, { mode: 0o600, isFlushed: true, isNew: true });
    } catch (error) {
      return giveUp(issuer, client, outFailure(options.out, error), isJson, stdio);
    }
  }
  if (isJson) stdio.out(toJson(issued.value, host, options.out));
  else if (options.out === undefined) stdio.out(content.trimEnd());
  if (!isJson) for (const line of describe(client, host, publicUrl, options)) stdio.error(line);
  return EXIT.ok;
}

const REFUSALS = {
  organization_unusable:
    '--organization: expected letters, digits, ".", "_" and "-", at most 63; "None" means none',
  cluster_unusable: '--cluster: expected letters, digits, ".", "_" and "-", at most 63',
  too_many_clients: 'the identity provider has as many API keys as it takes; revoke some',
};

async function check(
  options: ApiKeyCreateOptions,
  stdio: Stdio,
): Promise<Result<Checked, Failure>> {
  const { organization, cluster, secretName, out } = options;
  if (!isOrganizationName(organization))
    return refuse(failure('organization_unusable', REFUSALS.organization_unusable, EXIT.usage));
  if (!isClusterName(cluster))
    return refuse(failure('cluster_unusable', REFUSALS.cluster_unusable, EXIT.usage));
  const secret = findApiKeySecret(secretName);
  if (!secret.ok) {
    const expected = 'expected a name such as EAGER_API_KEY';
    return refuse(failure(secret.error, `--secret-name: ${expected}`, EXIT.usage));
  }
  if (out !== undefined && lstatSync(out, { throwIfNoEntry: false }) !== undefined)
    return refuse(outFailure(out, { code: 'EEXIST' }));
  const opened = await openIssuer(options, stdio);
  if (!opened.ok) return opened;
  const host = options.endpoint ?? opened.value.publicUrl.hostname;
  const key = { host, clientId: ANY_SECRET, clientSecret: ANY_SECRET, organization };
  const encoded = encodeApiKey(key);
  if (!encoded.ok)
    return refuse(
      failure(
        encoded.error,
        `--endpoint: found ${JSON.stringify(host)}, expected a host name without scheme and port: clients reach it at port 443 with TLS`,
        EXIT.usage,
      ),
    );
  return accept({ ...opened.value, host, secret: secret.value });
}

function encode(
  client: IssuedApiKeyClient,
  { host, secret }: Checked,
  { manifest, namespace }: ApiKeyCreateOptions,
): Result<Issued, Failure> {
  const { clientId, clientSecret, organization } = client;
  const encoded = encodeApiKey({ host, clientId, clientSecret, organization });
  if (!encoded.ok) {
    const { found } = describeApiKeyRefusal(encoded.error);
    return refuse(failure(encoded.error, `the identity provider gave ${found}`));
  }
  const apiKey = encoded.value;
  return accept({
    client,
    apiKey,
    manifest: manifest === true ? createSecretManifest(apiKey, secret, namespace) : undefined,
  });
}

/** Removes the client of a key that could not be delivered, and reports why. */
async function giveUp(
  issuer: ApiKeyIssuer,
  { clientId }: IssuedApiKeyClient,
  { error, description, ...rest }: Failure,
  isJson: boolean,
  stdio: Stdio,
): Promise<ExitCode> {
  const isRevoked = await issuer.revoke(clientId).catch(() => false);
  const end = isRevoked
    ? 'its client was removed again'
    : `its client ${clientId} is still there; revoke it`;
  const all = { ...rest, error, description: `${description}; ${end}` };
  return reportFailure(all, isJson, stdio);
}

function outFailure(out: string, error: unknown): Failure {
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
  return code === 'EEXIST'
    ? failure('out_exists', `--out: ${out} is there already, and is not overwritten`)
    : failure('out_unusable', `--out: ${out} cannot be written (${code})`);
}

function failure(error: string, description: string, exitCode: ExitCode = EXIT.failure): Failure {
  return { error, description, hint: '', exitCode };
}

function toJson({ client, apiKey, manifest }: Issued, endpoint: string, out?: string): string {
  const { clientId, organization, cluster, createdAt } = client;
  return JSON.stringify({
    ok: true,
    clientId,
    organization,
    cluster,
    createdAt: new Date(createdAt).toISOString(),
    endpoint,
    ...(out === undefined ? (manifest === undefined ? { key: apiKey } : { manifest }) : { out }),
  });
}

function describe(
  { clientId, organization, cluster }: IssuedApiKeyClient,
  host: string,
  publicUrl: URL,
  { out }: ApiKeyCreateOptions,
): readonly string[] {
  const place = out === undefined ? 'shown once' : `written to ${out}`;
  const lines = [`key of ${organization}, ${cluster}: client ${clientId}, ${place}`];
  if (publicUrl.protocol !== 'https:' || publicUrl.port !== '' || publicUrl.hostname !== host)
    lines.push(
      `note: clients of this key call https://${host}, port 443; the public URL is ${publicUrl.origin}`,
    );
  return lines;
}
