/**
 * The network of a person's commands: trusted certificates and proxies.
 *
 * @module
 */

import * as http from 'node:http';
import * as tls from 'node:tls';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import type { Environment } from '../profile/sources.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';

/** What the settings say about it. */
export interface NetworkSettings {
  /** Certificates (PEM) to trust beside the system's; empty for none. */
  readonly caCertFilePath: string;
  /** Accepts any certificate of the platform; other servers are verified. */
  readonly insecureSkipVerify: boolean;
  /** Origin of the platform. */
  readonly endpoint: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** Bundles of whole systems are links, and larger than one would think. */
const CERTIFICATES_TERMS: FileTerms = { maxBytes: 8_388_608, mayBeLink: true, owner: 'any_user' };
/** This machine is never reached through a proxy: the callback of a sign-in arrives here. */
const NEVER_PROXIED = ['localhost', '127.0.0.1', '::1'];

/**
 * Prepares the process's network and gives its `fetch`. For a process that ends after one command:
 * trust and proxy hold for all of it.
 *
 * @param createSend - Makes what sends in place of the runtime's `fetch`; called once proxies and trust are set.
 */
export async function createFetch(
  settings: NetworkSettings,
  environment: Environment,
  conceal: (secret: string) => void,
  createSend: () => typeof fetch = () => fetch,
): Promise<Result<typeof fetch, Failure>> {
  useProxy(environment);
  if (settings.caCertFilePath !== '') {
    const certificates = readCertificates(settings.caCertFilePath);
    if (!certificates.ok) return certificates;
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...certificates.value]);
  }
  const { insecureSkipVerify, endpoint } = settings;
  return accept(
    concealing(insecureSkipVerify ? await skipVerification(endpoint) : createSend(), conceal),
  );
}

/** Form fields that are no secret and may be in a sentence that helps. */
const OPEN_FIELDS = new Set([
  'grant_type',
  'client_id',
  'redirect_uri',
  'scope',
  'audience',
  'username',
  'token_type_hint',
]);

/** Passes every secret to `conceal` before it is sent. */
function concealing(send: typeof fetch, conceal: (secret: string) => void): typeof fetch {
  return (input, init) => {
    for (const [name, value] of readForm(init?.body)) if (!OPEN_FIELDS.has(name)) conceal(value);
    for (const [, value] of new Headers(init?.headers)) {
      const [, scheme, credentials = ''] = /^(Basic|Bearer) (\S+)$/i.exec(value) ?? [];
      if (scheme === undefined) continue;
      conceal(credentials);
      if (scheme.toLowerCase() === 'basic') concealPassword(credentials, conceal);
    }
    return send(input, init);
  };
}

/** Fields of a body that is a form; none of any other. */
function readForm(body: RequestInit['body']): Iterable<[string, string]> {
  if (body instanceof URLSearchParams) return body;
  return typeof body === 'string' && !body.startsWith('{') ? new URLSearchParams(body) : [];
}

function concealPassword(credentials: string, conceal: (secret: string) => void): void {
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  const password = pair.slice(pair.indexOf(':') + 1);
  conceal(password);
  conceal(new URLSearchParams(`p=${password}`).get('p') ?? '');
}

function readCertificates(path: string): Result<readonly string[], Failure> {
  const unusable = (found: string): Result<never, Failure> =>
    refuse({
      error: 'invalid_configuration',
      description: `${withoutUnprintable(path)}: found ${found}, expected certificates (PEM)`,
      hint: '',
      exitCode: EXIT.failure,
    });
  const read = readBoundedFile(path, CERTIFICATES_TERMS);
  if (!read.ok) return unusable(read.error.found);
  const certificates = read.value.match(CERTIFICATE);
  return certificates === null ? unusable('no certificate') : accept(certificates);
}

/** The proxy of the environment through which a URL is reached; `undefined` when it is reached directly. */
export function findProxy(
  { protocol, hostname }: URL,
  environment: Environment,
): string | undefined {
  const proxy = readVariable(environment, `${protocol.slice(0, -1)}_proxy`) ?? '';
  const exceptions = (readVariable(environment, 'no_proxy') ?? '').split(',');
  const isExcepted = [...exceptions, ...NEVER_PROXIED]
    .map((entry) =>
      entry
        .trim()
        .toLowerCase()
        .replace(/^\*?\./, ''),
    )
    .some(
      (entry) =>
        entry === '*' || (entry !== '' && (hostname === entry || hostname.endsWith(`.${entry}`))),
    );
  return proxy === '' || isExcepted ? undefined : proxy;
}

function readVariable(environment: Environment, name: string): string | undefined {
  return environment[name] ?? environment[name.toUpperCase()];
}

function useProxy(environment: Environment): void {
  const read = (name: string): string | undefined => readVariable(environment, name);
  const proxies = { http_proxy: read('http_proxy'), https_proxy: read('https_proxy') };
  if (Object.values(proxies).every((proxy) => (proxy ?? '') === '')) return;
  const exceptions = [read('no_proxy') ?? '', ...NEVER_PROXIED].filter((entry) => entry !== '');
  // Not in the oldest Node that is supported; there, NODE_USE_ENV_PROXY=1 does the same.
  if (!('setGlobalProxyFromEnv' in http)) return;
  http.setGlobalProxyFromEnv({ ...proxies, no_proxy: exceptions.join(',') });
}

/** Loads its own HTTP client only for this: the built-in one takes no setting for one origin alone. */
async function skipVerification(origin: string): Promise<typeof fetch> {
  const undici = await import('undici');
  const dispatcher = new undici.Agent({ connect: { rejectUnauthorized: false } });
  const trusting = (input: string | URL, init: object): Promise<unknown> =>
    undici.fetch(input, { ...init, dispatcher });
  return ((input: string | URL, init: RequestInit = {}) =>
    new URL(input).origin === origin ? trusting(input, init) : fetch(input, init)) as typeof fetch;
}
