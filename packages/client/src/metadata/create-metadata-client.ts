/**
 * Asks the platform how to sign in.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { PlatformMetadata } from '../platform-metadata.ts';
import type { PlatformEndpoint } from '../settings/endpoint.ts';
import {
  type BoundedResponse,
  DEFAULT_LIMITS,
  ExchangeFailure,
  type FetchLimits,
  fetchBounded,
} from './bounded-fetch.ts';
import { confirmMetadata } from './confirm-metadata.ts';
import { fetchIssuerDocument, type IssuerDocument } from './issuer-document.ts';
import { ISS_PARAMETER, parseMetadata } from './parse-metadata.ts';
import { toPrintable } from './printable.ts';
import { readRetryAfter } from './retry-after.ts';

/** What {@link createMetadataClient} needs. */
export interface MetadataClientOptions {
  readonly endpoint: PlatformEndpoint;
  /** Must bring the platform's certificates with it. */
  readonly fetch: typeof fetch;
  readonly limits?: FetchLimits;
  /** Whether the issuer is asked to confirm the endpoints; not when the token endpoint is configured. */
  readonly confirms?: boolean;
  /** Origins of identity providers that may be asked over plain http; none when absent. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[];
}

/** Reads the platform's metadata for clients. */
export interface MetadataClient {
  /**
   * The platform's metadata; asked for once, calls at the same time share one reading, and a failure
   * is not remembered.
   *
   * @throws {SallyportError} `SP_PLATFORM_UNREACHABLE`, `SP_PLATFORM_PROTOCOL`; `SP_IDP_UNREACHABLE` when
   *   the issuer cannot be asked to confirm it.
   */
  read(): Promise<PlatformMetadata>;
}

/** The two requests of one way to ask, newest platform first. */
const WAYS = [
  {
    oauth2: '/flyteidl2.auth.AuthMetadataService/GetOAuth2Metadata',
    publicClient: '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig',
    isConnect: true,
  },
  {
    oauth2: '/flyteidl.service.AuthMetadataService/GetOAuth2Metadata',
    publicClient: '/flyteidl.service.AuthMetadataService/GetPublicClientConfig',
    isConnect: true,
  },
  {
    oauth2: '/.well-known/oauth-authorization-server',
    publicClient: '/config/v1/flyte_client',
    isConnect: false,
  },
] as const;

/** A server without the route, the method or the protocol says so in one of these. */
const NOT_SERVED: ReadonlySet<number> = new Set([404, 405, 415, 501]);

/**
 * Creates the client. No credential is ever sent: discovery is what a client does before it has one,
 * and a platform that asks for one has its routes behind sign-in.
 */
export function createMetadataClient({
  endpoint,
  fetch,
  limits = DEFAULT_LIMITS,
  confirms = true,
  dangerouslyAllowPlainHttpTo = [],
}: MetadataClientOptions): MetadataClient {
  let reading: Promise<PlatformMetadata> | undefined;
  return {
    read() {
      reading ??= readMetadata().catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      return reading;
    },
  };

  async function readMetadata(): Promise<PlatformMetadata> {
    for (const way of WAYS) {
      const [oauth2, publicClient] = await Promise.all([
        ask(way.oauth2, way.isConnect),
        ask(way.publicClient, way.isConnect),
      ]);
      if (oauth2 === undefined || publicClient === undefined) continue;
      const parsed = parseMetadata(oauth2, publicClient, dangerouslyAllowPlainHttpTo);
      if (parsed.ok) return confirms ? await confirmed(parsed.value) : parsed.value;
      throw protocolError(`the metadata of ${endpoint.origin} ${parsed.error}`);
    }
    throw protocolError(
      `${endpoint.origin} publishes no sign-in metadata: is this the platform's address, and is server.security.useAuth true there?`,
    );
  }

  /** The metadata, once its issuer has said the same. */
  async function confirmed(metadata: PlatformMetadata): Promise<PlatformMetadata> {
    const { issuer } = metadata;
    let document: IssuerDocument | undefined;
    try {
      document = await fetchIssuerDocument(issuer, fetch, limits, dangerouslyAllowPlainHttpTo);
    } catch (cause) {
      if (!(cause instanceof ExchangeFailure)) throw cause;
      throw new SallyportError('SP_IDP_UNREACHABLE', {
        component: 'idp',
        detail: `${issuer}, the issuer that ${endpoint.origin} names, does not answer`,
        retryAfterSeconds: 5,
        cause,
      });
    }
    const confirmation = confirmMetadata(metadata, document);
    if (confirmation.ok) {
      const isIssuerNamed = metadata.isIssuerNamed || document?.[ISS_PARAMETER] === true;
      return { ...metadata, isIssuerNamed };
    }
    throw protocolError(`the metadata of ${endpoint.origin} ${confirmation.error}`);
  }

  /** One answer as parsed JSON; `undefined` when the platform does not serve it this way. */
  async function ask(path: string, isConnect: boolean): Promise<unknown> {
    const response = await send(path, isConnect);
    if (NOT_SERVED.has(response.status) || isUnimplemented(response)) return undefined;
    const complaint = describeWrongAnswer(response);
    if (complaint === undefined) return JSON.parse(response.text);
    const address = `${endpoint.origin}${path}`;
    if (response.status >= 500 || response.status === 429)
      throw unreachable(`${address} ${complaint}`, response);
    throw protocolError(
      isBehindSignIn(response)
        ? `discovery needs no token, but ${address} is behind sign-in: it ${complaint}`
        : `${address} ${complaint}`,
    );
  }

  async function send(path: string, isConnect: boolean): Promise<BoundedResponse> {
    const init: RequestInit = isConnect
      ? {
          method: 'POST',
          headers: {
            accept: 'application/json',
            'content-type': 'application/json',
            'connect-protocol-version': '1',
          },
          body: '{}',
        }
      : { headers: { accept: 'application/json' } };
    try {
      return await fetchBounded(fetch, `${endpoint.origin}${path}`, init, limits);
    } catch (cause) {
      if (!(cause instanceof ExchangeFailure)) throw cause;
      const what = cause.reason === 'too_large' ? 'sends too much' : 'does not answer';
      if (cause.reason === 'too_large') throw protocolError(`${endpoint.origin} ${what}`);
      throw unreachable(`${endpoint.origin} ${what}`, undefined, cause);
    }
  }
}

/** Completes "the address …"; `undefined` when the answer is JSON with status 200. */
function describeWrongAnswer({ status, headers, text }: BoundedResponse): string | undefined {
  if (status >= 300 && status < 400) return `answered ${status} to ${describeTarget(headers)}`;
  if (status !== 200) return `answered ${status}`;
  const type = headers.get('content-type') ?? '';
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    return /html/i.test(type) ? 'answered with a page' : 'answered with something other than JSON';
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'answered with broken JSON';
  }
}

function isBehindSignIn({ status, headers }: BoundedResponse): boolean {
  if ((status >= 300 && status < 400) || status === 401 || status === 403) return true;
  return status === 200 && /html/i.test(headers.get('content-type') ?? '');
}

/** Where a redirect leads, without its query: that may hold a state or a code. */
function describeTarget(headers: Headers): string {
  const url = URL.parse(headers.get('location') ?? '', 'http://platform.invalid');
  if (url === null) return 'nowhere';
  return toPrintable(url.host === 'platform.invalid' ? url.pathname : url.origin + url.pathname);
}

/** Connect's error, which some servers send with a status of their own. */
function isUnimplemented({ status, text }: BoundedResponse): boolean {
  if (status === 200) return false;
  try {
    const body: unknown = JSON.parse(text);
    return (
      typeof body === 'object' && body !== null && 'code' in body && body.code === 'unimplemented'
    );
  } catch {
    return false;
  }
}

function protocolError(detail: string): SallyportError {
  return new SallyportError('SP_PLATFORM_PROTOCOL', { component: 'platform', detail });
}

function unreachable(
  detail: string,
  response: BoundedResponse | undefined,
  cause?: unknown,
): SallyportError {
  return new SallyportError('SP_PLATFORM_UNREACHABLE', {
    component: 'platform',
    detail,
    retryAfterSeconds: readRetryAfter(response?.headers),
    cause,
  });
}
